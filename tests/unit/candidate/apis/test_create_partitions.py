"""CreatePartitions at a candidate's endpoint."""

import asyncio
from typing import Any

import pytest

from ballast.model.ids import TopicPartition
from ballast.net.client.channel import BrokerChannel
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ballast.protocol.messages.admin.create_topics import CreatableTopic, CreateTopicsRequest
from ballast.protocol.messages.control.update_metadata import UpdateMetadataRequest
from ballast.znodes import partition_states
from tests.fakes.candidate_cluster import CandidateCluster, with_candidate


async def made(channel: BrokerChannel, *names: str) -> None:
    topics = tuple(CreatableTopic(name=n, num_partitions=2, replication_factor=2) for n in names)
    response = await channel.request(CreateTopicsRequest(topics=topics, timeout_ms=5000))
    assert {result.error_code for result in response.topics} == {ErrorCode.NONE}


def request(*topics: tuple[str, int], timeout_ms: int = 5000, **fields: Any) -> Any:
    return CreatePartitionsRequest(
        topics=tuple(CreatePartitionsTopic(name=name, count=count) for name, count in topics),
        timeout_ms=timeout_ms,
        **fields,
    )


def codes(response: Any) -> list[tuple[str, int]]:
    return [(result.name, result.error_code) for result in response.results]


def has_state(cluster: CandidateCluster, number: int) -> bool:
    return cluster.zookeeper.data(partition_states.path(TopicPartition("t", number))) is not None


def test_new_partitions_are_known_everywhere_when_it_is_answered() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await made(channel, "t", "u")
        response = await channel.request(request(("t", 5), ("u", 1)))
        assert codes(response) == [("t", ErrorCode.NONE), ("u", ErrorCode.INVALID_PARTITIONS)]
        assert "currently has 2 partitions" in response.results[1].error_message
        for broker in cluster.brokers.values():
            told = {
                partition.partition_index
                for message in broker.messages(UpdateMetadataRequest)
                for state in message.topic_states
                if state.topic_name == "t"
                for partition in state.partition_states
            }
            assert told == {0, 1, 2, 3, 4}
        assert has_state(cluster, 4)

    with_candidate(scenario)


def test_the_client_places_them() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await made(channel, "t")
        placed = (CreatePartitionsAssignment(broker_ids=(3, 1)),)
        topic = CreatePartitionsTopic(name="t", count=3, assignments=placed)
        response = await channel.request(CreatePartitionsRequest(topics=(topic,), timeout_ms=5000))
        assert codes(response) == [("t", ErrorCode.NONE)]
        stored = cluster.zookeeper.data("/brokers/topics/t")
        assert stored is not None
        assert b'"2":[3,1]' in stored

    with_candidate(scenario)


def test_to_validate_changes_nothing() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await made(channel, "t")
        before = cluster.zookeeper.data("/brokers/topics/t")
        asked = request(("t", 5), ("unknown", 5), validate_only=True)
        assert codes(await channel.request(asked)) == [
            ("t", ErrorCode.NONE),
            ("unknown", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ]
        assert cluster.zookeeper.data("/brokers/topics/t") == before
        assert not has_state(cluster, 2)

    with_candidate(scenario)


def test_a_topic_named_twice_is_refused_once() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await made(channel, "t")
        response = await channel.request(request(("t", 3), ("t", 4)))
        assert codes(response) == [("t", ErrorCode.INVALID_REQUEST)]
        assert not has_state(cluster, 2)

    with_candidate(scenario)


def test_what_is_not_known_everywhere_in_time_is_answered_so() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await made(channel, "t")
        await asyncio.sleep(1)
        cluster.open.clear()
        began = cluster.loop.time()
        response = await channel.request(request(("t", 3)))
        assert cluster.loop.time() - began == pytest.approx(5, abs=0.1)
        assert codes(response) == [("t", ErrorCode.REQUEST_TIMED_OUT)]
        assert has_state(cluster, 2)
        cluster.open.set()

    with_candidate(scenario)


@pytest.mark.parametrize("version", range(4))
def test_every_version_is_answered(version: int) -> None:
    async def scenario(_: CandidateCluster, channel: BrokerChannel) -> None:
        await made(channel, "t")
        assert codes(await channel.request(request(("t", 3)), version)) == [("t", 0)]
        again = await channel.request(request(("t", 3)), version)
        assert codes(again) == [("t", ErrorCode.INVALID_PARTITIONS)]

    with_candidate(scenario)
