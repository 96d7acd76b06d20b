"""DeleteTopics at a candidate's endpoint."""

import asyncio
from uuid import UUID

import pytest

from ballast.net.client.channel import BrokerChannel
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import CreatableTopic, CreateTopicsRequest
from ballast.protocol.messages.admin.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ballast.protocol.messages.control.stop_replica import StopReplicaRequest
from tests.fakes.candidate_cluster import CandidateCluster, with_candidate


async def create(channel: BrokerChannel, *names: str) -> dict[str, UUID]:
    topics = tuple(
        CreatableTopic(name=name, num_partitions=2, replication_factor=3) for name in names
    )
    response = await channel.request(CreateTopicsRequest(topics=topics, timeout_ms=5000))
    assert {result.error_code for result in response.topics} == {0}
    return {result.name: result.topic_id for result in response.topics}


def by_name(*names: str, version: int = 6) -> DeleteTopicsRequest:
    if version < 6:
        return DeleteTopicsRequest(topic_names=names, timeout_ms=5000)
    topics = tuple(DeleteTopicState(name=name) for name in names)
    return DeleteTopicsRequest(topics=topics, timeout_ms=5000)


@pytest.mark.parametrize("version", range(7))
def test_nothing_is_left_when_it_is_answered(version: int) -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await create(channel, "a", "b")
        response = await channel.request(by_name("a", "gone", version=version), version)
        codes = {result.name: result.error_code for result in response.responses}
        assert codes == {"a": ErrorCode.NONE, "gone": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
        assert cluster.zookeeper.children_of("/brokers/topics") == ["b"]
        assert cluster.zookeeper.children_of("/admin/delete_topics") == []
        for broker in cluster.brokers.values():
            deleted = [
                (topic.topic_name, state.partition_index)
                for message in broker.messages(StopReplicaRequest)
                for topic in message.topic_states
                for state in topic.partition_states
                if state.delete_partition
            ]
            assert sorted(deleted) == [("a", 0), ("a", 1)]

    with_candidate(scenario)


def test_what_is_left_when_the_time_is_over() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await create(channel, "a")
        cluster.open.clear()
        began = cluster.loop.time()
        response = await channel.request(by_name("a"))
        assert cluster.loop.time() - began == pytest.approx(5, abs=0.1)
        assert response.responses[0].error_code == ErrorCode.REQUEST_TIMED_OUT
        cluster.open.set()
        await asyncio.sleep(5)
        assert cluster.zookeeper.children_of("/brokers/topics") == []

    with_candidate(scenario)


def test_topics_by_id() -> None:
    """KIP-516: from version 6 on."""

    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        ids = await create(channel, "a", "b")
        unknown = UUID(int=5, version=4)
        states = (
            DeleteTopicState(topic_id=ids["a"]),
            DeleteTopicState(topic_id=unknown),
            DeleteTopicState(name="b", topic_id=ids["b"]),
        )
        response = await channel.request(DeleteTopicsRequest(topics=states, timeout_ms=5000))
        results = [(r.name, r.topic_id, r.error_code) for r in response.responses]
        assert results == [
            ("a", ids["a"], ErrorCode.NONE),
            (None, unknown, ErrorCode.UNKNOWN_TOPIC_ID),
            ("b", ids["b"], ErrorCode.INVALID_REQUEST),
        ]
        assert cluster.zookeeper.children_of("/brokers/topics") == ["b"]

    with_candidate(scenario)


@pytest.mark.parametrize("version", [0, 6])
def test_a_candidate_that_does_not_lead_refuses_each_topic(version: int) -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        del channel
        cluster.start_candidate(101)
        await asyncio.sleep(1)
        response = await cluster.ask(101).request(by_name("a", "b", version=version), version)
        results = [(r.name, r.error_code) for r in response.responses]
        assert results == [("a", ErrorCode.NOT_CONTROLLER), ("b", ErrorCode.NOT_CONTROLLER)]

    with_candidate(scenario)
