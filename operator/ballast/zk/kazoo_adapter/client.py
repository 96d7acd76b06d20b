"""The port `ballast.zk.client.ZooKeeperClient` over kazoo: where kazoo's thread ends."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from kazoo.protocol.serialization import Sync

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
    WatchKind,
    request_size,
)
from ballast.zk.errors import (
    ConnectionLoss,
    MultiFailed,
    NodeExists,
    RequestTooLarge,
    SessionExpired,
    ZooKeeperError,
)
from ballast.zk.kazoo_adapter import connection as kazoo_connection
from ballast.zk.kazoo_adapter.requests import (
    ChildrenRequest,
    ExistsRequest,
    GetRequest,
    MultiReadRequest,
    MultiRequest,
    SetWatchesRequest,
    WriteRequest,
)
from ballast.zk.kazoo_adapter.session import Session
from ballast.zk.kazoo_adapter.watches import WatchedThing, WatchRegistry

MULTI_READ_PATHS = 1000
"""Paths in one MultiRead."""

LINGER_S = 0.5
"""How long closing waits for the connection thread when there is no connection."""

DEFAULT_SESSION_TIMEOUT_S = 18.0
"""Kafka's ``zookeeper.session.timeout.ms``."""

_KINDS = {
    1: WatchKind.CREATED,
    2: WatchKind.DELETED,
    3: WatchKind.CHANGED,
    4: WatchKind.CHILD,
}
"""By the type of ZooKeeper's ``WatcherEvent``."""

T = TypeVar("T")


