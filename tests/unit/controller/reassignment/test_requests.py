"""What is refused, with Kafka's errors and words; the legacy znode; who supplants whom."""

import pytest

from ballast.controller.state.events import ZkPartitionReassignment
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from tests.fakes.controller_cluster import ControllerCluster

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)
UNKNOWN = TopicPartition("unknown", 0)
PENDING = ReplicaAssignment(replicas=(2, 3, 1), adding_replicas=(3,), removing_replicas=(1,))


async def start(*assignments: tuple[int, ...]) -> ControllerCluster:
    cluster = ControllerCluster()
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", *(assignments or ((1, 2), (1, 2))))
    await cluster.fail_over()
    return cluster


async def refusal(
    cluster: ControllerCluster, topic_partition: TopicPartition, target: tuple[int, ...] | None
) -> tuple[str, str] | None:
    answers = await cluster.controller.alter_partition_reassignments({topic_partition: target})
    refused = answers[topic_partition]
    return None if refused is None else (refused.error, refused.message)


INVALID = "INVALID_REPLICA_ASSIGNMENT"


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ((), INVALID, "Empty replica list specified in partition reassignment."),
        (
            (1, 1),
            INVALID,
            "Duplicate replica ids in partition reassignment replica list: [1, 1]",
        ),
        ((1, -2), INVALID, "Invalid broker id in replica list: [1, -2]"),
        (
            (1, 9),
            INVALID,
            "Replica assignment has brokers that are not alive. Replica list: [1, 9], "
            "live broker list: [1, 2, 3]",
        ),
        (
            None,
            "NO_REASSIGNMENT_IN_PROGRESS",
            "No partition reassignment is in progress.",
        ),
    ],
)
async def test_refusals(target: tuple[int, ...] | None, error: str, message: str) -> None:
    cluster = await start()
    cluster.metadata.log.clear()
    assert await refusal(cluster, T0, target) == (error, message)
    assert cluster.metadata.log == []


async def test_unknown_partitions() -> None:
    cluster = await start()
    does_not_exist = ("UNKNOWN_TOPIC_OR_PARTITION", "The partition does not exist.")
    assert await refusal(cluster, UNKNOWN, (1,)) == does_not_exist
    assert await refusal(cluster, TopicPartition("t", 2), (1,)) == does_not_exist
    no_reassignment = await refusal(cluster, UNKNOWN, None)
    assert no_reassignment is not None
    assert no_reassignment[0] == "NO_REASSIGNMENT_IN_PROGRESS"


async def test_topics_to_be_deleted_are_refused() -> None:
    cluster = await start()
    cluster.stop_broker(2)
    await cluster.brokers_changed()
    await cluster.controller.delete_topics(["t"])
    answer = await refusal(cluster, T0, (1, 3))
    assert answer == ("UNKNOWN_TOPIC_OR_PARTITION", "The partition does not exist.")


async def test_only_added_replicas_must_live_and_brokers_shutting_down_do_not() -> None:
    cluster = await start()
    cluster.stop_broker(2)
    await cluster.brokers_changed()
    assert await refusal(cluster, T0, (1, 2, 3)) is None
    await cluster.controller.controlled_shutdown(3, -1)
    answer = await refusal(cluster, T1, (1, 2, 3))
    assert answer is not None
    assert "live broker list: [1]" in answer[1]


async def test_a_replica_that_is_being_added_must_live_when_asked_for_again() -> None:
    cluster = await start()
    await cluster.controller.alter_partition_reassignments({T0: (2, 3)})
    cluster.stop_broker(3)
    await cluster.brokers_changed()
    assert (await refusal(cluster, T0, (2, 3)) or ("",))[0] == INVALID
    assert await refusal(cluster, T0, (2,)) is None


async def test_one_bad_partition_does_not_fail_the_others() -> None:
    cluster = await start()
    answers = await cluster.controller.alter_partition_reassignments(
        {T0: (2, 3), T1: (9,), UNKNOWN: (1,)}
    )
    assert answers[T0] is None
    assert {tp for tp, answer in answers.items() if answer} == {T1, UNKNOWN}
    assert cluster.replicas()[T0] == PENDING


async def test_listing() -> None:
    cluster = await start()
    await cluster.controller.alter_partition_reassignments({T0: (2, 3)})
    listing = cluster.controller.list_partition_reassignments
    assert listing() == listing([T0, T1, UNKNOWN]) == {T0: PENDING}
    assert listing([T1]) == listing([]) == {}


async def test_a_cancel_that_would_lose_the_in_sync_replicas_is_refused() -> None:
    """KAFKA-14424: only the added replica is in sync."""
    cluster = await start((1, 2))
    cluster.start_broker(4)
    await cluster.brokers_changed()
    await cluster.controller.alter_partition_reassignments({T0: (3, 4)})
    cluster.metadata.change_isr(T0, 1, 3)
    cluster.stop_broker(1, 2)
    await cluster.brokers_changed()
    assert cluster.state(T0).leader == 3
    answer = await refusal(cluster, T0, None)
    assert answer == (
        INVALID,
        "None of the replicas [1, 2] is in sync; the in-sync replicas are [3].",
    )
    assert (await refusal(cluster, T0, (4, 2)) or ("",))[0] == INVALID
    assert cluster.replicas()[T0].target_replicas == (3, 4)
    await cluster.settle()
    assert cluster.replicas()[T0] == ReplicaAssignment.of(3, 4)


