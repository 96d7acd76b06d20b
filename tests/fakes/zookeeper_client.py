"""The fake ZooKeeper's client: the port `ballast.zk.client.ZooKeeperClient` without a network."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ballast.zk.client import (
    ANY_VERSION,
    MAX_REQUEST_BYTES,
    Create,
    Delete,
    Operation,
    OperationResult,
    SessionEvent,
    SetData,
    Stat,
    Watch,
    WatchEvent,
    request_size,
)
from ballast.zk.errors import (
    ConnectionLoss,
    NoNode,
    RequestTooLarge,
    SessionExpired,
    ZooKeeperError,
)
from ballast.zk.kazoo_adapter.session import Session
from ballast.zk.kazoo_adapter.watches import WatchedThing, WatchRegistry

if TYPE_CHECKING:
    from tests.fakes.zookeeper import FakeZooKeeper
    from tests.fakes.zookeeper_sessions import Connection

T = TypeVar("T")

RETRY_S = (0.05, 0.3)
"""Between two attempts to connect."""


class ListedWatches(WatchRegistry):
    """Watches that can be listed, to arm them again on a new connection."""

    def armed(self) -> list[tuple[WatchedThing, str]]:
        return [(thing, path) for path, things in self._armed.items() for thing in things]


class FakeClient:
    """One session with the fake server."""

    def __init__(self, server: "FakeZooKeeper", host: str) -> None:
        self.host = host
        self._server = server
        self._session = Session()
        self._watches = ListedWatches()
        self._connection: Connection | None = None
        self._outstanding: dict[asyncio.Future[None], None] = {}
        self._seen_zxid = 0
        self._is_dead = False
        self._session.on_event(self._on_session_event)

    # -- the port ----------------------------------------------------------------------------

    @property
    def session_id(self) -> int:
        return self._session.session_id

    @property
    def session_timeout_s(self) -> float:
        return self._session.timeout_s or self._server.session_timeout_s

    def is_silent(self, now: float) -> bool:
        return self._session.is_silent(now)

    def on_session_event(self, callback: Callable[[SessionEvent], None]) -> None:
        self._session.on_event(callback)

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._server.session_timeout_s
        if self._session.is_over or self._session.is_connected:
            raise SessionExpired("a client is started once")
        self._connect()
        while not self._session.is_connected:
            if loop.time() >= deadline:
                self._session.closed()
                raise ConnectionLoss("no server answers")
            await asyncio.sleep(self._server.delay())
            self._refuse_the_dead()
        self._beat()

    async def close(self) -> None:
        if self._session.is_connected and self._connection is not None:
            connection = self._connection
            done = asyncio.get_running_loop().create_future()
            self._outstanding[done] = None

            def close() -> None:
                self._server.reply(connection, partial(_settle, done, None))
                self._server.close_session(connection)

            self._server.send(connection, close)
            # Whatever happens to the connection, the session is not used any more.
            with contextlib.suppress(ZooKeeperError):
                await done
        self._session.closed()
        self._forget(SessionExpired("the client is closed"))

    async def wait_connected(self) -> None:
        self._refuse_the_dead()
        await self._session.wait_connected()

    async def get(self, path: str, watch: Watch | None = None) -> tuple[bytes, Stat]:
        def read(connection: "Connection") -> tuple[bytes, Stat]:
            found = self._server.read(path)
            if watch is not None:
                self._server.arm(connection, WatchedThing.DATA, path)
            return found

        def arm(_: tuple[bytes, Stat]) -> None:
            self._watches.arm(WatchedThing.DATA, path, watch)

        return await self._call(read, arm)

    async def exists(self, path: str, watch: Watch | None = None) -> Stat | None:
        def read(connection: "Connection") -> Stat | None:
            if watch is not None:
                self._server.arm(connection, WatchedThing.DATA, path)
            return self._server.stat(path)

        def arm(stat: Stat | None) -> None:
            thing = WatchedThing.ABSENCE if stat is None else WatchedThing.DATA
            self._watches.arm(thing, path, watch)

        return await self._call(read, arm)

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        def read(connection: "Connection") -> list[str]:
            self._server.read(path)
            if watch is not None:
                self._server.arm(connection, WatchedThing.CHILDREN, path)
            return self._server.children_of(path)

        def arm(_: list[str]) -> None:
            self._watches.arm(WatchedThing.CHILDREN, path, watch)

        return await self._call(read, arm)

    async def multi_read(
        self, paths: Sequence[str], watch: Watch | None = None
    ) -> list[tuple[bytes, Stat] | None]:
        wanted = list(paths)

        def read(connection: "Connection") -> list[tuple[bytes, Stat] | None]:
            found: list[tuple[bytes, Stat] | None] = []
            for path in wanted:
                try:
                    found.append(self._server.read(path))
                except NoNode:
                    found.append(None)
                    continue
                if watch is not None:
                    self._server.arm(connection, WatchedThing.DATA, path)
            return found

        def arm(found: list[tuple[bytes, Stat] | None]) -> None:
            for path, node in zip(wanted, found, strict=True):
                if node is not None:
                    self._watches.arm(WatchedThing.DATA, path, watch)

        if not wanted:
            return []
        return await self._call(read, arm)

    async def create(
        self, path: str, data: bytes = b"", *, ephemeral: bool = False, sequential: bool = False
    ) -> str:
        result = await self._write_one(Create(path, data, ephemeral, sequential))
        assert isinstance(result, str)
        return result

    async def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> Stat:
        result = await self._write_one(SetData(path, data, version))
        assert isinstance(result, Stat)
        return result

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        await self._write_one(Delete(path, version))

    async def multi(self, operations: Sequence[Operation]) -> list[OperationResult]:
        return await self._write(list(operations), is_multi=True)

    async def sync(self, path: str) -> None:
        await self._call(lambda _: path)

    # -- what the server calls ---------------------------------------------------------------

    def fired(self, event: WatchEvent, zxid: int) -> None:
        """Take a watch event."""
        self._seen_zxid = max(self._seen_zxid, zxid)
        self._session.heard(asyncio.get_running_loop().time())
        if not self._session.is_over:
            self._watches.fire(event)

    def connection_lost(self, connection: "Connection") -> None:
        """Notice that the connection broke: every call under way has an unknown outcome."""
        if self._connection is not connection:
            return
        self._connection = None
        self._fail_outstanding(ConnectionLoss("the connection broke"))
        self._session.suspended()
        self._retry_later()

    def kill(self) -> None:
        """Refuse every call from now on: the process is dead."""
        self._is_dead = True
        self._session.closed()
        self._forget(SessionExpired("the process is dead"))

    # -- calls -------------------------------------------------------------------------------

    async def _write_one(self, operation: Operation) -> OperationResult:
        return (await self._write([operation], is_multi=False))[0]

    async def _write(self, operations: list[Operation], *, is_multi: bool) -> list[OperationResult]:
        if request_size(operations) > MAX_REQUEST_BYTES:
            raise RequestTooLarge(f"{len(operations)} operations")

        def write(connection: "Connection") -> list[OperationResult]:
            return self._server.commit(connection, operations, is_multi=is_multi).results

        return await self._call(write)

    async def _call(
        self,
        request: "Callable[[Connection], T]",
        on_result: Callable[[T], None] | None = None,
    ) -> T:
        """Send a request; ``on_result`` runs when the reply arrives, before the caller goes on."""
        self._refuse_the_dead()
        self._session.check()
        connection = self._connection
        assert connection is not None
        future = asyncio.get_running_loop().create_future()
        self._outstanding[future] = None
        result: list[T] = []

        def succeed(value: T, zxid: int) -> None:
            self._heard(zxid)
            if on_result is not None and not self._session.is_over:
                on_result(value)
            result.append(value)
            _settle(future, None)

        def fail(error: ZooKeeperError, zxid: int) -> None:
            self._heard(zxid)
            if isinstance(error, SessionExpired):
                self._session.expired()
            _settle(future, error)

        def arrive() -> None:
            try:
                value = request(connection)
            except ZooKeeperError as error:
                zxid = self._server.tree.zxid
                self._server.reply(connection, partial(fail, error, zxid))
            else:
                zxid = self._server.tree.zxid
                self._server.reply(connection, partial(succeed, value, zxid))

        self._server.send(connection, arrive)
        try:
            await future
        finally:
            self._outstanding.pop(future, None)
        return result[0]

    def _heard(self, zxid: int) -> None:
        self._seen_zxid = max(self._seen_zxid, zxid)
        self._session.heard(asyncio.get_running_loop().time())

    def _refuse_the_dead(self) -> None:
        if self._is_dead:
            raise SessionExpired("the process is dead")

    # -- the connection ----------------------------------------------------------------------

    def _connect(self) -> None:
        connection = self._server.open(self)
        if connection is None:
            self._retry_later()
            return
        self._connection = connection

        def arrive() -> None:
            if not self._session.session_id:
                session = self._server.create_session(connection)
            elif self._server.resume_session(connection, self._session.session_id):
                session = self._server.sessions[self._session.session_id]
            else:
                self._server.reply(connection, self._session.expired)
                return
            self._server.reply(
                connection,
                partial(self._session.connected, session.session_id, session.timeout_s),
            )
            # What arrives here later was armed before the connection broke.
            self._server.set_watches(connection, self._watches.armed(), self._seen_zxid)

        self._server.send(connection, arrive)

    def _retry_later(self) -> None:
        if not self._session.is_over and not self._is_dead:
            delay = self._server.random.uniform(*RETRY_S)
            asyncio.get_running_loop().call_later(delay, self._retry)

    def _retry(self) -> None:
        if self._connection is None and not self._session.is_over and not self._is_dead:
            self._connect()

    def _beat(self) -> None:
        """Send a heartbeat every third of the timeout, for as long as the process lives."""
        if self._session.is_over or self._is_dead:
            return
        if self._connection is not None and self._session.is_connected:
            connection = self._connection
            answer = partial(self._server.reply, connection, partial(self._heard, 0))
            self._server.send(connection, answer)
        asyncio.get_running_loop().call_later(self._session.timeout_s / 3, self._beat)

    def _on_session_event(self, event: SessionEvent) -> None:
        if event is SessionEvent.EXPIRED:
            self._forget(SessionExpired("the session has expired"))

    def _forget(self, error: ZooKeeperError) -> None:
        self._watches.clear()
        self._fail_outstanding(error)
        self._connection = None

    def _fail_outstanding(self, error: ZooKeeperError) -> None:
        outstanding, self._outstanding = self._outstanding, {}
        for future in outstanding:
            _settle(future, error)


def _settle(future: "asyncio.Future[None]", error: ZooKeeperError | None) -> None:
    if not future.done():
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
            # Nobody may be left to retrieve it, as when the caller was killed.
            future.exception()
