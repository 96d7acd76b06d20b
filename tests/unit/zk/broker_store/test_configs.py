"""Config writes and notifications: lost replies, purging, hostile notifications."""

import asyncio
import random

import pytest

from ballast.zk.broker_store.store import BrokerStore
from tests.fakes.zookeeper import FakeZooKeeper
from tests.unit.zk.stores import server, session

CHANGE = "/config/changes/config_change_"


@pytest.mark.parametrize("seed", range(20))
async def test_a_lost_reply_gives_one_write_and_one_notification(seed: int) -> None:
    zookeeper = FakeZooKeeper(random.Random(seed), session_timeout_s=2.0)
    async with session(zookeeper, "one") as client:
        store = BrokerStore(client)
        await store.ensure_paths()
        zookeeper.put("/brokers/topics/t")
        await store.write_topic_config("t", {"a": "0"}, -1)

        def cut(_: object) -> None:
            zookeeper.after_write.clear()
            zookeeper.disconnect("one")

        zookeeper.after_write.append(cut)
        asyncio.get_running_loop().call_later(0.001, zookeeper.disconnect, "one")
        written = await store.write_topic_config("t", {"a": "1"}, 0)
        assert (written.values, written.version) == ({"a": "1"}, 1)
        stat = zookeeper.stat("/config/topics/t")
        assert stat is not None
        assert stat.version == 1
        assert len(zookeeper.children_of("/config/changes")) == 2


async def test_old_notifications_are_purged_and_hostile_ones_ignored() -> None:
    zookeeper = server()
    async with session(zookeeper, "one") as client:
        store = BrokerStore(client)
        await store.ensure_paths()
        calls: list[str] = []
        await store.watch_config_changes(lambda: calls.append("news"))
        zookeeper.put(f"{CHANGE}0000000001", b'{"version":2,"entity_path":"topics/t"}')
        zookeeper.put(f"{CHANGE}0000000002", b"[" * 100_000)
        zookeeper.put(
            f"{CHANGE}0000000003", b'{"version":1,"entity_type":"topics","entity_name":"t"}'
        )
        zookeeper.put("/config/changes/other", b"")
        await client.sync("/")
        assert calls == ["news"]
        made_ms = zookeeper.tree.nodes[f"{CHANGE}0000000001"].ctime_ms
        assert await store.read_config_changes(made_ms + 15 * 60 * 1000) == ["topics/t"]
        assert len(zookeeper.children_of("/config/changes")) == 4
        assert await store.read_config_changes(made_ms + 15 * 60 * 1000 + 1) == []
        assert zookeeper.children_of("/config/changes") == ["other"]
        await client.sync("/")
        assert calls == ["news"] * 2
        zookeeper.put(f"{CHANGE}0000000004", b'{"version":2,"entity_path":"brokers/1"}')
        assert await store.read_config_changes(0) == ["brokers/1"]
