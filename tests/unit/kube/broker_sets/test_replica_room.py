import pytest

from ballast.kube.broker_sets import replica_room
from ballast.kube.broker_sets.replica_room import ReplicaRoom, read_room
from ballast.model.ids import TopicPartition
from tests.fakes.cluster_admin import FakeAdmin, FakeCluster

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def scene() -> FakeAdmin:
    cluster = FakeCluster(0, 1, 2, copy_rate=0.0)
    cluster.add("t", 0, 0, 1, size=100)
    cluster.add("t", 1, 1, 2, size=30)
    cluster.partitions[P0].sizes[1] = 140
    return FakeAdmin(cluster)


async def room(admin: FakeAdmin) -> ReplicaRoom:
    return await read_room(admin, await admin.describe_cluster(), await admin.list_reassignments())


async def test_a_replica_is_as_large_as_its_leader() -> None:
    found = await room(scene())
    assert found.bytes_of == {P0: 100, P1: 30}
    assert found.held == {0: 100, 1: 170, 2: 30}
    assert found.size(TopicPartition("u", 0)) == 0


async def test_what_is_on_its_way_counts_already() -> None:
    admin = scene()
    admin.cluster.reassign(P0, (0, 2))
    assert (await room(admin)).held[2] == 130


async def test_of_silent_brokers_nothing_is_known() -> None:
    admin = scene()
    admin.unreachable = {0}
    found = await room(admin)
    assert found.bytes_of == {P0: 140, P1: 30}
    assert found.held.keys() == {1, 2}


async def test_a_cluster_that_is_too_large_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_room, "MAX_SIZED_PARTITIONS", 1)
    assert await room(scene()) == ReplicaRoom()
