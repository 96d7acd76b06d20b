"""Many conditional writes at once: stale ones are found, lost replies resolved, nothing twice."""

import random
from collections.abc import Sequence
from typing import cast

import pytest
from msgspec.structs import replace

from ballast.controller.errors import ControllerMoved
from ballast.controller.state.ports import StateZnodeWrites
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.zk.client import Operation, OperationResult, Stat, ZooKeeperClient
from ballast.zk.controller_store.fencing import MAX_OPERATIONS, FencedWriter
from ballast.zk.controller_store.state_znodes import RUNS_IN_FLIGHT, StateZnodeWriter
from ballast.zk.errors import ConnectionLoss, MultiFailed, NotEmpty, SessionExpired
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
        assert await elected.store.create_leadership({gone: state()}) == StateZnodeWrites(
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
        assert made == StateZnodeWrites(
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


class Answers(FencedWriter):
    """Lets a script say how the next multis end; nothing is written without it."""

    def __init__(self, client: ZooKeeperClient, *script: Exception | None) -> None:
        super().__init__(client, 0)
        self._script = list(script)

    async def multi(self, operations: Sequence[Operation]) -> list[OperationResult]:
        failure = self._script.pop(0) if self._script else None
        if failure is None or isinstance(failure, ConnectionLoss):
            results = await self._client.multi(operations)
        if failure is not None:
            raise failure
        return results


@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (MultiFailed(0, NotEmpty("x")), NotEmpty),
        (SessionExpired("over"), SessionExpired),
        (ControllerMoved("elsewhere"), ControllerMoved),
    ],
)
async def test_what_ends_a_call_is_raised_once_everything_is_answered(
    failure: Exception, raised: type[Exception]
) -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        states = await populate(elected)
        writer = StateZnodeWriter(elected.client, Answers(elected.client, failure))
        changes = {p: replace(s, leader=2, leader_epoch=1) for p, s in states.items()}
        with pytest.raises(raised):
            await writer.update(changes)
        written = [n for n in range(COUNT) if version_of(zookeeper, tp(n)) == 1]
        assert written == list(range(MAX_OPERATIONS - 1, COUNT))


def version_of(zookeeper: FakeZooKeeper, partition: TopicPartition) -> int:
    stat = zookeeper.stat(partition_states.path(partition))
    assert stat is not None
    return stat.version


class LaggingClient:
    """A client on a server that is behind until it was asked to sync."""

    def __init__(self, client: ZooKeeperClient) -> None:
        self._client = client
        self._old: dict[str, tuple[bytes, Stat] | None] | None = None

    async def fall_behind(self, paths: Sequence[str]) -> None:
        found = await self._client.multi_read(paths)
        self._old = dict(zip(paths, found, strict=True))

    async def multi(self, operations: Sequence[Operation]) -> list[OperationResult]:
        return await self._client.multi(operations)

    async def multi_read(self, paths: Sequence[str]) -> list[tuple[bytes, Stat] | None]:
        if self._old is not None:
            return [self._old[path] for path in paths]
        return await self._client.multi_read(paths)

    async def sync(self, path: str) -> None:
        await self._client.sync(path)
        self._old = None

    async def wait_connected(self) -> None:
        await self._client.wait_connected()


async def test_after_a_lost_reply_nothing_is_believed_of_a_server_that_lags() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        states = await populate(elected)
        lagging = LaggingClient(elected.client)
        await lagging.fall_behind([partition_states.path(tp(0))])
        client = cast("ZooKeeperClient", lagging)
        writer = StateZnodeWriter(client, Answers(client, ConnectionLoss("no reply")))
        change = replace(states[tp(0)], leader=2, leader_epoch=1)
        moved = await writer.update({tp(0): change})
        assert moved == StateZnodeWrites(
            written={tp(0): replace(change, zk_version=1)}, stale=frozenset()
        )
