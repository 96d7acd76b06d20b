"""Taking over: order, resumption, and what a controller that died in the middle leaves."""

import pytest
from msgspec.structs import replace

from ballast.controller.errors import ControllerMoved
from ballast.controller.state.control_requests import (
    LeaderAndIsrControlRequest,
    UpdateMetadataControlRequest,
)
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from tests.fakes.controller_cluster import ControllerCluster
from tests.fakes.metadata_store import ControllerCrashed, describe_state

T0 = TopicPartition("t", 0)


async def start(*assignments: tuple[int, ...]) -> ControllerCluster:
    cluster = ControllerCluster()
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", *assignments)
    await cluster.fail_over()
    return cluster


async def test_brokers_hear_who_lives_before_who_leads() -> None:
    """KAFKA-4443."""
    cluster = await start((1, 2))
    for broker_id in (1, 2):
        first, second = cluster.channels.queues[broker_id][:2]
        assert isinstance(first, UpdateMetadataControlRequest)
        assert first.entries == ()
        assert [broker.broker_id for broker in first.live_brokers] == [1, 2, 3]
        assert isinstance(second, LeaderAndIsrControlRequest)


async def test_a_quiet_cluster_is_taken_over_without_a_write() -> None:
    cluster = await start((1, 2), (2, 3))
    await cluster.settle()
    cluster.metadata.log.clear()
    await cluster.fail_over()
    assert cluster.metadata.log == []
    cluster.controller.context.check_invariants()


async def test_leaders_that_died_without_a_controller_are_replaced() -> None:
    cluster = await start((1, 2))
    cluster.stop_broker(1)
    await cluster.fail_over()
    assert describe_state(T0, cluster.state(T0)).startswith("state t-0 leader=2 epoch=")
    assert cluster.state(T0).isr == (2,)


async def test_a_store_written_by_a_later_controller_ends_this_one() -> None:
    cluster = await start((1, 2))
    later = replace(cluster.metadata.states[T0], controller_epoch=99)
    cluster.metadata.put_state(T0, later)
    with pytest.raises(ControllerMoved):
        await cluster.fail_over()


async def test_an_in_sync_replica_left_by_a_half_cancelled_move_is_expelled() -> None:
    """The fallen controller had stored the cancel (U1) and stopped nobody yet (U3)."""
    cluster = await start((1, 2))
    await cluster.controller.alter_partition_reassignments({T0: (3, 2)})
    await cluster.settle()
    await cluster.controller.alter_partition_reassignments({T0: (1, 2, 3)})
    cluster.metadata.change_isr(T0, 2, 3, 1)
    cluster.effects.crash_after(1)
    with pytest.raises(ControllerCrashed):
        await cluster.controller.alter_partition_reassignments({T0: None})
    assert cluster.replicas() == {T0: ReplicaAssignment.of(2, 3)}
    assert cluster.state(T0).isr == (2, 3, 1)
    cluster.disks.add((1, T0))
    await cluster.fail_over()
    await cluster.settle()
    assert set(cluster.state(T0).isr) == {2, 3}
    assert cluster.disks == {(2, T0), (3, T0)}


async def test_a_stray_that_leads_hands_over_first() -> None:
    cluster = await start((1, 2))
    state = cluster.metadata.states[T0]
    moved = replace(state, leader=3, leader_epoch=state.leader_epoch + 1, isr=(3, 2))
    cluster.metadata.put_state(T0, moved)
    await cluster.fail_over()
    await cluster.settle()
    assert cluster.state(T0).leader == 2
    assert set(cluster.state(T0).isr) == {1, 2}


async def delete_to_the_end(cluster: ControllerCluster) -> None:
    await cluster.controller.delete_topics(["t"])
    await cluster.settle()


async def test_a_half_deleted_topic_is_deleted_to_the_end() -> None:
    reference = await start((1, 2), (2, 3))
    reference.metadata.configs["t"] = {"retention.ms": "1"}
    await reference.settle()
    before = reference.effects.count
    await delete_to_the_end(reference)
    for effects in range(1, reference.effects.count - before):
        cluster = await start((1, 2), (2, 3))
        cluster.metadata.configs["t"] = {"retention.ms": "1"}
        await cluster.settle()
        cluster.effects.crash_after(effects)
        with pytest.raises(ControllerCrashed):
            await delete_to_the_end(cluster)
        await cluster.fail_over()
        await cluster.settle()
        metadata = cluster.metadata
        assert not metadata.topics
        assert not metadata.states
        assert not metadata.configs
        assert not metadata.deletions
        assert not cluster.disks
