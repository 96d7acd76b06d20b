"""Registration: lost replies, predecessors, expired sessions."""

import asyncio
import random

import pytest

from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.zk.broker_store.store import BrokerStore
from ballast.zk.errors import AlreadyRegistered, NoNode
from tests.fakes.zookeeper import FakeZooKeeper
from tests.unit.zk.stores import server, session

BROKER = RegisteredBroker(broker_id=1, endpoints=(Endpoint(host="h", port=1),))
PATH = "/brokers/ids/1"


async def test_create_and_set_are_one_transaction() -> None:
    zookeeper = server()
    zookeeper.put("/brokers/ids")
    async with session(zookeeper, "one") as client:
        epoch = await BrokerStore(client).register(BROKER, 0)
        record = zookeeper.log[-1]
        assert [(o.name, o.path, o.is_ephemeral) for o in record.operations] == [
            ("create", PATH, True),
            ("set", PATH, False),
        ]
        stat = zookeeper.stat(PATH)
        assert stat is not None
        assert (stat.version, stat.czxid, record.zxid) == (1, epoch, epoch)


@pytest.mark.parametrize("seed", range(20))
async def test_lost_replies(seed: int) -> None:
    zookeeper = FakeZooKeeper(random.Random(seed), session_timeout_s=2.0)
    zookeeper.put("/brokers/ids")
    async with session(zookeeper, "one") as client:

        def cut(_: object) -> None:
            zookeeper.after_write.clear()
            zookeeper.disconnect("one")

        zookeeper.after_write.append(cut)
        asyncio.get_running_loop().call_later(0.002, zookeeper.disconnect, "one")
        epoch = await BrokerStore(client).register(BROKER, 0)
        stat = zookeeper.stat(PATH)
        assert stat is not None
        assert (stat.czxid, stat.ephemeral_owner) == (epoch, client.session_id)


async def test_a_killed_predecessor_is_waited_for() -> None:
    zookeeper = server()
    zookeeper.put("/brokers/ids")
    old = zookeeper.connect("one")
    await old.start()
    first = await BrokerStore(old).register(BROKER, 0)
    zookeeper.kill("one")
    zookeeper.revive("one")
    async with session(zookeeper, "one") as client:
        loop = asyncio.get_running_loop()
        start = loop.time()
        assert await BrokerStore(client).register(BROKER, 0) > first
        assert 1.5 < loop.time() - start < 3


async def test_a_living_namesake_is_not_pushed_aside() -> None:
    zookeeper = server()
    zookeeper.put("/brokers/ids")
    async with session(zookeeper, "one") as one, session(zookeeper, "two") as two:
        await BrokerStore(one).register(BROKER, 0)
        with pytest.raises(AlreadyRegistered):
            await BrokerStore(two).register(BROKER, 0)
        await BrokerStore(two).unregister(1)
        assert zookeeper.data(PATH) is not None


async def test_a_missing_parent_is_an_error_at_once() -> None:
    zookeeper = server()
    async with session(zookeeper, "one") as client:
        with pytest.raises(NoNode):
            await BrokerStore(client).register(BROKER, 0)