async def test_a_cancel_with_a_dead_original_in_an_otherwise_live_isr_is_refused() -> None:
    cluster = await start((1,))
    await cluster.controller.alter_partition_reassignments({T0: (2, 3)})
    cluster.metadata.change_isr(T0, 1, 3)
    await cluster.controller.controlled_shutdown(1, -1)
    cluster.metadata.change_isr(T0, 3, 1)
    del cluster.metadata.brokers[1]
    cluster.controller.context.remove_broker(1)
    assert (await refusal(cluster, T0, None) or ("",))[0] == INVALID


async def test_cancel_of_a_leaderless_move_is_allowed() -> None:
    cluster = await start((1, 2))
    await cluster.controller.alter_partition_reassignments({T0: (2, 3)})
    cluster.stop_broker(1, 2)
    await cluster.brokers_changed()
    assert await refusal(cluster, T0, None) is None
    assert cluster.replicas()[T0] == ReplicaAssignment.of(2, 1)


# The legacy znode


async def test_the_znode_keeps_what_is_pending_and_loses_what_is_refused_or_done() -> None:
    cluster = await start()
    cluster.metadata.reassignments = {
        T0: (2, 3),
        T1: (2, 1),
        UNKNOWN: (1,),
        TopicPartition("t", 7): (1,),
    }
    await cluster.handle(ZkPartitionReassignment())
    assert cluster.metadata.reassignments == {T0: (2, 3)}
    assert cluster.replicas() == {T0: PENDING, T1: ReplicaAssignment.of(2, 1)}


@pytest.mark.parametrize("target", [(), (1, 1), (-1,)])
async def test_the_znode_is_checked_for_form(target: tuple[int, ...]) -> None:
    cluster = await start()
    cluster.metadata.reassignments = {T0: target, T1: (2, 3)}
    await cluster.handle(ZkPartitionReassignment())
    assert cluster.metadata.reassignments == {T1: (2, 3)}


async def test_the_znode_may_name_dead_brokers() -> None:
    cluster = await start()
    cluster.metadata.reassignments = {T0: (9, 1)}
    await cluster.handle(ZkPartitionReassignment())
    assert cluster.replicas()[T0].adding_replicas == (9,)


async def test_a_call_supplants_the_znode() -> None:
    cluster = await start()
    cluster.metadata.reassignments = {T0: (2, 3), T1: (2, 3)}
    await cluster.handle(ZkPartitionReassignment())
    await cluster.controller.alter_partition_reassignments({T0: (3, 1)})
    assert cluster.metadata.reassignments == {T1: (2, 3)}
    assert cluster.replicas()[T0].target_replicas == (3, 1)


async def test_a_refused_call_does_not_touch_the_znode() -> None:
    cluster = await start()
    cluster.metadata.reassignments = {T0: (2, 3)}
    await cluster.handle(ZkPartitionReassignment())
    await cluster.controller.alter_partition_reassignments({T0: (9,)})
    assert cluster.metadata.reassignments == {T0: (2, 3)}


async def test_a_znode_supplants_a_call() -> None:
    cluster = await start()
    await cluster.controller.alter_partition_reassignments({T0: (2, 3)})
    cluster.metadata.reassignments = {T0: (3, 1)}
    await cluster.handle(ZkPartitionReassignment())
    assert cluster.replicas()[T0].target_replicas == (3, 1)


async def test_at_failover_the_znode_goes_first() -> None:
    cluster = await start()
    await cluster.controller.alter_partition_reassignments({T0: (2, 3), T1: (3, 2)})
    cluster.metadata.reassignments = {T0: (3, 1)}
    await cluster.fail_over()
    assert cluster.replicas()[T0].target_replicas == (3, 1)
    assert cluster.replicas()[T1].target_replicas == (3, 2)


async def test_reading_the_znode_again_does_not_start_again() -> None:
    cluster = await start()
    cluster.metadata.reassignments = {T0: (2, 3)}
    await cluster.handle(ZkPartitionReassignment())
    cluster.metadata.log.clear()
    await cluster.handle(ZkPartitionReassignment())
    assert cluster.metadata.log == []


async def test_reading_the_znode_again_completes_what_can_be() -> None:
    cluster = await start()
    cluster.metadata.reassignments = {T0: (2, 3)}
    await cluster.handle(ZkPartitionReassignment())
    cluster.metadata.change_isr(T0, 1, 2, 3)
    await cluster.handle(ZkPartitionReassignment())
    assert cluster.replicas()[T0] == ReplicaAssignment.of(2, 3)
    assert cluster.metadata.reassignments == {}


async def test_only_an_entry_equal_to_the_target_is_removed_at_completion() -> None:
    cluster = await start()
    await cluster.controller.alter_partition_reassignments({T0: (2, 3)})
    cluster.metadata.reassignments = {T0: (3, 2)}
    await cluster.isr_changed(T0, 1, 2, 3)
    assert cluster.metadata.reassignments == {T0: (3, 2)}


async def test_a_topic_that_the_store_refuses_holds_nobody_up() -> None:
    cluster = await start()
    for topic in ("a", "z"):
        cluster.add_topic(topic, (1, 2))
    await cluster.fail_over()
    a0, z0 = TopicPartition("a", 0), TopicPartition("z", 0)
    cluster.store.too_large = {"t"}
    answers = await cluster.controller.alter_partition_reassignments(
        {a0: (2, 3), T0: (2, 3), z0: (2, 3)}
    )
    refused = {tp: answer.error for tp, answer in answers.items() if answer}
    assert refused == {T0: "UNKNOWN_SERVER_ERROR"}
    assert cluster.controller.context.being_reassigned == [a0, z0]
    cluster.metadata.reassignments = {T0: (2, 3), a0: (1, 3)}
    await cluster.handle(ZkPartitionReassignment())
    assert cluster.metadata.reassignments == {a0: (1, 3)}
    assert cluster.replicas()[T0] == ReplicaAssignment.of(1, 2)
