"""What people ask about reassignments (article 002, Q&A); each test carries its question.

Two of the ten are about throttles and concern brokers: see tests/SEEDS.md.
"""

import pytest

from ballast.controller.machines.elections import ElectionType
from ballast.controller.state.control_requests import (
    LeaderAndIsrControlRequest,
    StopReplicaControlRequest,
)
from ballast.controller.state.events import ZkPartitionReassignment
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from tests.fakes.controller_cluster import ControllerCluster
from tests.fakes.metadata_store import ControllerCrashed

T0 = TopicPartition("t", 0)


async def start(*replicas: int) -> ControllerCluster:
    cluster = ControllerCluster()
    cluster.start_broker(0, 1, 2, 3)
    cluster.add_topic("t", replicas)
    await cluster.fail_over()
    await cluster.settle()
    return cluster


async def move(cluster: ControllerCluster, *target: int) -> None:
    answers = await cluster.controller.alter_partition_reassignments({T0: target})
    assert answers == {T0: None}


@pytest.mark.parametrize("target", [(0, 1, 2), (2, 0, 1)])
async def test_added_replicas(target: tuple[int, ...]) -> None:
    """Replicas [0, 1] become [0, 1, 2] or [2, 0, 1]. Does the leader change? No."""
    cluster = await start(0, 1)
    await move(cluster, *target)
    await cluster.settle()
    assert cluster.replicas() == {T0: ReplicaAssignment.of(*target)}
    assert cluster.state(T0).leader == 0


@pytest.mark.parametrize(("target", "leader"), [((0, 1), 0), ((2, 0), 0), ((1, 2), 1), ((2, 1), 2)])
async def test_removed_replicas(target: tuple[int, ...], leader: int) -> None:
    """Replicas [0, 1, 2] lose one. Is a leader elected? Only if the leader is the one to go.

    Then it is the first of the target replicas that lives and is in sync.
    """
    cluster = await start(0, 1, 2)
    await move(cluster, *target)
    await cluster.settle()
    assert cluster.state(T0).leader == leader
    assert set(cluster.state(T0).isr) == {*target}


async def test_deletion_meanwhile() -> None:
    """What does a deletion do while the topic is being reassigned? It waits, then goes on."""
    cluster = await start(0, 1)
    await move(cluster, 2, 3)
    assert await cluster.controller.delete_topics(["t"]) == {"t": None}
    requests = [c for queue in cluster.channels.queues.values() for c in queue]
    assert not any(isinstance(request, StopReplicaControlRequest) for request in requests)
    await cluster.isr_changed(T0, 0, 1, 2, 3)
    await cluster.settle()
    assert (cluster.metadata.topics, cluster.disks) == ({}, set())


async def test_when_replicas_are_added() -> None:
    """When do replicas come? With LeaderAndIsr, as soon as the intent is stored; ISR later."""
    cluster = await start(0, 1)
    await move(cluster, 0, 2)
    assert cluster.replicas()[T0].adding_replicas == (2,)
    first = cluster.channels.queues[2][0]
    assert isinstance(first, LeaderAndIsrControlRequest)
    assert first.entries[0].is_new
    assert 2 not in cluster.state(T0).isr
    await cluster.settle()
    assert 2 in cluster.state(T0).isr
    assert (2, T0) in cluster.disks


async def test_when_replicas_are_removed() -> None:
    """When do replicas go? When the targets are in sync: stopped, out of the ISR, then deleted."""
    cluster = await start(0, 1)
    await move(cluster, 0, 2)
    cluster.channels.take_all()
    await cluster.isr_changed(T0, 0, 1)
    assert cluster.channels.queues[1] != []
    assert not any(isinstance(c, StopReplicaControlRequest) for c in cluster.channels.take(1))
    await cluster.isr_changed(T0, 0, 1, 2)
    stops = [c for c in cluster.channels.take(1) if isinstance(c, StopReplicaControlRequest)]
    assert [entry.delete for stop in stops for entry in stop.entries] == [False, True]
    assert cluster.state(T0).isr == (0, 2)


async def test_a_znode_made_by_hand() -> None:
    """Can /admin/reassign_partitions be made by hand? Yes; what is wrong in it is taken out."""
    cluster = await start(0, 1)
    cluster.metadata.reassignments = {T0: (2, 3), TopicPartition("gone", 0): (1,)}
    await cluster.handle(ZkPartitionReassignment())
    assert cluster.metadata.reassignments == {T0: (2, 3)}
    await cluster.settle()
    assert cluster.replicas() == {T0: ReplicaAssignment.of(2, 3)}
    assert cluster.metadata.reassignments == {}


async def test_another_order() -> None:
    """Replicas [0, 1, 2] become [2, 1, 0]. Are some made anew, is a leader elected? Neither.

    The next preferred election makes the first replica the leader.
    """
    cluster = await start(0, 1, 2)
    disks = set(cluster.disks)
    await move(cluster, 2, 1, 0)
    requests = [c for queue in cluster.channels.queues.values() for c in queue]
    assert not any(isinstance(request, StopReplicaControlRequest) for request in requests)
    await cluster.settle()
    assert cluster.replicas() == {T0: ReplicaAssignment.of(2, 1, 0)}
    assert (cluster.state(T0).leader, cluster.disks) == (0, disks)
    await cluster.controller.elect_leaders(ElectionType.PREFERRED, [T0])
    assert cluster.state(T0).leader == 2


async def test_another_controller() -> None:
    """Does a reassignment go on when another controller is elected? Yes, from what is stored."""
    cluster = await start(0, 1)
    cluster.effects.crash_after(1)
    with pytest.raises(ControllerCrashed):
        await move(cluster, 2, 3)
    cluster.effects.never_crash()
    assert cluster.replicas()[T0].adding_replicas == (2, 3)
    await cluster.fail_over()
    await cluster.settle()
    assert cluster.replicas() == {T0: ReplicaAssignment.of(2, 3)}
