"""Removed replicas whose broker could not hear of it are deleted when it comes back."""

import pytest

from ballast.controller.errors import ControllerMoved
from ballast.controller.state.events import StopReplicaAnswered
from ballast.controller.state.states import Replica
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from tests.fakes.controller_cluster import ControllerCluster

T0 = TopicPartition("t", 0)


async def start() -> ControllerCluster:
    """Complete [1, 2] -> [2, 3] while broker 1 is down."""
    cluster = ControllerCluster()
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", (1, 2))
    await cluster.fail_over()
    await cluster.controller.alter_partition_reassignments({T0: (2, 3)})
    cluster.stop_broker(1)
    await cluster.brokers_changed()
    await cluster.settle()
    assert cluster.replicas() == {T0: ReplicaAssignment.of(2, 3)}
    assert (1, T0) in cluster.disks
    return cluster


async def test_a_broker_that_comes_back_deletes_what_was_taken_from_it() -> None:
    cluster = await start()
    assert cluster.controller.context.strays == {Replica(T0, 1)}
    cluster.start_broker(1)
    await cluster.brokers_changed()
    await cluster.settle()
    assert cluster.disks == {(2, T0), (3, T0)}
    assert cluster.controller.context.strays == set()


async def test_a_cancel_leaves_no_stray_either() -> None:
    cluster = await start()
    await cluster.controller.alter_partition_reassignments({T0: (3, 2)})
    cluster.start_broker(1)
    await cluster.brokers_changed()
    await cluster.settle()
    await cluster.controller.alter_partition_reassignments({T0: (1, 3)})
    cluster.channels.take(1)
    cluster.stop_broker(1)
    await cluster.brokers_changed()
    await cluster.controller.alter_partition_reassignments({T0: None})
    cluster.disks.add((1, T0))
    cluster.start_broker(1)
    await cluster.brokers_changed()
    await cluster.settle()
    assert cluster.disks == {(2, T0), (3, T0)}


async def test_a_stray_that_is_assigned_again_is_kept() -> None:
    cluster = await start()
    cluster.start_broker(1)
    await cluster.brokers_changed()
    await cluster.controller.alter_partition_reassignments({T0: (1, 2, 3)})
    assert cluster.controller.context.strays == set()
    await cluster.settle()
    assert cluster.disks == {(1, T0), (2, T0), (3, T0)}


async def test_a_failed_deletion_is_remembered() -> None:
    cluster = await start()
    for error, partition_error in (("STALE_BROKER_EPOCH", "NONE"), ("NONE", "KAFKA_STORAGE_ERROR")):
        answer = StopReplicaAnswered(
            broker_id=1,
            error=error,
            partition_errors={T0: partition_error},
            deleted=frozenset({T0}),
        )
        await cluster.handle(answer)
        assert cluster.controller.context.strays == {Replica(T0, 1)}


async def test_a_deposed_controller_deletes_nothing() -> None:
    """It still sees brokers come, for reads are not fenced; a write comes before the deletion."""
    cluster = await start()
    cluster.start_broker(1)
    cluster.metadata.controller_epoch += 1
    with pytest.raises(ControllerMoved):
        await cluster.brokers_changed()
    cluster._deliver()
    assert (1, T0) in cluster.disks
