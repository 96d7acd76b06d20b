"""Many conditional writes at once: stale ones are found, lost replies resolved, nothing twice."""

import random

import pytest
from msgspec.structs import replace

from ballast.controller.ports import LeadershipWrites
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.zk.fencing import MAX_OPERATIONS
from ballast.zk.leadership_writes import RUNS_IN_FLIGHT
from ballast.znodes import partition_states
from tests.fakes.zookeeper import FakeZooKeeper
from tests.unit.zk.stores import Controller, controller, server, state, topic, tp

COUNT = 700


async def populate(elected: Controller) -> dict[TopicPartition, LeaderAndIsr]:
    wide = topic("t", **{f"p{number}": (1, 2) for number in range(COUNT)})
    await elected.store.create_topic(wide, {})
    created = await elected.store.create_leadership(
        {tp(number): state() for number in range(COUNT)}
    )
    return dict(created.written)


async def test_stale_states_do_not_hold_up_the_others() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        states = await populate(elected)
        stale = {tp(0), tp(498), tp(499), tp(650)}
        for partition in sorted(stale):
            path = partition_states.path(partition)
            zookeeper.put(path, zookeeper.data(path) or b"")
        before = len(zookeeper.log)
        moved = await elected.store.update_leadership(
            {p: replace(s, leader=2, leader_epoch=1) for p, s in states.items()}
        )
        assert moved.stale == stale
        assert set(moved.written) == set(states) - stale
        assert {s.zk_version for s in moved.written.values()} == {1}
        # Two multis for all: any number of stale states costs one more round.
        assert len(zookeeper.log) - before == 2


async def test_partitions_that_are_gone_are_stale() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        states = await populate(elected)
        gone = TopicPartition("gone", 0)
        moved = await elected.store.update_leadership({tp(0): states[tp(0)], gone: state()})
        assert moved.stale == {gone}
        assert await elected.store.create_leadership({gone: state()}) == LeadershipWrites(
            written={}, stale=frozenset({gone})
        )
        assert zookeeper.data("/brokers/topics/gone") is None


async def test_anothers_equal_write_is_not_taken_for_ones_own() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        states = await populate(elected)
        mine = replace(states[tp(0)], leader=2, leader_epoch=1)
        zookeeper.put(partition_states.path(tp(0)), partition_states.encode(mine))
        assert (await elected.store.update_leadership({tp(0): mine})).stale == {tp(0)}


@pytest.mark.parametrize("seed", range(30))
async def test_after_any_lost_replies_versions_tell_the_truth(seed: int) -> None:
    """What is called written is written once; what is called stale was changed by another."""
    rng = random.Random(seed)
    zookeeper = FakeZooKeeper(rng, session_timeout_s=2.0)
    async with controller(zookeeper) as elected:
        states = await populate(elected)
        others: set[TopicPartition] = set()

        def disturb(_: object) -> None:
            if rng.random() < 0.5:
                zookeeper.disconnect("controller")
            if rng.random() < 0.3 and len(others) < 20:
                partition = tp(rng.randrange(COUNT))
                others.add(partition)
                path = partition_states.path(partition)
                zookeeper.put(path, zookeeper.data(path) or b"")

        zookeeper.after_write.append(disturb)
        moved = await elected.store.update_leadership(
            {p: replace(s, leader=2, leader_epoch=1) for p, s in states.items()}
        )
        zookeeper.after_write.clear()
        assert set(moved.written) | moved.stale == set(states)
        assert moved.stale <= others
        assert {s.zk_version for s in moved.written.values()} == {1}
        for partition in moved.written:
            stat = zookeeper.stat(partition_states.path(partition))
            assert stat is not None
            assert stat.version == 1 or partition in others


async def test_new_partitions_of_an_old_topic() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        await elected.store.create_topic(topic(p0=(1,), p1=(1,)), {})
        await elected.store.create_leadership({tp(0): state()})
        zookeeper.put("/brokers/topics/t/partitions/1")
        made = await elected.store.create_leadership(
            {tp(1): state(), tp(2): state(), tp(0): state()}
        )
        assert made == LeadershipWrites(
            written={tp(1): state(), tp(2): state()}, stale=frozenset({tp(0)})
        )


async def test_more_than_may_be_in_flight_are_written_in_order_and_each_once() -> None:
    zookeeper = server()
    count = (RUNS_IN_FLIGHT + 2) * (MAX_OPERATIONS - 1) + 1
    async with controller(zookeeper) as elected:
        wide = topic("t", **{f"p{number}": (1, 2) for number in range(count)})
        await elected.store.create_topic(wide, {})
        states = (
            await elected.store.create_leadership({tp(number): state() for number in range(count)})
        ).written
        before = len(zookeeper.log)
        moved = await elected.store.update_leadership(
            {p: replace(s, leader=2, leader_epoch=1) for p, s in states.items()}
        )
        assert set(moved.written) == set(states)
        records = zookeeper.log[before:]
        assert len(records) == RUNS_IN_FLIGHT + 3
        written = [o.path for record in records for o in record.operations if o.name != "check"]
        assert written == [partition_states.path(tp(number)) for number in range(count)]
