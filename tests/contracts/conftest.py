"""The two ZooKeepers of the contract tests: the fake, and a real one in a child process."""

import asyncio
import random
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest

from ballast.embedded import zookeeper
from ballast.zk.client import ClientFactory, ZooKeeperClient
from ballast.zk.errors import NoNode
from ballast.zk.kazoo_client import KazooZooKeeperClient
from tests.contracts.sessions import end_session
from tests.fakes.zookeeper import FakeZooKeeper

SESSION_TIMEOUT_S = 2.0


class Backend(Protocol):
    """A ZooKeeper that clients can be connected to."""

    factory: ClientFactory

    def session(self) -> "Session": ...

    async def expire(self, client: ZooKeeperClient) -> None: ...


class Session(Protocol):
    async def __aenter__(self) -> ZooKeeperClient: ...

    async def __aexit__(self, *_: object) -> None: ...


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


@pytest.fixture(scope="session")
def zookeeper_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A real ZooKeeper on a free port of the loopback, for all tests of this worker."""
    folder: Path = tmp_path_factory.mktemp("zookeeper")
    with socket.socket() as probe:
        probe.bind((zookeeper.HOST, 0))
        port: int = probe.getsockname()[1]
    argv = zookeeper.command(folder, port=port, is_durable=False)
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process,
    ):
        try:
            asyncio.run(zookeeper.wait_until_serving(port))
            yield port
        finally:
            process.kill()


@pytest.fixture(params=["fake", "real"])
def backend(request: pytest.FixtureRequest) -> Backend:
    if request.param == "fake":
        return FakeBackend()
    return RealBackend(request.getfixturevalue("zookeeper_port"))
