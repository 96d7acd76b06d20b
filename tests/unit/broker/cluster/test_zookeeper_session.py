import asyncio
import random

import pytest

from ballast.broker.cluster.zookeeper_session import MAX_SESSIONS, ZooKeeperSession
from ballast.zk.broker_store.store import BrokerStore
from ballast.zk.errors import NoNode, SessionExpired
from tests.fakes.zookeeper import FakeZooKeeper


async def test_whoever_needs_the_store_waits_for_a_session() -> None:
    session = ZooKeeperSession()
    store = BrokerStore(FakeZooKeeper(random.Random(1)).connect())
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(session.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        session.opened(store)
    assert waiting.result() is store
    session.ended()
    assert session.store is None


def stores(count: int) -> list[BrokerStore]:
    zookeeper = FakeZooKeeper(random.Random(1))
    return [BrokerStore(zookeeper.connect()) for _ in range(count)]


async def test_a_call_is_made_again_in_the_next_session() -> None:
    session, (first, second) = ZooKeeperSession(), stores(2)
    used: list[BrokerStore] = []

    async def call(store: BrokerStore) -> str:
        used.append(store)
        if store is first:
            session.ended()
            asyncio.get_running_loop().call_later(5, session.opened, second)
            raise SessionExpired
        return "done"

    session.opened(first)
    assert await session.use(call) == "done"
    assert used == [first, second]


async def test_sessions_that_keep_expiring_and_other_errors_end_a_call() -> None:
    session, (store,) = ZooKeeperSession(), stores(1)
    session.opened(store)
    attempts: list[int] = []

    async def expire(_: BrokerStore) -> None:
        attempts.append(1)
        raise SessionExpired

    async def fail(_: BrokerStore) -> None:
        raise NoNode

    with pytest.raises(SessionExpired):
        await session.use(expire)
    assert len(attempts) == MAX_SESSIONS
    with pytest.raises(NoNode):
        await session.use(fail)