class KazooZooKeeperClient:
    """One session with a ZooKeeper ensemble.

    ``hosts`` is Kafka's ``zookeeper.connect``: ``host:port,host:port/chroot``; a chroot that does
    not exist is created. Threads: kazoo's connection thread, which only posts to the event loop.
    """

    def __init__(self, hosts: str, *, session_timeout_s: float = DEFAULT_SESSION_TIMEOUT_S) -> None:
        self._hosts = hosts
        self._session_timeout_s = session_timeout_s
        self._session = Session()
        self._watches = WatchRegistry()
        self._pending: dict[asyncio.Future[Any], None] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._kazoo: Any = None
        self._chroot = ""
        self._stopped = asyncio.Event()
        self._is_closing = False
        self._session.on_event(self._on_session_event)

    # -- the session -------------------------------------------------------------------------

    @property
    def session_id(self) -> int:
        """The session's id, 0 before `start` has returned."""
        return self._session.session_id

    @property
    def session_timeout_s(self) -> float:
        """The timeout that the server granted, or the one asked for before that."""
        return self._session.timeout_s or self._session_timeout_s

    def is_silent(self, now: float) -> bool:
        """Whether ZooKeeper has not responded for the session timeout; ``now`` in loop seconds."""
        return self._session.is_silent(now)

    def on_session_event(self, callback: Callable[[SessionEvent], None]) -> None:
        """Call ``callback`` on each session event from now on."""
        self._session.on_event(callback)

    async def start(self) -> None:
        """Establish the session; raises `ConnectionLoss` when no server answers in time."""
        if self._kazoo is not None:
            raise SessionExpired("a client is started once")
        self._loop = asyncio.get_running_loop()
        self._kazoo = kazoo_connection.make_client(self._hosts, self._session_timeout_s, self)
        self._chroot = self._kazoo.chroot
        self._kazoo.start_async()
        try:
            async with asyncio.timeout(self._session_timeout_s):
                await self._session.wait_connected()
                await self._make_chroot()
        except TimeoutError as error:
            await self.close()
            raise ConnectionLoss(f"no ZooKeeper answers at {self._hosts}") from error

    async def close(self) -> None:
        """End the session; if it is connected, its ephemeral znodes are gone when this returns."""
        if self._kazoo is None:
            self._session.closed()
            return
        self._is_closing = True
        is_connected = self._session.is_connected
        kazoo_connection.request_stop(self._kazoo)
        # Without a connection the thread may wait on for a server; it ends by itself after that.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.session_timeout_s if is_connected else LINGER_S):
                await self._stopped.wait()
        self._session.closed()
        self._forget(SessionExpired("the client is closed"))

    async def wait_connected(self) -> None:
        """Return when connected, however long that takes; raises `SessionExpired`."""
        await self._session.wait_connected()

    # -- reads -------------------------------------------------------------------------------

    async def get(self, path: str, watch: Watch | None = None) -> tuple[bytes, Stat]:
        """Return data and stat; the watch sees CHANGED and DELETED. Raises `NoNode` (no watch)."""

        def arm(_: tuple[bytes, Stat]) -> None:
            self._watches.arm(WatchedThing.DATA, path, watch)

        request = GetRequest(self._full(path), watch is not None)
        found: tuple[bytes, Stat] = await self._submit(request, path, arm)
        return found

    async def exists(self, path: str, watch: Watch | None = None) -> Stat | None:
        """Return the stat or None; the watch sees CREATED, CHANGED and DELETED."""

        def arm(stat: Stat | None) -> None:
            thing = WatchedThing.ABSENCE if stat is None else WatchedThing.DATA
            self._watches.arm(thing, path, watch)

        request = ExistsRequest(self._full(path), watch is not None)
        stat: Stat | None = await self._submit(request, path, arm)
        return stat

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        """Return the sorted names of the children; the watch sees CHILD and DELETED."""

        def arm(_: list[str]) -> None:
            self._watches.arm(WatchedThing.CHILDREN, path, watch)

        request = ChildrenRequest(self._full(path), watch is not None)
        names: list[str] = await self._submit(request, path, arm)
        return sorted(names)

    async def multi_read(
        self, paths: Sequence[str], watch: Watch | None = None
    ) -> list[tuple[bytes, Stat] | None]:
        """Return data and stat of each path, None where there is no znode (and no watch)."""
        parts = list(_parts(paths, MULTI_READ_PATHS))
        futures = [
            self._submit(MultiReadRequest([self._full(path) for path in part]), part[0])
            for part in parts
        ]
        found: list[tuple[bytes, Stat] | None] = []
        watched: list[asyncio.Future[Any]] = []
        for part, future in zip(parts, futures, strict=True):
            answer = await future
            if isinstance(answer, ZooKeeperError):
                raise answer
            found += answer
            if watch is not None:
                watched += self._watch_all(part, answer, watch)
        for future in watched:
            await future
        return found

    async def sync(self, path: str) -> None:
        """Return when this session's server has seen all that was committed before the call."""
        await self._submit(Sync(self._full(path)), path)

    # -- writes ------------------------------------------------------------------------------

    async def create(
        self, path: str, data: bytes = b"", *, ephemeral: bool = False, sequential: bool = False
    ) -> str:
        """Create a znode and return its path."""
        made: str = await self._write(Create(path, data, ephemeral, sequential))
        return str(self._kazoo.unchroot(made))

    async def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> Stat:
        """Write data and return the new stat."""
        stat: Stat = await self._write(SetData(path, data, version))
        return stat

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete a znode."""
        await self._write(Delete(path, version))

    async def multi(self, operations: Sequence[Operation]) -> list[OperationResult]:
        """Apply all operations or none; raises `MultiFailed` with the first that failed."""
        if request_size(operations) > MAX_REQUEST_BYTES:
            raise RequestTooLarge(f"{len(operations)} operations from {operations[0].path} on")
        if self._chroot:
            operations = [op._replace(path=self._full(op.path)) for op in operations]
        results: list[OperationResult] | list[MultiFailed]
        results = await self._submit(MultiRequest(operations), operations[0].path)
        if results and isinstance(results[0], MultiFailed):
            raise results[0]
        return results  # type: ignore[return-value]  # only a failure stands in place of results

    # -- requests ----------------------------------------------------------------------------

    def _watch_all(
        self, paths: Sequence[str], found: Sequence[tuple[bytes, Stat] | None], watch: Watch
    ) -> Sequence[asyncio.Future[Any]]:
        """Watch the data of the znodes just read, in one request, since MultiRead sets no watches.

        ZooKeeper sends events at once for znodes that were written or deleted since the read, so
        that no change is missed. Events come before the reply, so the watches are registered
        first; if there is no reply, they are uncertain like all others.
        """
        seen = {path: node[1] for path, node in zip(paths, found, strict=True) if node is not None}
        if not seen:
            return ()
        last_zxid = max(stat.mzxid for stat in seen.values())
        request = SetWatchesRequest(last_zxid, [self._full(path) for path in seen])
        future = self._submit(request, paths[0])
        for path in seen:
            self._watches.arm(WatchedThing.DATA, path, watch)
        return (future,)

    def _write(self, operation: Create | SetData | Delete) -> asyncio.Future[Any]:
        if request_size((operation,)) > MAX_REQUEST_BYTES:
            raise RequestTooLarge(operation.path)
        full = operation._replace(path=self._full(operation.path))
        return self._submit(WriteRequest.of(full), operation.path)

    def _submit(
        self, request: Any, path: str, on_result: Callable[[Any], None] | None = None
    ) -> asyncio.Future[Any]:
        """Queue a request; ``on_result`` runs when its reply arrives, before any later event."""
        self._session.check()
        assert self._loop is not None
        future: asyncio.Future[Any] = self._loop.create_future()
        self._pending[future] = None
        answered = partial(self._post, self.answered, future, on_result)
        failed = partial(self._post, self.failed, future)
        self._kazoo._call(request, kazoo_connection.Reply(path, answered, failed))
        return future

    def _full(self, path: str) -> str:
        return (self._chroot + path).rstrip("/") if self._chroot else path

    async def _make_chroot(self) -> None:
        """Create the chroot's znodes, as Kafka does."""
        names = self._chroot.strip("/").split("/") if self._chroot else []
        for depth in range(1, len(names) + 1):
            path = "/" + "/".join(names[:depth])
            try:
                await self._submit(WriteRequest.of(Create(path)), path)
            except NodeExists:
                continue

    # -- callbacks of the connection, on the event loop --------------------------------------

    def answered(
        self,
        future: asyncio.Future[Any],
        on_result: Callable[[Any], None] | None,
        value: object,
    ) -> None:
        """Take a reply."""
        if self._pending.pop(future, self) is self:
            return
        if on_result is not None:
            on_result(value)
        if not future.done():
            future.set_result(value)

    def failed(self, future: asyncio.Future[Any], error: ZooKeeperError) -> None:
        """Take the failure of a request."""
        if isinstance(error, ConnectionLoss):
            # kazoo fails the calls in progress before it reports the lost connection.
            self._session.suspended()
        if self._pending.pop(future, self) is not self:
            _fail(future, error)

    def _fire(self, event: WatchEvent) -> None:
        if not self._session.is_over:
            self._watches.fire(event)

    def _connected(self, session_id: int, timeout_s: float) -> None:
        is_back = self._session.session_id != 0
        self._session.connected(session_id, timeout_s)
        if is_back and not self._session.is_over:
            # kazoo does not arm watches again, so none of them is certain any more.
            self._watches.fire_all_uncertain()

    def _suspended(self) -> None:
        """Fail what is under way: kazoo would send what it has queued since after it is back."""
        self._session.suspended()
        self._fail_pending(ConnectionLoss("the connection broke"))

    def _on_session_event(self, event: SessionEvent) -> None:
        if event is SessionEvent.EXPIRED:
            kazoo_connection.request_stop(self._kazoo)
            self._forget(SessionExpired("the session has expired"))

    def _forget(self, error: ZooKeeperError) -> None:
        self._watches.clear()
        self._fail_pending(error)

    def _fail_pending(self, error: ZooKeeperError) -> None:
        pending, self._pending = self._pending, {}
        for future in pending:
            _fail(future, error)

    # -- callbacks of the connection, on kazoo's thread --------------------------------------

    def heard(self) -> None:
        """Record that ZooKeeper has responded."""
        assert self._loop is not None
        self._session.heard(self._loop.time())

    def watch_fired(self, event_type: int, path: str) -> None:
        """Forward an event of a znode, if its type is one of those watched here."""
        kind = _KINDS.get(event_type)
        if kind is not None:
            self._post(self._fire, WatchEvent(kind, path))

    def state_changed(self, state: str, session_id: int, timeout_ms: int) -> None:
        """Forward a state of kazoo's connection."""
        if state == "CONNECTED":
            self._post(self._connected, session_id, timeout_ms / 1000)
        elif state == "SUSPENDED":
            self._post(self._suspended)
        else:
            self._post(self._lost)

    def stopped(self) -> None:
        """Note that the connection thread ends."""
        self._post(self._stopped.set)

    def _post(self, callback: Callable[..., object], *args: object) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(callback, *args)
        except RuntimeError:
            # The loop is closed, and the callback no longer needed.
            return

    def _lost(self) -> None:
        """End the session, unless its owner is closing it."""
        if not self._is_closing:
            self._session.expired()


def _fail(future: asyncio.Future[Any], error: ZooKeeperError) -> None:
    if not future.done():
        future.set_exception(error)
        # Of several pipelined calls only the first failure is awaited.
        future.exception()


def _parts(paths: Sequence[str], size: int) -> list[Sequence[str]]:
    return [paths[start : start + size] for start in range(0, len(paths), size)]
