"""The phases of a reassignment: table, order, many partitions at once, every interruption."""

from collections.abc import Awaitable, Callable, Sequence

import pytest

from ballast.controller.commands import LeaderAndIsrCommand, StopReplicaCommand
from ballast.controller.elections import ElectionType
from ballast.controller.events import (
    IsrChangeNotification,
    TopicChange,
    ZkPartitionReassignment,
)
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from tests.fakes.broker_channels import describe_command
from tests.fakes.controller_cluster import ControllerCluster
from tests.fakes.metadata_store import ControllerCrashed

T0 = TopicPartition("t", 0)


async def start(*assignments: tuple[int, ...], brokers: int = 6) -> ControllerCluster:
    cluster = ControllerCluster()
    cluster.start_broker(*range(1, brokers + 1))
    cluster.add_topic("t", *assignments)
    await cluster.fail_over()
    await cluster.settle()
    cluster.metadata.log.clear()
    return cluster


async def alter(cluster: ControllerCluster, *replicas: int) -> None:
    answers = await cluster.controller.alter_partition_reassignments({T0: replicas or None})
    assert answers == {T0: None}


async def test_worked_table() -> None:
    """ORS {1,2,3} to TRS {4,5,6}, as Kafka's source describes it."""
    cluster = await start((1, 2, 3))
    await alter(cluster, 4, 5, 6)
    await cluster.isr_changed(T0, 1, 2, 3, 4, 5, 6)
    assert cluster.metadata.log == [
        "topic t 0=[4, 5, 6, 1, 2, 3]+[4, 5, 6]-[1, 2, 3]",  # U1
        "state t-0 leader=1 epoch=1 isr=[1, 2, 3]",  # A1
        "state t-0 leader=1 epoch=1 isr=[1, 2, 3, 4, 5, 6]",  # the new replicas catch up
        "state t-0 leader=4 epoch=2 isr=[1, 2, 3, 4, 5, 6]",  # B3
        "state t-0 leader=4 epoch=3 isr=[2, 3, 4, 5, 6]",  # B4, broker by broker
        "state t-0 leader=4 epoch=4 isr=[3, 4, 5, 6]",
        "state t-0 leader=4 epoch=5 isr=[4, 5, 6]",
        "topic t 0=[4, 5, 6]",  # B6
    ]
    await cluster.settle()
    assert cluster.disks == {(4, T0), (5, T0), (6, T0)}


async def test_memory_follows_the_store_in_phase_u_and_leads_it_in_phase_b() -> None:
    cluster = await start((1, 2))
    cluster.effects.crash_after(1)
    with pytest.raises(ControllerCrashed):
        await alter(cluster, 3, 2)
    assert cluster.metadata.assignment(T0).adding_replicas == (3,)
    assert cluster.controller.context.assignment(T0) == ReplicaAssignment.of(1, 2)


async def test_removed_replica_gets_its_commands_in_order() -> None:
    cluster = await start((1, 2))
    await alter(cluster, 2, 3)
    cluster.channels.take_all()
    await cluster.isr_changed(T0, 1, 2, 3)
    stops = [c for c in cluster.channels.take(1) if isinstance(c, StopReplicaCommand)]
    assert [describe_command(stop) for stop in stops] == [
        "StopReplica t-0 epoch=2",
        "StopReplica t-0 epoch=3 delete",
    ]


async def test_partial_catching_up_waits() -> None:
    cluster = await start((1, 2))
    await alter(cluster, 3, 4)
    cluster.metadata.log.clear()
    await cluster.isr_changed(T0, 1, 2, 3)
    assert cluster.metadata.log == ["state t-0 leader=1 epoch=1 isr=[1, 2, 3]"]
    assert cluster.controller.context.being_reassigned == [T0]


