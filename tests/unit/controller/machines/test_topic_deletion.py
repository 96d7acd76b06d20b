"""Deletion of topics: what it waits for, and that it ends."""

import pytest

from ballast.controller.state.control_requests import StopReplicaControlRequest
from ballast.controller.state.events import (
    AutoPreferredReplicaLeaderElection,
    StopReplicaAnswered,
    TopicDeletion,
)
from ballast.controller.state.options import ControllerOptions
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.settings.controller_config import ControllerConfig
from ballast.model.topics import TopicAssignment
from tests.fakes.controller_cluster import ControllerCluster

T0 = TopicPartition("t", 0)


async def start(*, enabled: bool = True) -> ControllerCluster:
    cluster = ControllerCluster(
        options=ControllerOptions(config=ControllerConfig(delete_topic_enable=enabled))
    )
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", (1, 2), (2, 3))
    cluster.add_topic("u", (1, 2))
    cluster.metadata.configs["t"] = {"retention.ms": "1"}
    await cluster.fail_over()
    await cluster.settle()
    return cluster


async def test_a_topic_goes_when_every_broker_has_deleted_it() -> None:
    cluster = await start()
    assert await cluster.controller.delete_topics(["t"]) == {"t": None}
    assert cluster.metadata.deletions == {"t"}
    assert not cluster.controller.is_topic_deleted("t")
    await cluster.settle()
    assert cluster.controller.is_topic_deleted("t")
    assert sorted(cluster.metadata.topics) == ["u"]
    assert cluster.metadata.configs == {}
    assert cluster.metadata.deletions == set()
    assert {tp for _, tp in cluster.disks} == {TopicPartition("u", 0)}


async def test_refusals() -> None:
    cluster = await start()
    answer = (await cluster.controller.delete_topics(["x"]))["x"]
    assert answer is not None
    assert answer.error == "UNKNOWN_TOPIC_OR_PARTITION"
    disabled = await start(enabled=False)
    answer = (await disabled.controller.delete_topics(["t"]))["t"]
    assert answer is not None
    assert answer.error == "TOPIC_DELETION_DISABLED"
    assert disabled.metadata.deletions == set()


async def test_asking_twice_is_asking_once() -> None:
    cluster = await start()
    await cluster.controller.delete_topics(["t"])
    log = list(cluster.metadata.log)
    assert await cluster.controller.delete_topics(["t", "t"]) == {"t": None}
    assert cluster.metadata.log == log


async def test_requests_in_the_store() -> None:
    cluster = await start()
    cluster.metadata.deletions = {"t", "unknown"}
    await cluster.handle(TopicDeletion())
    assert cluster.metadata.deletions == {"t"}
    await cluster.settle()
    assert sorted(cluster.metadata.topics) == ["u"]


async def test_requests_in_the_store_are_forgotten_where_deletion_is_disabled() -> None:
    cluster = await start(enabled=False)
    cluster.metadata.deletions = {"t"}
    await cluster.handle(TopicDeletion())
    await cluster.fail_over()
    assert cluster.metadata.deletions == set()
    assert "t" in cluster.metadata.topics


async def test_a_topic_created_and_deleted_at_once_is_deleted() -> None:
    cluster = await start()
    partitions = {0: ReplicaAssignment.of(1)}
    cluster.metadata.put_topic(TopicAssignment(topic="late", topic_id=None, partitions=partitions))
    cluster.metadata.deletions = {"late"}
    await cluster.handle(TopicDeletion())
    await cluster.settle()
    assert sorted(cluster.metadata.topics) == ["t", "u"]


async def test_it_waits_for_a_dead_broker() -> None:
    cluster = await start()
    cluster.stop_broker(3)
    await cluster.brokers_changed()
    await cluster.controller.delete_topics(["t"])
    await cluster.settle()
    assert "t" in cluster.metadata.topics
    assert (3, TopicPartition("t", 1)) in cluster.disks
    cluster.start_broker(3)
    await cluster.brokers_changed()
    await cluster.settle()
    assert "t" not in cluster.metadata.topics
    assert {tp for _, tp in cluster.disks} == {TopicPartition("u", 0)}


async def without_broker_3(removed_ids_start: int | None) -> ControllerCluster:
    options = ControllerOptions(removed_ids_start=removed_ids_start)
    cluster = ControllerCluster(options=options)
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", (1, 2), (2, 3))
    cluster.add_topic("only", (3,))
    await cluster.fail_over()
    await cluster.settle()
    cluster.stop_broker(3)
    await cluster.brokers_changed()
    return cluster


async def test_it_does_not_wait_for_a_broker_that_was_taken_away() -> None:
    cluster = await without_broker_3(3)
    await cluster.controller.delete_topics(["t", "only"])
    await cluster.settle()
    assert not cluster.metadata.topics
    assert not cluster.metadata.deletions
    assert {broker for broker, _ in cluster.disks} == {3}


async def test_it_does_not_wait_after_a_failover_either() -> None:
    cluster = await without_broker_3(3)
    cluster.metadata.deletions = {"t", "only"}
    await cluster.fail_over()
    await cluster.settle()
    assert not cluster.metadata.topics


