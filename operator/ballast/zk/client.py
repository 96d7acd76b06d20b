"""The port to ZooKeeper: one client object is one session.

Order (as ZooKeeper guarantees it): calls are sent in the order made and answered in that order; a
watch is called before any reply that shows data newer than what it watched; everything happens on
the event loop. A client that has ended (expired or closed) refuses every call and is never used
again: its `ClientFactory` makes the next one.
"""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import NamedTuple, Protocol

ANY_VERSION = -1
"""A version that every existing znode satisfies."""

MAX_REQUEST_BYTES = 1024 * 1024 - 4096
"""ZooKeeper drops connections that send more than 1 MiB (jute.maxbuffer) in one request."""


class Stat(NamedTuple):
    """What ZooKeeper knows of a znode beside its data."""

    czxid: int
    """Transaction that created it: grows with each re-creation."""
    mzxid: int
    """Transaction that last wrote its data."""
    ctime_ms: int
    mtime_ms: int
    version: int
    """Number of writes of its data since its creation."""
    cversion: int
    """Number of changes to its children."""
    ephemeral_owner: int
    """Session id of its owner; 0 for a persistent znode."""


class Create(NamedTuple):
    """Create a znode, as part of a multi."""

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequential: bool = False


class SetData(NamedTuple):
    """Write a znode's data if its version is ``version``."""

    path: str
    data: bytes
    version: int = ANY_VERSION


class Delete(NamedTuple):
    """Delete a znode if its version is ``version``."""

    path: str
    version: int = ANY_VERSION


class Check(NamedTuple):
    """Fail the multi unless the znode exists and its version is ``version``."""

    path: str
    version: int = ANY_VERSION


Operation = Create | SetData | Delete | Check
OperationResult = str | Stat | None
"""Create gives the path made, Setdata the new stat, Delete and Check nothing."""


class WatchKind(Enum):
    """What a watch saw."""

    CREATED = auto()
    DELETED = auto()
    CHANGED = auto()
    CHILD = auto()
    UNCERTAIN = auto()
    """The connection was lost meanwhile and is back: something may have changed."""


class WatchEvent(NamedTuple):
    """What happened where; events carry no data."""

    kind: WatchKind
    path: str


class SessionEvent(Enum):
    """A session's life as its owner sees it."""

    CONNECTED = auto()
    """Established, or back after `SUSPENDED` with everything the session owned."""
    SUSPENDED = auto()
    """No connection: calls raise `ConnectionLoss`; the session may still be saved."""
    EXPIRED = auto()
    """Over, as ZooKeeper has said; the last event of a client."""


Watch = Callable[[WatchEvent], None]
"""Called once. The same callable armed twice on one znode is called once."""


class ZooKeeperClient(Protocol):
    """One session with ZooKeeper.

    Every call may raise `ConnectionLoss` (no reply: the outcome is unknown), `SessionExpired`
    (the client has ended), `RequestTooLarge` and `RequestFailed`.
    """

    @property
    def session_id(self) -> int:
        """The session's id, 0 before `start` has returned."""

    @property
    def session_timeout_s(self) -> float:
        """The timeout that the server granted, in seconds."""

    def is_silent(self, now: float) -> bool:
        """Whether ZooKeeper has not responded for the session timeout, at ``now`` (loop seconds).

        Then the session may be over, and others may own what it owned. Safe in any thread.
        """

    def on_session_event(self, callback: Callable[[SessionEvent], None]) -> None:
        """Call ``callback`` on each session event from now on."""

    async def start(self) -> None:
        """Establish the session; raises `ConnectionLoss` when no server answers in time."""

    async def close(self) -> None:
        """End the session (its ephemeral znodes go at once); never raises, may be repeated."""

    async def wait_connected(self) -> None:
        """Return when connected, however long that takes; raises `SessionExpired`."""

    async def get(self, path: str, watch: Watch | None = None) -> tuple[bytes, Stat]:
        """Return data and stat; the watch sees CHANGED and DELETED. Raises `NoNode` (no watch)."""

    async def exists(self, path: str, watch: Watch | None = None) -> Stat | None:
        """Return the stat or None; the watch sees CREATED, CHANGED and DELETED."""

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        """Return the names of the children, sorted; the watch sees CHILD and DELETED.

        Raises `NoNode` (and arms nothing).
        """

    async def multi_read(
        self, paths: Sequence[str], watch: Watch | None = None
    ) -> list[tuple[bytes, Stat] | None]:
        """Return data and stat of each path, None where there is no znode; any number of paths.

        Without a watch many are read per request (MultiRead); with one, each is a pipelined `get`.
        """

    async def create(
        self, path: str, data: bytes = b"", *, ephemeral: bool = False, sequential: bool = False
    ) -> str:
        """Create a znode and return its path.

        Raises `NodeExists`, `NoNode` (no parent), `NoChildrenForEphemerals`.
        """

    async def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> Stat:
        """Write data and return the new stat; raises `NoNode`, `BadVersion`."""

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete a znode; raises `NoNode`, `BadVersion`, `NotEmpty`."""

    async def multi(self, operations: Sequence[Operation]) -> list[OperationResult]:
        """Apply all operations or none; raises `MultiFailed` with the first that failed."""

    async def sync(self, path: str) -> None:
        """Return when this session's server has seen all that was committed before the call."""


ClientFactory = Callable[[], ZooKeeperClient]
"""Makes a client that is not started; called again for each new session."""


def request_size(operations: Sequence[Operation]) -> int:
    """Return an upper bound of the bytes that a multi of these operations takes on the wire."""
    size = 64
    for operation in operations:
        data = operation.data if isinstance(operation, Create | SetData) else b""
        size += 64 + len(operation.path) + len(data)
    return size
