"""Topics: what is written, in which order, and what stays when somebody was quicker."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest

from ballast.controller.errors import StateChangeFailed
from ballast.zk.broker_store.store import BrokerStore
from ballast.zk.client import Stat, Watch
from ballast.zk.controller_store.store import ControllerStore
from tests.fakes.zookeeper_client import FakeClient
from tests.unit.zk.stores import controller, elect, server, state, topic, tp


async def test_creation_is_one_transaction_config_first() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        assert await elected.store.create_topic(topic(), {"a": "b"})
        assert [o.path for o in zookeeper.log[-1].operations] == [
            "/controller_epoch",
            "/config/topics/t",
            "/brokers/topics/t",
        ]


async def test_a_config_left_behind_is_overwritten() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        zookeeper.put("/config/topics/t", b'{"version":1,"config":{"old":"1"}}')
        assert await elected.store.create_topic(topic(), {})
        assert zookeeper.data("/config/topics/t") == b'{"version":1,"config":{}}'


async def test_an_existing_topic_keeps_its_config() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        await elected.store.create_topic(topic(), {"a": "b"})
        before = zookeeper.tree.zxid
        assert not await elected.store.create_topic(topic(p0=(3,)), {})
        assert zookeeper.tree.zxid == before


async def test_rewriting_leaves_out_what_is_gone_and_keeps_unknown_fields() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        zookeeper.put("/brokers/topics/t", b'{"version":1,"partitions":{"0":[1]},"mine":[7]}')
        read = (await elected.store.read_topics(["t"]))["t"]
        changed = replace(read, partitions=topic(p0=(2,)).partitions)
        await elected.store.write_topics([changed, topic("gone")])
        assert zookeeper.data("/brokers/topics/gone") is None
        assert zookeeper.data("/brokers/topics/t") == (
            b'{"partitions":{"0":[2]},"adding_replicas":{},"removing_replicas":{},'
            b'"version":2,"mine":[7]}'
        )


class OvertakenClient(FakeClient):
    """A client under whose reads another hand adds a partition, once."""

    overtaker: Callable[[], None] | None = None

    async def multi_read(
        self, paths: Sequence[str], watch: Watch | None = None
    ) -> list[tuple[bytes, Stat] | None]:
        found = await super().multi_read(paths, watch)
        if self.overtaker is not None:
            self.overtaker()
            self.overtaker = None
        return found


async def test_a_partition_that_appears_during_the_deletion_goes_too() -> None:
    zookeeper = server()
    client = OvertakenClient(zookeeper, "controller")
    await client.start()
    await BrokerStore(client).ensure_paths()
    store = ControllerStore(client, await elect(client), lambda _: None)
    await store.create_topic(topic(), {})
    await store.create_leadership({tp(): state()})
    client.overtaker = partial(zookeeper.put, "/brokers/topics/t/partitions/1")
    await store.delete_topic("t")
    assert zookeeper.children_of("/brokers/topics") == []
    await client.close()


async def test_strange_znodes_below_a_topic_are_not_deleted() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        zookeeper.put("/brokers/topics/t/partitions/0/state/strange")
        with pytest.raises(StateChangeFailed):
            await elected.store.delete_topic("t")
        assert zookeeper.data("/brokers/topics/t/partitions/0/state/strange") is not None