async def test_target_that_dies_in_sync_is_waited_for() -> None:
    """No target replica lives when the move could complete: nothing is taken from the origin."""
    cluster = await start((1, 2))
    await alter(cluster, 3)
    cluster.stop_broker(3)
    cluster.metadata.change_isr(T0, 1, 2, 3)
    await cluster.brokers_changed()
    await cluster.settle()
    assert cluster.state(T0).isr == (1, 2)
    assert cluster.controller.context.being_reassigned == [T0]
    cluster.start_broker(3)
    await cluster.brokers_changed()
    await cluster.settle()
    assert cluster.replicas() == {T0: ReplicaAssignment.of(3)}
    assert cluster.state(T0).leader == 3


async def test_target_that_falls_out_of_sync_before_the_leader_moves_is_waited_for() -> None:
    cluster = await start((1, 2))
    await alter(cluster, 2, 3)
    cluster.metadata.change_isr(T0, 1, 2, 3)
    cluster.store.conflicts = [(T0, (1, 2))]
    await cluster.handle(IsrChangeNotification())
    assert cluster.controller.context.being_reassigned == [T0]
    assert cluster.state(T0).isr == (1, 2)
    assert cluster.metadata.assignment(T0).replicas == (2, 3, 1)
    await cluster.settle()
    assert cluster.replicas() == {T0: ReplicaAssignment.of(2, 3)}


async def test_target_that_falls_out_of_sync_after_the_leader_moved_is_waited_for() -> None:
    """R3: the origin is not taken out of an ISR that the target has left meanwhile."""
    cluster = await start((1, 2))
    await alter(cluster, 2, 3)
    cluster.metadata.change_isr(T0, 1, 2, 3)
    cluster.store.conflicts = [None, (T0, (2, 1))]
    await cluster.handle(IsrChangeNotification())
    assert (cluster.state(T0).leader, cluster.state(T0).isr) == (2, (2, 1))
    assert cluster.metadata.assignment(T0).replicas == (2, 3, 1)
    assert not any(
        entry.delete
        for command in cluster.channels.take(1)
        if isinstance(command, StopReplicaCommand)
        for entry in command.entries
    )


async def test_leaders_may_change_the_isr_at_every_write() -> None:
    cluster = await start((1, 2))
    cluster.store.conflicts = [(T0, (1,)), (T0, (1, 2))]
    await alter(cluster, 2, 3)
    cluster.metadata.change_isr(T0, 1, 2, 3)
    cluster.store.conflicts = [(T0, (2, 1, 3)), (T0, (1, 2, 3))]
    await cluster.handle(IsrChangeNotification())
    await cluster.settle()
    assert cluster.replicas() == {T0: ReplicaAssignment.of(2, 3)}
    assert set(cluster.state(T0).isr) == {2, 3}


async def test_cancel_moves_leadership_back_before_it_drops_the_leader() -> None:
    """The added replica leads because the originals were down; one of them is in sync again."""
    cluster = await start((1, 2))
    await alter(cluster, 3, 4)
    await cluster.isr_changed(T0, 1, 2, 3)
    cluster.stop_broker(1, 2)
    await cluster.brokers_changed()
    assert cluster.state(T0).leader == 3
    cluster.start_broker(1)
    await cluster.brokers_changed()
    await cluster.isr_changed(T0, 3, 1)
    await alter(cluster)
    assert cluster.replicas() == {T0: ReplicaAssignment.of(1, 2)}
    assert cluster.state(T0).leader == 1


async def test_override_moves_leadership_off_a_replica_it_drops() -> None:
    cluster = await start((1, 2))
    await alter(cluster, 3, 4)
    await cluster.isr_changed(T0, 1, 2, 3)
    cluster.stop_broker(1, 2)
    await cluster.brokers_changed()
    cluster.start_broker(1)
    await cluster.brokers_changed()
    await cluster.isr_changed(T0, 3, 1)
    await alter(cluster, 5, 1)
    assert (cluster.state(T0).leader, cluster.state(T0).isr) == (1, (1,))
    await cluster.settle()
    assert cluster.replicas() == {T0: ReplicaAssignment.of(5, 1)}


