"""A broker's writes: unknown outcomes surface, races are lost gracefully."""

import asyncio
import random

import pytest
from msgspec.structs import replace

from ballast.zk.broker_store.store import BrokerStore, IsrCommitted, IsrConflict
from ballast.zk.errors import ConnectionLoss
from ballast.znodes import layout, partition_states
from ballast.znodes.errors import ZnodeError
from tests.fakes.zookeeper import FakeZooKeeper
from tests.unit.zk.stores import server, session, state, tp

STATE = partition_states.path(tp())


@pytest.mark.parametrize("seed", range(20))
async def test_an_isr_change_of_unknown_outcome_is_resolved_by_repeating(seed: int) -> None:
    zookeeper = FakeZooKeeper(random.Random(seed), session_timeout_s=2.0)
    zookeeper.put(STATE, partition_states.encode(state()))
    shrunk = replace(state(), isr=(1,))
    async with session(zookeeper, "one") as client:
        store = BrokerStore(client)
        asyncio.get_running_loop().call_later(0.001, zookeeper.disconnect, "one")
        try:
            outcome = await store.alter_isr(tp(), shrunk)
        except ConnectionLoss:
            current = await store.read_leadership(tp())
            assert current in (state(), replace(shrunk, zk_version=1))
            outcome = await store.alter_isr(tp(), shrunk)
        assert outcome == IsrCommitted(leadership=replace(shrunk, zk_version=1))
        stat = zookeeper.stat(STATE)
        assert stat is not None
        assert stat.version == 1


async def test_the_outcome_is_unknown_when_the_reply_is_lost() -> None:
    zookeeper = server()
    zookeeper.put(STATE, partition_states.encode(state()))
    async with session(zookeeper, "one") as client:
        zookeeper.after_write.append(lambda _: zookeeper.disconnect("one"))
        with pytest.raises(ConnectionLoss):
            await BrokerStore(client).alter_isr(tp(), replace(state(), isr=(1,)))


async def test_a_newer_leadership_wins() -> None:
    zookeeper = server()
    zookeeper.put(STATE, partition_states.encode(state()))
    zookeeper.put(STATE, partition_states.encode(state(2, 1)))
    async with session(zookeeper, "one") as client:
        assert await BrokerStore(client).alter_isr(tp(), replace(state(), isr=(1,))) == IsrConflict(
            leadership=state(2, 1, zk_version=1)
        )


async def test_a_poisoned_state_is_told() -> None:
    zookeeper = server()
    zookeeper.put(STATE, b"{}")
    async with session(zookeeper, "one") as client:
        with pytest.raises(ZnodeError):
            await BrokerStore(client).read_leadership(tp())
        assert await BrokerStore(client).read_leadership(tp(9)) is None


async def test_paths_are_made_once() -> None:
    zookeeper = server()
    async with session(zookeeper, "one") as client:
        await BrokerStore(client).ensure_paths()
        made = [operation.path for record in zookeeper.log for operation in record.operations]
        assert tuple(made) == layout.PERSISTENT_PATHS
        await BrokerStore(client).ensure_paths()
        assert len(zookeeper.log) == len(made)


@pytest.mark.parametrize("seed", range(10))
async def test_producer_ids_are_never_given_twice(seed: int) -> None:
    zookeeper = FakeZooKeeper(random.Random(seed), session_timeout_s=2.0)
    zookeeper.put("/latest_producer_id_block")
    given: list[range] = []

    async def take(host: str) -> None:
        async with session(zookeeper, host) as client:
            for _ in range(5):
                given.append(await BrokerStore(client).allocate_producer_ids(1))
                zookeeper.disconnect(host)

    async with asyncio.TaskGroup() as tasks:
        for host in "abc":
            tasks.create_task(take(host))
    starts = [block.start for block in given]
    assert len(set(starts)) == 15
    assert all(len(block) == 1000 and block.start % 1000 == 0 for block in given)
