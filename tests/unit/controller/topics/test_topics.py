"""Creating topics, following the store, and knowing when all brokers know a topic."""

from typing import Any
from uuid import UUID

import pytest

from ballast.controller.errors import RequestRefused
from ballast.controller.state.events import (
    PartitionModifications,
    TopicChange,
    UpdateMetadataAnswered,
)
from ballast.controller.topics.new_topics import NewTopic
from ballast.controller.topics.topic_growth import TopicGrowth
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.topics import TopicAssignment
from tests.fakes.controller_cluster import ControllerCluster
from tests.fakes.metadata_store import ControllerCrashed, describe_state

T0 = TopicPartition("t", 0)


async def start(*broker_ids: int) -> ControllerCluster:
    cluster = ControllerCluster()
    cluster.start_broker(*broker_ids)
    await cluster.fail_over()
    await cluster.settle()
    return cluster


def new(topic: str, **settings: Any) -> NewTopic:
    return NewTopic(topic=topic, topic_id=UUID(int=1), **settings)


def told(broker_id: int, *topics: str, error: str = "NONE") -> UpdateMetadataAnswered:
    partitions = [TopicPartition(topic, 0) for topic in topics]
    return UpdateMetadataAnswered(broker_id=broker_id, error=error, partitions=partitions)


async def test_a_created_topic_is_stored_with_its_config_and_led() -> None:
    cluster = await start(1, 2)
    config = {"retention.ms": "1"}
    request = new("t", num_partitions=2, replication_factor=2, config=config)
    created = await cluster.controller.create_topics([request])
    stored = cluster.metadata.topics["t"]
    assert created == {"t": stored}
    assert stored.topic_id == UUID(int=1)
    assert cluster.metadata.configs["t"] == config
    assert describe_state(T0, cluster.state(T0)) == "state t-0 leader=1 epoch=0 isr=[1, 2]"
    assert cluster.state(TopicPartition("t", 1)).leader == 2
    await cluster.handle(TopicChange())
    assert cluster.state(T0).leader_epoch == 0


async def test_many_topics_are_led_in_one_call() -> None:
    cluster = await start(1, 2)
    cluster.store.calls.clear()
    await cluster.controller.create_topics([new(f"t{n}") for n in range(20)])
    assert cluster.store.calls.count("create_leadership") == 1
    assert len(cluster.metadata.states) == 20


async def test_validation_alone_writes_nothing() -> None:
    cluster = await start(1)
    effects = cluster.effects.count
    answers = await cluster.controller.create_topics(
        [new("t"), new("u", replication_factor=5)], validate_only=True
    )
    assert isinstance(answers["t"], TopicAssignment)
    assert isinstance(answers["u"], RequestRefused)
    assert cluster.effects.count == effects


async def test_refused_topics_do_not_hold_others_up() -> None:
    cluster = await start(1)
    answers = await cluster.controller.create_topics(
        [new("t"), new("t"), new("x.y"), new("x_y"), new("u")]
    )
    refused = {t: a.error for t, a in answers.items() if isinstance(a, RequestRefused)}
    assert refused == {"t": "INVALID_REQUEST", "x_y": "INVALID_TOPIC_EXCEPTION"}
    assert sorted(cluster.metadata.topics) == ["u", "x.y"]


async def test_a_topic_that_another_tool_created_meanwhile() -> None:
    cluster = await start(1)
    cluster.metadata.put_topic(TopicAssignment(topic="t", topic_id=None, partitions={}))
    answers = await cluster.controller.create_topics([new("t")])
    refusal = answers["t"]
    assert isinstance(refusal, RequestRefused)
    assert refusal.error == "TOPIC_ALREADY_EXISTS"


async def test_a_topic_is_ready_when_every_broker_has_been_told() -> None:
    cluster = await start(1, 2)
    await cluster.controller.create_topics([new("t")])
    is_ready = cluster.controller.is_topic_ready
    await cluster.handle(told(1, "t"))
    await cluster.handle(told(2, "other"))
    await cluster.handle(told(2, "t", error="STALE_BROKER_EPOCH"))
    assert not is_ready("t")
    await cluster.handle(told(2, "t"))
    assert is_ready("t")
    assert not is_ready("unknown")


async def test_a_dead_broker_need_not_be_told() -> None:
    cluster = await start(1, 2)
    await cluster.controller.create_topics([new("t")])
    await cluster.handle(told(1, "t"))
    cluster.stop_broker(2)
    await cluster.brokers_changed()
    assert cluster.controller.is_topic_ready("t")


async def test_a_topic_without_leader_is_not_ready() -> None:
    cluster = await start(1, 2)
    cluster.stop_broker(2)
    await cluster.controller.create_topics([new("t", assignment={0: (2,)})])
    await cluster.brokers_changed()
    await cluster.settle()
    assert not cluster.controller.is_topic_ready("t")


async def test_known_topics_are_ready_after_failover() -> None:
    cluster = ControllerCluster()
    cluster.start_broker(1)
    cluster.add_topic("t", (1,))
    await cluster.fail_over()
    assert cluster.controller.is_topic_ready("t")


async def test_topics_of_other_tools_come_and_go() -> None:
    cluster = await start(1)
    partitions = {0: ReplicaAssignment.of(1)}
    cluster.metadata.put_topic(TopicAssignment(topic="t", topic_id=None, partitions=partitions))
    await cluster.handle(TopicChange())
    await cluster.settle()
    assert cluster.state(T0).leader == 1
    assert cluster.controller.is_topic_ready("t")
    del cluster.metadata.topics["t"], cluster.metadata.states[T0]
    await cluster.handle(TopicChange())
    assert cluster.controller.context.topics == {}


