import pytest

from ballast.model.ids import TopicPartition
from ballast.model.topics import OFFSETS_TOPIC
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ballast.protocol.messages.groups.find_coordinator import FindCoordinatorRequest
from ballast.protocol.schema import Message
from tests.unit.broker.broker_cluster import P0, Cluster, simulate
from tests.unit.broker.group_requests import AT_ONCE, GROUP, OFFSETS_P0, coordinate

ASKED = FindCoordinatorRequest(key=GROUP)


@pytest.mark.parametrize("version", range(4))
def test_the_leader_of_the_groups_partition_coordinates_it(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        await cluster.lead(OFFSETS_P0, 2, [1, 2])
        answer = await cluster.ask(1, ASKED, version)
        assert (answer.error_code, answer.node_id) == (0, 2)
        assert (answer.host, answer.port) == ("broker-2", 9092)
        assert answer.error_message == ("NONE" if version >= 1 else None)

    simulate(main, **AT_ONCE)


@pytest.mark.parametrize(
    ("key_type", "code"),
    [
        (1, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        (2, ErrorCode.INVALID_REQUEST),
        (-1, ErrorCode.INVALID_REQUEST),
    ],
)
def test_other_coordinators_are_not_here(key_type: int, code: ErrorCode) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        answer = await cluster.ask(1, FindCoordinatorRequest(key="x", key_type=key_type), 3)
        assert (answer.error_code, answer.node_id, answer.port) == (code, -1, -1)
        assert answer.error_message == code.message

    simulate(main, **AT_ONCE)


def test_a_partition_without_a_leader_that_lives_has_no_coordinator() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        await cluster.lead(OFFSETS_P0, 2, [2])
        cluster.kill(2)
        await cluster.tell_metadata()
        answer = await cluster.ask(1, ASKED, 3)
        assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE

    simulate(main, **AT_ONCE)


def test_the_first_that_asks_has_the_topic_made() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])

        def create(request: Message, _version: int) -> Message:
            assert isinstance(request, CreateTopicsRequest)
            (topic,) = request.topics
            assert (topic.name, topic.num_partitions) == (OFFSETS_TOPIC, 1)
            assert topic.replication_factor == 1
            assert "cleanup.policy" in {config.name for config in topic.configs}
            return CreateTopicsResponse(topics=(CreatableTopicResult(name=topic.name),))

        await cluster.elect(create)
        early = await cluster.ask(1, ASKED, 3)
        assert early.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert len(cluster.forwarded) == 1
        await cluster.lead(TopicPartition(OFFSETS_TOPIC, 0), 1, [1])
        answer = await cluster.ask(1, ASKED, 3)
        assert (answer.error_code, answer.node_id) == (0, 1)

    simulate(main, **AT_ONCE)