async def test_it_waits_for_a_broker_that_is_to_stay_beside_one_that_was_taken_away() -> None:
    cluster = await without_broker_3(3)
    cluster.stop_broker(2)
    await cluster.brokers_changed()
    await cluster.controller.delete_topics(["t"])
    await cluster.settle()
    assert "t" in cluster.metadata.topics
    cluster.start_broker(2)
    await cluster.brokers_changed()
    await cluster.settle()
    assert "t" not in cluster.metadata.topics


async def test_a_deletion_that_waits_ends_once_its_broker_is_taken_away() -> None:
    options = ControllerOptions()
    cluster = ControllerCluster(options=options)
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", (1, 2), (2, 3))
    await cluster.fail_over()
    cluster.stop_broker(3)
    await cluster.brokers_changed()
    await cluster.controller.delete_topics(["t"])
    await cluster.settle()
    assert "t" in cluster.metadata.topics
    options.removed_ids_start = 3
    await cluster.handle(AutoPreferredReplicaLeaderElection())
    await cluster.settle()
    assert "t" not in cluster.metadata.topics


async def test_a_broker_that_lives_is_asked_though_it_is_to_go() -> None:
    cluster = ControllerCluster(options=ControllerOptions(removed_ids_start=1))
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", (1, 2), (2, 3))
    await cluster.fail_over()
    await cluster.controller.delete_topics(["t"])
    assert "t" in cluster.metadata.topics
    await cluster.settle()
    assert "t" not in cluster.metadata.topics
    assert not cluster.disks


@pytest.mark.parametrize("broker_id", [1, 2, 3])
async def test_a_broker_may_die_and_bounce_meanwhile(broker_id: int) -> None:
    cluster = await start()
    await cluster.controller.delete_topics(["t"])
    cluster.start_broker(broker_id)
    await cluster.brokers_changed()
    cluster.stop_broker(broker_id)
    await cluster.brokers_changed()
    await cluster.settle()
    assert "t" in cluster.metadata.topics
    cluster.start_broker(broker_id)
    await cluster.brokers_changed()
    await cluster.settle()
    assert "t" not in cluster.metadata.topics


async def test_a_failed_deletion_is_tried_again_when_the_broker_comes_back() -> None:
    cluster = await start()
    await cluster.controller.delete_topics(["t"])
    deletions = [
        request
        for request in cluster.channels.take(1)
        if isinstance(request, StopReplicaControlRequest) and request.entries[0].delete
    ]
    assert len(deletions) == 1
    failed = StopReplicaAnswered(
        broker_id=1,
        error="NONE",
        partition_errors={T0: "KAFKA_STORAGE_ERROR"},
        deleted=frozenset({T0}),
    )
    await cluster.handle(failed)
    await cluster.settle()
    assert "t" in cluster.metadata.topics
    cluster.start_broker(1)
    await cluster.brokers_changed()
    await cluster.settle()
    assert "t" not in cluster.metadata.topics


async def test_it_begins_when_the_last_move_of_the_topic_has_ended() -> None:
    cluster = await start()
    t1 = TopicPartition("t", 1)
    await cluster.controller.alter_partition_reassignments({T0: (3, 2), t1: (1, 3)})
    await cluster.controller.delete_topics(["t"])
    await cluster.isr_changed(T0, 1, 2, 3)
    assert cluster.controller.context.being_reassigned == [t1]
    assert cluster.controller.context.deletion_started == set()
    await cluster.isr_changed(t1, 2, 3, 1)
    assert cluster.controller.context.deletion_started == {"t"}


async def test_a_move_that_loses_its_leader_ends_all_the_same() -> None:
    """Until the move has ended, and the deletion can begin, the partition is led as any other."""
    cluster = await start()
    await cluster.controller.alter_partition_reassignments({T0: (2, 3)})
    await cluster.controller.delete_topics(["t"])
    cluster.stop_broker(1)
    await cluster.brokers_changed()
    assert cluster.state(T0).leader == 2
    await cluster.settle()
    assert "t" not in cluster.metadata.topics


async def test_an_answer_for_the_process_before_the_restart_means_nothing() -> None:
    cluster = await start()
    await cluster.controller.delete_topics(["t"])
    await cluster.handle(
        StopReplicaAnswered(
            broker_id=1,
            error="STALE_BROKER_EPOCH",
            partition_errors={T0: "STALE_BROKER_EPOCH"},
            deleted=frozenset({T0}),
        )
    )
    await cluster.settle()
    assert "t" not in cluster.metadata.topics


async def test_an_answer_for_another_topic_means_nothing() -> None:
    cluster = await start()
    effects = cluster.effects.count
    answer = StopReplicaAnswered(
        broker_id=1, error="NONE", partition_errors={T0: "NONE"}, deleted=frozenset({T0})
    )
    await cluster.handle(answer)
    assert cluster.effects.count == effects
    assert "t" in cluster.metadata.topics
