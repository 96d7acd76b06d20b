"""The two ZooKeepers of the contract tests, and how a test uses either."""

import random
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from ballast.zk.client import ZooKeeperClient
from ballast.zk.errors import NoNode
from ballast.zk.kazoo_adapter.client import KazooZooKeeperClient
from tests.contracts.sessions import end_session
from tests.fakes.zookeeper import FakeZooKeeper

SESSION_TIMEOUT_S = 2.0


class Backend(Protocol):
    """A ZooKeeper that clients can be connected to."""

    def factory(self) -> ZooKeeperClient:
        """Return a client that is not started."""

    def session(self) -> AbstractAsyncContextManager[ZooKeeperClient]:
        """Return a started client, closed at the end."""

    async def expire(self, client: ZooKeeperClient) -> None:
        """Let the server expire a client's session now."""


class FakeBackend:
    def __init__(self) -> None:
        self.server = FakeZooKeeper(random.Random(7), session_timeout_s=SESSION_TIMEOUT_S)
        self._made = 0

    def factory(self) -> ZooKeeperClient:
        self._made += 1
        return self.server.connect(f"host-{self._made}")

    @asynccontextmanager
    async def session(self) -> AsyncIterator[ZooKeeperClient]:
        client = self.factory()
        await client.start()
        try:
            yield client
        finally:
            await client.close()

    async def expire(self, client: ZooKeeperClient) -> None:
        (host,) = [c.host for c in self.server.clients if c.session_id == client.session_id]
        self.server.kill_session(host)


class RealBackend:
    def __init__(self, port: int) -> None:
        self._hosts = f"127.0.0.1:{port}"
        self._port = port
        self._is_clean = False

    def factory(self) -> ZooKeeperClient:
        return KazooZooKeeperClient(self._hosts, session_timeout_s=SESSION_TIMEOUT_S)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[ZooKeeperClient]:
        client = self.factory()
        await client.start()
        try:
            if not self._is_clean:
                self._is_clean = True
                await _clear(client, "/")
            yield client
        finally:
            await client.close()

    async def expire(self, client: ZooKeeperClient) -> None:
        assert isinstance(client, KazooZooKeeperClient)
        session_id, password = client._kazoo.client_id
        await end_session(self._port, session_id, password)


async def _clear(client: ZooKeeperClient, path: str) -> None:
    """Delete all that an earlier test left."""
    for name in await client.children(path):
        if (path, name) != ("/", "zookeeper"):
            below = f"{path.rstrip('/')}/{name}"
            await _clear(client, below)
            try:
                await client.delete(below)
            except NoNode:
                # An ephemeral znode of a session that has just ended.
                continue
