import pytest

from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.unit.broker.cluster import P0, TOPIC_ID, Cluster, simulate


def named(*names: str) -> MetadataRequest:
    return MetadataRequest(topics=tuple(MetadataRequestTopic(name=name) for name in names))


@pytest.mark.parametrize("version", range(12))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 2, [2, 1])
        answer = await cluster.ask(1, named("orders"), version)
        assert [(b.node_id, b.host, b.port) for b in answer.brokers] == [
            (1, "broker-1", 9092),
            (2, "broker-2", 9092),
        ]
        if version >= 1:
            assert answer.controller_id == 1
        if version >= 2:
            assert answer.cluster_id == cluster.brokers[1].parts.identity.cluster_id
        (topic,) = answer.topics
        assert (topic.error_code, topic.name) == (0, "orders")
        if version >= 10:
            assert topic.topic_id == TOPIC_ID
        (partition,) = topic.partitions
        assert (partition.leader_id, partition.replica_nodes) == (2, (2, 1))
        assert partition.isr_nodes == (2, 1)

    simulate(main)


@pytest.mark.parametrize(
    ("version", "topics", "expected"),
    [(0, (), ["a", "orders"]), (1, (), []), (11, (), []), (1, None, ["a", "orders"])],
)
def test_which_topics(version: int, topics: tuple[()] | None, expected: list[str]) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.lead(TopicPartition("a", 0), 1, [1])
        answer = await cluster.ask(1, MetadataRequest(topics=topics), version)
        assert [topic.name for topic in answer.topics] == expected

    simulate(main)


def test_topics_that_are_not_there_and_cannot_be() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        answer = await cluster.ask(1, named("missing", "../x", "missing"), 9)
        assert [(t.name, t.error_code) for t in answer.topics] == [
            ("missing", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            ("../x", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ]

    simulate(main)


def test_a_dead_leader_and_offline_replicas() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 2, [2, 1])
        (topic,) = (await cluster.ask(1, named("orders"), 9)).topics
        (partition,) = topic.partitions
        assert partition.error_code == ErrorCode.LEADER_NOT_AVAILABLE
        assert (partition.leader_id, partition.offline_replicas) == (-1, (2,))
        (old,) = (await cluster.ask(1, named("orders"), 0)).topics
        assert old.partitions[0].replica_nodes == (1,)

    simulate(main)