async def test_removed_replicas_are_told_before_the_last_trace_of_them_is_gone() -> None:
    """B5 before B6: until then a new controller would begin again and tell them."""
    queued: list[str] = []
    effects = 0
    is_pending = True
    while is_pending:
        effects += 1
        cluster = await start((1, 2))
        await alter(cluster, 2, 3)
        cluster.metadata.change_isr(T0, 1, 2, 3)
        cluster.effects.crash_after(effects)
        with pytest.raises(ControllerCrashed):
            await cluster.handle(IsrChangeNotification())
        is_pending = cluster.replicas()[T0].is_being_reassigned
        queued = [describe_command(command) for command in cluster.channels.queues[1]]
    assert queued[-1] == "StopReplica t-0 epoch=3 delete"


async def test_many_partitions_move_in_few_calls() -> None:
    count = 40
    cluster = await start(*[(1, 2)] * count)
    targets = {TopicPartition("t", n): (3, 4) for n in range(count)}
    cluster.store.calls.clear()
    await cluster.controller.alter_partition_reassignments(targets)
    assert cluster.store.calls == ["write_topics", "read_leadership", "update_leadership"]
    assert len(cluster.metadata.log) == 1 + count
    commands = [c for c in cluster.channels.queues[1] if isinstance(c, LeaderAndIsrCommand)]
    assert [len(command.entries) for command in commands] == [count]
    for topic_partition in targets:
        cluster.metadata.change_isr(topic_partition, 1, 2, 3, 4)
    cluster.store.calls.clear()
    await cluster.handle(IsrChangeNotification())
    assert cluster.store.calls.count("update_leadership") == 3  # B3, and B4 for brokers 1 and 2
    assert cluster.store.calls.count("write_topics") == 1
    assert set(cluster.replicas().values()) == {ReplicaAssignment.of(3, 4)}


async def test_one_failing_partition_does_not_hold_the_others_up() -> None:
    cluster = await start((1, 2), (1, 2))
    t1 = TopicPartition("t", 1)
    await cluster.controller.alter_partition_reassignments({T0: (3,), t1: (4,)})
    cluster.metadata.change_isr(T0, 1, 2, 3)
    cluster.metadata.change_isr(t1, 1, 2, 4)
    cluster.store.conflicts = [(T0, (1, 2))]
    await cluster.handle(IsrChangeNotification())
    assert cluster.controller.context.being_reassigned == [T0]
    assert cluster.metadata.assignment(t1) == ReplicaAssignment.of(4)


async def test_deletion_waits_for_the_move() -> None:
    cluster = await start((1, 2))
    await alter(cluster, 2, 3)
    await cluster.controller.delete_topics(["t"])
    assert not cluster.controller.context.deletion_started
    await cluster.settle()
    assert cluster.metadata.topics == {}
    assert cluster.disks == set()


# Interruption

Step = Callable[[ControllerCluster], Awaitable[None]]


def moving(*replicas: int) -> Step:
    async def step(cluster: ControllerCluster) -> None:
        await cluster.controller.alter_partition_reassignments({T0: replicas or None})

    return step


async def settling(cluster: ControllerCluster) -> None:
    await cluster.settle()


async def moving_many(cluster: ControllerCluster) -> None:
    targets = {T0: (4, 5), TopicPartition("t", 1): (2, 1), TopicPartition("v", 0): (6, 1)}
    await cluster.controller.alter_partition_reassignments(targets)


async def catching_up_halfway(cluster: ControllerCluster) -> None:
    state = cluster.state(T0)
    if cluster.metadata.assignment(T0).is_being_reassigned and 4 not in state.isr:
        cluster.metadata.change_isr(T0, *state.isr, 4)
    await cluster.handle(IsrChangeNotification())


async def asking_by_znode(cluster: ControllerCluster) -> None:
    if cluster.metadata.assignment(T0) != ReplicaAssignment.of(4, 5):
        cluster.metadata.reassignments = {T0: (4, 5), TopicPartition("unknown", 0): (1,)}
    await cluster.handle(ZkPartitionReassignment())