async def test_a_topic_to_be_deleted_does_not_grow() -> None:
    """KAFKA-6612."""
    cluster = ControllerCluster()
    cluster.start_broker(1, 2)
    cluster.add_topic("t", (1,))
    await cluster.fail_over()
    await cluster.controller.delete_topics(["t"])
    known = cluster.metadata.topics["t"]
    grown = {0: ReplicaAssignment.of(1), 1: ReplicaAssignment.of(2)}
    cluster.metadata.put_topic(TopicAssignment(topic="t", topic_id=None, partitions=grown))
    await cluster.handle(PartitionModifications("t"))
    assert cluster.metadata.topics["t"].partitions == known.partitions
    assert cluster.metadata.log[-1] == "topic t 0=[1]"


async def grow(cluster: ControllerCluster, topic: str, count: int, **options: bool) -> str | None:
    growth = TopicGrowth(topic=topic, count=count)
    (refusal,) = (await cluster.controller.create_partitions([growth], **options)).values()
    return refusal.error if refusal else None


async def test_a_topic_grows_by_partitions_that_are_led() -> None:
    cluster = await start(1, 2)
    await cluster.controller.create_topics([new("t", replication_factor=2)])
    assert await grow(cluster, "t", 3) is None
    assert cluster.metadata.topics["t"].partitions.keys() == {0, 1, 2}
    assert cluster.metadata.topics["t"].topic_id == UUID(int=1)
    assert cluster.state(TopicPartition("t", 2)).has_leader
    assert cluster.state(T0).leader_epoch == 0
    assert not cluster.controller.is_topic_ready("t")
    await cluster.settle()
    assert cluster.controller.is_topic_ready("t")
    await cluster.handle(PartitionModifications("t"))
    assert cluster.state(TopicPartition("t", 2)).leader_epoch == 0


async def test_to_validate_growth_writes_nothing() -> None:
    cluster = await start(1)
    await cluster.controller.create_topics([new("t")])
    effects = cluster.effects.count
    assert await grow(cluster, "t", 3, validate_only=True) is None
    assert await grow(cluster, "t", 1, validate_only=True) == "INVALID_PARTITIONS"
    assert cluster.effects.count == effects


async def test_growth_keeps_what_another_tool_has_just_added() -> None:
    cluster = await start(1, 2)
    await cluster.controller.create_topics([new("t")])
    grown = {0: ReplicaAssignment.of(1), 1: ReplicaAssignment.of(2)}
    cluster.metadata.put_topic(TopicAssignment(topic="t", topic_id=None, partitions=grown))
    assert await grow(cluster, "t", 2) == "INVALID_PARTITIONS"
    assert await grow(cluster, "t", 3) is None
    assert cluster.metadata.topics["t"].partitions.items() >= grown.items()
    assert cluster.state(TopicPartition("t", 1)).leader == 2


async def test_growth_during_a_deletion_and_a_reassignment_is_refused() -> None:
    cluster = await start(1, 2)
    await cluster.controller.create_topics([new("t"), new("u")])
    await cluster.settle()
    cluster.stop_broker(2)
    await cluster.brokers_changed()
    target = cluster.metadata.topics["t"].partitions[0].replicas
    assert await grow(cluster, "unknown", 2) == "UNKNOWN_TOPIC_OR_PARTITION"
    cluster.start_broker(2)
    await cluster.brokers_changed()
    move = {T0: tuple({1, 2} - set(target))}
    await cluster.controller.alter_partition_reassignments(move)
    assert await grow(cluster, "t", 2) == "REASSIGNMENT_IN_PROGRESS"
    await cluster.controller.delete_topics(["u"])
    assert await grow(cluster, "u", 2) == "INVALID_TOPIC_EXCEPTION"


async def test_a_topic_too_large_for_the_store_does_not_grow() -> None:
    cluster = await start(1)
    await cluster.controller.create_topics([new("t")])
    cluster.store.too_large.add("t")
    assert await grow(cluster, "t", 3) == "INVALID_PARTITIONS"
    assert cluster.controller.context.topics["t"].partitions.keys() == {0}


@pytest.mark.parametrize("effects", range(1, 6))
async def test_interrupted_growth_is_finished_by_the_next_controller(effects: int) -> None:
    cluster = await start(1, 2)
    await cluster.controller.create_topics([new("t", replication_factor=2)])
    await cluster.settle()
    cluster.effects.crash_after(effects)
    try:
        await grow(cluster, "t", 3)
        await cluster.settle()
    except ControllerCrashed:
        await cluster.fail_over()
    await grow(cluster, "t", 3)
    await cluster.settle()
    assert cluster.metadata.topics["t"].partitions.keys() == {0, 1, 2}
    assert all(state.has_leader for state in cluster.metadata.states.values())
    assert len(cluster.metadata.states) == 3
    assert cluster.controller.is_topic_ready("t")


@pytest.mark.parametrize("effects", range(1, 9))
async def test_interrupted_creation_is_finished_by_the_next_controller(effects: int) -> None:
    cluster = await start(1, 2)
    request = new("t", num_partitions=2, replication_factor=2)
    cluster.effects.crash_after(effects)
    try:
        await cluster.controller.create_topics([request])
        await cluster.settle()
    except ControllerCrashed:
        await cluster.fail_over()
    await cluster.controller.create_topics([request])
    await cluster.settle()
    assert {state.isr for state in cluster.metadata.states.values()} == {(1, 2), (2, 1)}
    assert cluster.controller.is_topic_ready("t")
