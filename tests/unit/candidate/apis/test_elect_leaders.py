"""ElectLeaders at a candidate's endpoint."""

import asyncio

import pytest

from ballast.model.ids import TopicPartition
from ballast.net.client.channel import BrokerChannel
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from ballast.protocol.messages.admin.elect_leaders import ElectLeadersRequest, TopicPartitions
from ballast.zk.client import SetData
from ballast.znodes import partition_states
from tests.fakes.candidate_cluster import CandidateCluster, with_candidate

T0 = TopicPartition("t", 0)


async def leaderless_preferred(cluster: CandidateCluster, channel: BrokerChannel) -> None:
    """Make t-0 on brokers 1 and 2, led by 2, with 1 back in sync."""
    placed = CreatableReplicaAssignment(partition_index=0, broker_ids=(1, 2))
    topic = CreatableTopic(
        name="t", num_partitions=-1, replication_factor=-1, assignments=(placed,)
    )
    await channel.request(CreateTopicsRequest(topics=(topic,), timeout_ms=5000))
    cluster.stop_broker(1)
    await cluster.until(lambda: leader(cluster) == 2)
    cluster.start_broker(1)
    await asyncio.sleep(1)
    path = partition_states.path(T0)
    data, stat = cluster.zookeeper.read(path)
    assert b'"isr":[2]' in data.replace(b" ", b"")
    cluster.zookeeper.write(
        SetData(path, data.replace(b" ", b"").replace(b'"isr":[2]', b'"isr":[2,1]'), stat.version)
    )


def leader(cluster: CandidateCluster) -> int:
    data, stat = cluster.zookeeper.read(partition_states.path(T0))
    return partition_states.decode(T0, data, stat.version).leader


def elect(partition: int | None = 0, **fields: int) -> ElectLeadersRequest:
    wanted = None
    if partition is not None:
        wanted = (TopicPartitions(topic="t", partitions=(partition,)),)
    return ElectLeadersRequest(topic_partitions=wanted, timeout_ms=5000, **fields)


def codes(response: object) -> dict[tuple[str, int], int]:
    return {
        (topic.topic, partition.partition_id): partition.error_code
        for topic in response.replica_election_results  # type: ignore[attr-defined]
        for partition in topic.partition_result
    }


@pytest.mark.parametrize("version", range(3))
def test_the_preferred_leader_leads_again(version: int) -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await leaderless_preferred(cluster, channel)
        response = await channel.request(elect(), version)
        assert codes(response) == {("t", 0): ErrorCode.NONE}
        assert leader(cluster) == 1
        again = await channel.request(elect(), version)
        assert codes(again) == {("t", 0): ErrorCode.ELECTION_NOT_NEEDED}

    with_candidate(scenario)


def test_all_partitions_means_those_with_something_to_do() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await leaderless_preferred(cluster, channel)
        assert codes(await channel.request(elect(None))) == {("t", 0): ErrorCode.NONE}
        assert codes(await channel.request(elect(None))) == {}

    with_candidate(scenario)


def test_the_answer_waits_until_every_broker_is_told() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await leaderless_preferred(cluster, channel)
        cluster.open.clear()
        began = cluster.loop.time()
        response = await channel.request(elect())
        assert cluster.loop.time() - began == pytest.approx(5, abs=0.1)
        assert codes(response) == {("t", 0): ErrorCode.REQUEST_TIMED_OUT}
        assert leader(cluster) == 1
        cluster.open.set()

    with_candidate(scenario)


def test_refusals() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        unknown = await channel.request(elect(7))
        assert codes(unknown) == {("t", 7): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
        no_type = await channel.request(elect(election_type=5))
        assert no_type.error_code == ErrorCode.INVALID_REQUEST
        cluster.start_candidate(101)
        await asyncio.sleep(1)
        for version in range(3):
            response = await cluster.ask(101).request(elect(), version)
            assert codes(response) == {("t", 0): ErrorCode.NOT_CONTROLLER}
            expected = ErrorCode.NOT_CONTROLLER if version else ErrorCode.NONE
            assert response.error_code == expected

    with_candidate(scenario)
