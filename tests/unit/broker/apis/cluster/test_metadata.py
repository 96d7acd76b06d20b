import asyncio

import msgspec
import pytest

from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import CreatableTopicResult, CreateTopicsResponse
from ballast.protocol.messages.cluster.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from tests.unit.broker.broker_cluster import P0, TOPIC_ID, Cluster, batch, simulate


def named(*names: str) -> MetadataRequest:
    return MetadataRequest(topics=tuple(MetadataRequestTopic(name=name) for name in names))


NEW = CreatableTopicResult(name="new", num_partitions=1)


def made(*topics: CreatableTopicResult) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=topics)


def codes(response: MetadataResponse) -> list[tuple[str | None, int]]:
    return [(topic.name, topic.error_code) for topic in response.topics]


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
            assert answer.cluster_id == cluster.brokers[1].context.identity.cluster_id
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


@pytest.mark.parametrize(
    ("enabled", "allowed"), [("true", False), ("false", True), ("false", False)]
)
def test_topics_that_are_not_there_and_cannot_be(enabled: str, allowed: bool) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.tell_metadata()
        asked = msgspec.structs.replace(
            named("missing", "../x", "missing"), allow_auto_topic_creation=allowed
        )
        answer = await cluster.ask(1, asked, 9)
        assert codes(answer) == [
            ("missing", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            ("../x", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ]

    simulate(main, auto_create_topics_enable=enabled)


@pytest.mark.parametrize("version", [1, 9])
def test_a_topic_is_created_and_named_with_its_leader(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(lambda _request, _version: made(NEW))
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(cluster.ask(1, named("new", "orders"), version))
            await cluster.lead(TopicPartition("orders", 0), 1, [1])
            await cluster.lead(TopicPartition("new", 0), 1, [1])
        assert codes(waiting.result()) == [("new", 0), ("orders", 0)]
        assert waiting.result().topics[0].partitions[0].leader_id == 1

    simulate(main)


def test_a_topic_that_the_controller_refuses() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.tell_metadata()
        refused = CreatableTopicResult(name="new", error_code=38)
        await cluster.elect(lambda _request, _version: made(refused))
        assert codes(await cluster.ask(1, named("new"), 9)) == [("new", 38)]

    simulate(main)


@pytest.mark.parametrize(
    ("name", "code", "requests"),
    [
        ("__consumer_offsets", ErrorCode.LEADER_NOT_AVAILABLE, 1),
        ("__transaction_state", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0),
        ("__ballast_load", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0),
    ],
)
def test_of_internal_topics_the_one_that_clients_need_is_created(
    name: str, code: ErrorCode, requests: int
) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.tell_metadata()
        await cluster.elect(lambda _request, _version: made(NEW))
        assert codes(await cluster.ask(1, named(name), 9)) == [(name, code)]
        assert len(cluster.forwarded) == requests

    simulate(main, offsets_topic_replication_factor="1")


def test_internal_topics_are_told_apart() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.lead(TopicPartition("__consumer_offsets", 0), 1, [1])
        answer = await cluster.ask(1, named("orders", "__consumer_offsets"), 9)
        assert [topic.is_internal for topic in answer.topics] == [False, True]

    simulate(main)


def test_without_a_controller_a_new_topic_has_no_leader_yet() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        answer = await cluster.ask(1, named("new"), 9)
        assert codes(answer) == [("new", ErrorCode.LEADER_NOT_AVAILABLE)]

    simulate(main)


def test_an_answer_waits_for_the_controllers_first_word() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        async with asyncio.TaskGroup() as tasks:
            asked = tasks.create_task(cluster.ask(1, named("orders"), 9))
            await asyncio.sleep(0.5)
            assert not asked.done()
            await cluster.lead(P0, 1, [1, 2])
        assert codes(asked.result()) == [("orders", ErrorCode.NONE)]
        assert len(asked.result().brokers) == 2

    simulate(main)


def test_topics_may_exist_before_the_controller_has_told() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        assert codes(await cluster.ask(1, named("orders"), 9)) == [
            ("orders", ErrorCode.LEADER_NOT_AVAILABLE)
        ]
        produced = await cluster.produce(1, P0, batch(b"a"))
        assert produced.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert cluster.forwarded == []
        await cluster.tell_metadata()
        produced = await cluster.produce(1, P0, batch(b"a"))
        assert produced.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

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
