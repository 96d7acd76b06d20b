import asyncio
import random

from ballast.broker.session import Session
from ballast.zk.broker_store import BrokerStore
from tests.fakes.zookeeper import FakeZooKeeper


async def test_whoever_needs_the_store_waits_for_a_session() -> None:
    session = Session()
    store = BrokerStore(FakeZooKeeper(random.Random(1)).connect())
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(session.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        session.opened(store)
    assert waiting.result() is store
    session.ended()
    assert session.store is None
