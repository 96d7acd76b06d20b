"""How Metadata uses it is in tests/unit/broker/apis/cluster/test_metadata.py."""

import asyncio

from ballast.broker.cluster.auto_creation import MAX_UNDER_WAY
from ballast.model.ids import TopicPartition
from ballast.model.topics import OFFSETS_TOPIC
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ballast.protocol.schema import Message
from tests.unit.broker.broker_cluster import Cluster, simulate


def create_all(request: Message, _version: int) -> Message:
    assert isinstance(request, CreateTopicsRequest)
    return CreateTopicsResponse(
        topics=tuple(CreatableTopicResult(name=topic.name) for topic in request.topics)
    )


def test_the_controller_is_asked_for_its_defaults() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(create_all)
        creation = cluster.brokers[1].context.auto_creation
        assert await creation.create(["new"]) == {"new": ErrorCode.LEADER_NOT_AVAILABLE}
        ((request, version),) = cluster.forwarded
        assert isinstance(request, CreateTopicsRequest)
        (topic,) = request.topics
        assert (topic.name, topic.num_partitions, topic.replication_factor) == ("new", -1, -1)
        assert version == 4

    simulate(main)


def test_internal_topics_are_made_as_brokers_need_them() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.tell_metadata()
        await cluster.elect(create_all)
        creation = cluster.brokers[1].context.auto_creation
        await creation.create([OFFSETS_TOPIC, "new"])
        ((request, _),) = cluster.forwarded
        assert isinstance(request, CreateTopicsRequest)
        asked = [(topic.name, topic.replication_factor) for topic in request.topics]
        assert asked == [(OFFSETS_TOPIC, 2), ("new", -1)]

    simulate(main, offsets_topic_replication_factor="2")


def test_an_internal_topic_waits_for_enough_brokers() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.tell_metadata()
        await cluster.elect(create_all)
        creation = cluster.brokers[1].context.auto_creation
        refused = {OFFSETS_TOPIC: ErrorCode.INVALID_REPLICATION_FACTOR}
        assert await creation.create([OFFSETS_TOPIC]) == refused
        assert cluster.forwarded == []

    simulate(main, offsets_topic_replication_factor="2")


def test_a_name_is_asked_for_once_at_a_time_and_not_too_many() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(create_all)
        creation = cluster.brokers[1].context.auto_creation
        names = [f"t{number}" for number in range(MAX_UNDER_WAY + 7)]
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(creation.create(names))
            second = tasks.create_task(creation.create(names))
        codes = dict.fromkeys(names, ErrorCode.LEADER_NOT_AVAILABLE)
        assert first.result() == second.result() == codes
        ((request, _),) = cluster.forwarded
        assert isinstance(request, CreateTopicsRequest)
        assert [topic.name for topic in request.topics] == names[:MAX_UNDER_WAY]

    simulate(main)


def test_a_topic_that_another_broker_had_made_is_no_error() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        exists = CreatableTopicResult(name="new", error_code=ErrorCode.TOPIC_ALREADY_EXISTS)
        await cluster.elect(lambda _request, _version: CreateTopicsResponse(topics=(exists,)))
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(cluster.brokers[1].context.auto_creation.create(["new"]))
            await cluster.lead(TopicPartition("new", 0), 1, [1])
        assert waiting.result() == {}

    simulate(main)