async def losing_target(cluster: ControllerCluster) -> None:
    if 4 in cluster.metadata.brokers:
        cluster.stop_broker(4)
    await cluster.brokers_changed()


async def losing_leader(cluster: ControllerCluster) -> None:
    if 1 in cluster.metadata.brokers:
        cluster.stop_broker(1)
    await cluster.brokers_changed()


async def everyone_back(cluster: ControllerCluster) -> None:
    for broker_id in (1, 4):
        if broker_id not in cluster.metadata.brokers:
            cluster.start_broker(broker_id)
    await cluster.brokers_changed()


async def deleting(cluster: ControllerCluster) -> None:
    await cluster.controller.delete_topics(["t"])


async def preferring(cluster: ControllerCluster) -> None:
    await cluster.controller.elect_leaders(ElectionType.PREFERRED, None)


SCENARIOS: dict[str, Sequence[Step]] = {
    "move": (moving(4, 5), settling),
    "grow and shrink": (moving(1, 2, 3, 4), settling, moving(4), settling),
    "reorder": (moving(2, 3, 1), settling, preferring, settling),
    "override": (moving(4, 5), moving(6, 1), settling),
    "override in sync": (moving(4, 5), catching_up_halfway, moving(6, 1), settling),
    "cancel": (moving(4, 5), moving(), settling),
    "cancel in sync": (moving(4, 5), catching_up_halfway, moving(), settling),
    "many": (moving_many, settling),
    "znode": (asking_by_znode, settling),
    "znode supplanted": (asking_by_znode, moving(6, 2), settling),
    "target lost": (moving(4, 5), losing_target, settling, everyone_back, settling),
    "leader lost": (moving(4, 5), losing_leader, settling, everyone_back, settling),
    "delete": (deleting, settling),
    "delete in a move": (moving(4, 5), deleting, settling),
}


async def interrupted_cluster() -> ControllerCluster:
    cluster = await start((1, 2, 3), (1, 2))
    cluster.add_topic("v", (3, 2))
    await cluster.handle(TopicChange())
    await cluster.settle()
    return cluster


async def run(cluster: ControllerCluster, steps: Sequence[Step], *, second_crash: int = 0) -> int:
    """Run the steps; after a crash fail over and, like any client, ask again.

    Returns how many times the controller crashed.
    """
    crashes = 0
    remaining = [*steps]
    while remaining:
        try:
            await remaining[0](cluster)
            remaining.pop(0)
        except ControllerCrashed:
            crashes += 1
            if second_crash and crashes == 1:
                cluster.effects.crash_after(second_crash)
            remaining.insert(0, failing_over)
    return crashes


async def failing_over(cluster: ControllerCluster) -> None:
    await cluster.fail_over()
    cluster.controller.context.check_invariants()


def outcome(cluster: ControllerCluster) -> object:
    """Return what must not depend on crashes: assignments, in-sync sets, what is left to do."""
    metadata = cluster.metadata
    return (
        cluster.replicas(),
        {tp: frozenset(state.isr) for tp, state in metadata.states.items()},
        metadata.reassignments,
        metadata.deletions,
    )


@pytest.mark.parametrize("second_crash", [0, 1, 3], ids=["once", "twice", "later again"])
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_interrupted_after_any_effect_it_ends_the_same(
    scenario: str, second_crash: int
) -> None:
    """C8 and R6; R1, R2, R4 are asserted by the cluster after every effect."""
    steps = SCENARIOS[scenario]
    reference = await interrupted_cluster()
    before = reference.effects.count
    await run(reference, steps)
    assert not reference.controller.context.being_reassigned
    for effects in range(1, reference.effects.count - before + 1):
        cluster = await interrupted_cluster()
        cluster.effects.crash_after(effects)
        assert await run(cluster, steps, second_crash=second_crash) >= 1
        assert outcome(cluster) == outcome(reference), f"crash after effect {effects}"
