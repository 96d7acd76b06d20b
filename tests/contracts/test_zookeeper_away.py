"""What becomes of sessions when ZooKeeper is killed or stopped, on the fake and on the real one."""

import asyncio
import contextlib
import random
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest

from ballast.cli.embedded import zookeeper
from ballast.zk.client import SessionEvent, WatchEvent, ZooKeeperClient
from ballast.zk.errors import ConnectionLoss, SessionExpired
from ballast.zk.kazoo_adapter.client import KazooZooKeeperClient
from tests.fakes.zookeeper import FakeZooKeeper

pytestmark = pytest.mark.contract

SESSION_TIMEOUT_S = 4.0
"""Longer than a new server and a client need to find each other on a busy machine."""
FREEZES = {"fake": 1, "real": 4}
"""ZooKeeper's thread that ends sessions may lose the race against a client that connects again."""
TICK_S = 0.5
"""ZooKeeper ends sessions in steps of a tick."""


class Server(Protocol):
    """A ZooKeeper of one test's own."""

    def client(self) -> ZooKeeperClient:
        """Return a client that is not started."""

    async def kill(self) -> None:
        """End the server as SIGKILL does."""

    async def restart(self) -> None:
        """Start it again on what it has stored."""

    def freeze(self) -> None:
        """Stop it as SIGSTOP does."""

    def thaw(self) -> None:
        """Let it go on as SIGCONT does."""


class Fake:
    def __init__(self) -> None:
        self._server = FakeZooKeeper(random.Random(3), session_timeout_s=SESSION_TIMEOUT_S)
        self.freeze, self.thaw = self._server.freeze, self._server.thaw

    def client(self) -> ZooKeeperClient:
        return self._server.connect("host")

    async def kill(self) -> None:
        self._server.stop()

    async def restart(self) -> None:
        self._server.start()


class Real:
    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind((zookeeper.HOST, 0))
            self._port: int = probe.getsockname()[1]
        self._argv = zookeeper.command(folder, port=self._port)
        self._log = folder / "log"
        self.process: subprocess.Popen[bytes] | None = None
        self.clients: list[ZooKeeperClient] = []

    def client(self) -> ZooKeeperClient:
        client = KazooZooKeeperClient(
            f"{zookeeper.HOST}:{self._port}", session_timeout_s=SESSION_TIMEOUT_S
        )
        self.clients.append(client)
        return client

    async def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(30)

    async def restart(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: ASYNC220 - it takes a moment only
                self._argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        await zookeeper.wait_until_serving(self._port)

    def freeze(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)


@asynccontextmanager
async def running(kind: str, folder: Path) -> AsyncIterator[Server]:
    if kind == "fake":
        yield Fake()
        return
    real = Real(folder)
    await real.restart()
    try:
        yield real
    finally:
        # A test that fails leaves no thread behind that disturbs others.
        for client in real.clients:
            await client.close()
        await real.kill()


class Owner:
    """A session with an ephemeral znode, and all that it was told."""

    def __init__(self, client: ZooKeeperClient) -> None:
        self.client = client
        self.events: list[SessionEvent] = []
        self.seen: list[WatchEvent] = []
        client.on_session_event(self.events.append)

    async def begin(self) -> None:
        await self.client.start()
        await self.client.create("/e", ephemeral=True)
        await self.client.exists("/e", self.seen.append)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0.01)

    async def until_silent_for(self, seconds: float) -> None:
        clock = asyncio.get_running_loop().time
        await self.until(lambda: self.client.is_silent(clock() - seconds))


@pytest.mark.parametrize("kind", ["fake", "real"])
async def test_a_server_that_was_down_keeps_sessions_whatever_time_has_passed(
    kind: str, tmp_path: Path
) -> None:
    async with running(kind, tmp_path) as server:
        owner = Owner(server.client())
        await owner.begin()
        session_id = owner.client.session_id
        await server.kill()
        await owner.until_silent_for(2 * TICK_S)
        with pytest.raises(ConnectionLoss):
            await owner.client.get("/e")
        await server.restart()
        await owner.client.wait_connected()
        stat = await owner.client.exists("/e")
        assert stat is not None
        assert stat.ephemeral_owner == owner.client.session_id == session_id
        assert owner.events == [
            SessionEvent.CONNECTED,
            SessionEvent.SUSPENDED,
            SessionEvent.CONNECTED,
        ]
        await owner.client.close()


@pytest.mark.parametrize("kind", ["fake", "real"])
async def test_a_server_that_stood_still_for_longer_than_the_timeout_ends_sessions(
    kind: str, tmp_path: Path
) -> None:
    async with running(kind, tmp_path) as server:
        owner = Owner(server.client())
        await owner.begin()
        for _ in range(FREEZES[kind]):
            server.freeze()
            await owner.until_silent_for(2 * TICK_S)
            assert SessionEvent.EXPIRED not in owner.events
            server.thaw()
            with contextlib.suppress(SessionExpired):
                await owner.client.wait_connected()
            if owner.events[-1] is SessionEvent.EXPIRED:
                break
        assert owner.events[-1] is SessionEvent.EXPIRED
        with pytest.raises(SessionExpired):
            await owner.client.wait_connected()
        successor = server.client()
        await successor.start()
        assert await successor.exists("/e") is None
        await owner.client.close()
        await successor.close()


@pytest.mark.parametrize("kind", ["fake", "real"])
async def test_a_server_that_stood_still_for_a_moment_changes_nothing(
    kind: str, tmp_path: Path
) -> None:
    async with running(kind, tmp_path) as server:
        owner = Owner(server.client())
        await owner.begin()
        server.freeze()
        await owner.until(lambda: owner.events[-1] is SessionEvent.SUSPENDED)
        server.thaw()
        await owner.client.wait_connected()
        assert await owner.client.exists("/e") is not None
        assert SessionEvent.EXPIRED not in owner.events
        await owner.client.close()
