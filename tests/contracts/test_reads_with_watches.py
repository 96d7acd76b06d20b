"""Reading many znodes with a watch, when they change before ZooKeeper has taken the watch.

Only on the real server: the fake's watches are taken together with the reading.
"""

import pytest

from ballast.zk.client import Create, Delete, SetData, WatchKind
from ballast.zk.errors import ConnectionLoss
from ballast.zk.kazoo_adapter.client import KazooZooKeeperClient
from tests.contracts.backends import SESSION_TIMEOUT_S, RealBackend
from tests.contracts.relay import Relay, relay
from tests.contracts.watching import Seen

pytestmark = pytest.mark.contract

SET_WATCHES = 101
PATHS = [f"/n{i}" for i in range(4)]


async def test_what_changes_between_the_reading_and_the_watching_is_told(
    zookeeper_port: int,
) -> None:
    seen = Seen()
    async with RealBackend(zookeeper_port).session() as writer:
        # One by one, and the last read was the first made: the newest of all counts.
        for path in reversed(PATHS):
            await writer.create(path)

        async def write(_: Relay) -> None:
            await writer.multi([SetData("/n1", b"1"), Delete("/n2")])

        async with relay(zookeeper_port, SET_WATCHES, write) as server:
            client = KazooZooKeeperClient(server.hosts, session_timeout_s=SESSION_TIMEOUT_S)
            await client.start()
            found = await client.multi_read(PATHS, seen)
            assert [node and node[0] for node in found] == [b""] * 4
            # ZooKeeper's events come before its reply to the watching.
            assert seen.events == [(WatchKind.CHANGED, "/n1"), (WatchKind.DELETED, "/n2")]
            await writer.set("/n3", b"3")
            assert (await seen.wait(3))[2] == (WatchKind.CHANGED, "/n3")
            await client.close()


async def test_a_reading_whose_watches_are_not_confirmed_fails(zookeeper_port: int) -> None:
    async def drop(server: Relay) -> None:
        server.drop()

    async with RealBackend(zookeeper_port).session() as writer:
        await writer.multi([Create(path) for path in PATHS])
        async with relay(zookeeper_port, SET_WATCHES, drop) as server:
            client = KazooZooKeeperClient(server.hosts, session_timeout_s=SESSION_TIMEOUT_S)
            await client.start()
            with pytest.raises(ConnectionLoss):
                await client.multi_read(PATHS, Seen())
            assert len(await _read(client)) == 4
            await client.close()


async def _read(client: KazooZooKeeperClient) -> list[object]:
    await client.wait_connected()
    return [*await client.multi_read(PATHS)]
