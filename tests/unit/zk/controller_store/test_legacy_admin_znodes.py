"""Rewriting /admin/reassign_partitions: one's own writes are no news, others' are."""

from ballast.controller.state.events import ZkPartitionReassignment, ZkPreferredElection
from ballast.zk.client import Create, Delete, Operation, SetData
from tests.unit.zk.stores import controller, server, tp

PATH = "/admin/reassign_partitions"
EMPTY = b'{"version":1,"partitions":[]}'


async def test_creation_change_and_deletion_by_another_hand_are_events() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        operations: list[Operation] = [Create(PATH, EMPTY), SetData(PATH, EMPTY), Delete(PATH)]
        for number, operation in enumerate(operations):
            await elected.store.read_reassignments()
            zookeeper.write(operation)
            await elected.client.sync("/")
            assert elected.events == [ZkPartitionReassignment()] * (number + 1)


async def test_own_writes_are_no_events_but_later_ones_of_others_are() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        store = elected.store
        zookeeper.put(PATH, EMPTY)
        await store.read_reassignments()
        await store.write_reassignments({tp(0): (1, 2), tp(1): (2, 3)})
        await store.write_reassignments({tp(1): (2, 3)})
        assert elected.events == []
        zookeeper.put(PATH, EMPTY)
        await elected.client.sync("/")
        assert elected.events == [ZkPartitionReassignment()]
        await store.write_reassignments({})
        await store.write_reassignments({})
        assert zookeeper.data(PATH) is None
        zookeeper.put(PATH, EMPTY)
        await elected.client.sync("/")
        assert elected.events == [ZkPartitionReassignment()] * 2


async def test_a_write_between_own_write_and_rearming_is_not_missed() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        zookeeper.put(PATH, EMPTY)
        await elected.store.read_reassignments()

        def overtake(_: object) -> None:
            zookeeper.after_write.clear()
            zookeeper.put(PATH, EMPTY)

        zookeeper.after_write.append(overtake)
        await elected.store.write_reassignments({tp(0): (1, 2)})
        assert elected.events == [ZkPartitionReassignment()]


async def test_the_end_of_an_election_arms_the_next() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        path = "/admin/preferred_replica_election"
        zookeeper.put(path, b'{"version":1,"partitions":[{"topic":"t","partition":0}]}')
        assert await elected.store.read_preferred_elections() == {tp(0)}
        await elected.store.delete_preferred_elections()
        await elected.client.sync("/")
        assert elected.events == [ZkPreferredElection()]
        assert await elected.store.read_preferred_elections() == frozenset()
        zookeeper.put(path, EMPTY)
        await elected.client.sync("/")
        assert elected.events == [ZkPreferredElection()] * 2
