"""The phases of a reassignment: table, order, many partitions at once, every interruption."""

import pytest

from ballast.controller.state.control_requests import (
    LeaderAndIsrControlRequest,
    StopReplicaControlRequest,
)
from ballast.controller.state.events import IsrChangeNotification
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from tests.fakes.broker_channels import describe_control_request
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
    stops = [c for c in cluster.channels.take(1) if isinstance(c, StopReplicaControlRequest)]
    assert [describe_control_request(stop) for stop in stops] == [
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
        for request in cluster.channels.take(1)
        if isinstance(request, StopReplicaControlRequest)
        for entry in request.entries
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
        queued = [describe_control_request(request) for request in cluster.channels.queues[1]]
    assert queued[-1] == "StopReplica t-0 epoch=3 delete"


async def test_many_partitions_move_in_few_calls() -> None:
    count = 40
    cluster = await start(*[(1, 2)] * count)
    targets = {TopicPartition("t", n): (3, 4) for n in range(count)}
    cluster.store.calls.clear()
    await cluster.controller.alter_partition_reassignments(targets)
    assert cluster.store.calls == ["write_topics", "read_leadership", "update_leadership"]
    assert len(cluster.metadata.log) == 1 + count
    requests = [c for c in cluster.channels.queues[1] if isinstance(c, LeaderAndIsrControlRequest)]
    assert [len(request.entries) for request in requests] == [count]
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
