"""What the fake ZooKeeper keeps of each session and connection, and of each write."""

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fakes.zookeeper_client import FakeClient
from tests.fakes.zookeeper_tree import AppliedOperation


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRecord:
    """One transaction of the write log."""

    zxid: int
    time: float
    """Loop seconds."""
    session_id: int
    host: str
    kind: str
    """``single``, ``multi`` or ``close`` (a session's end, by its owner or by expiry)."""
    operations: tuple[AppliedOperation, ...]

    def describe(self) -> str:
        """Return a line for a trace: the first few writes with the begin of their data."""
        parts = [
            f"{write.name} {write.path} {write.data.decode(errors='replace')[:160]}".strip()
            for write in self.operations
            if write.name != "check"
        ]
        return f"zk {self.zxid} {self.kind}: " + "; ".join(parts[:4])


@dataclass(slots=True, eq=False)
class ServerSession:
    """One session as the server knows it."""

    session_id: int
    host: str
    timeout_s: float
    heard_at: float
    connection: "Connection | None" = None
    is_over: bool = False
    expiry: asyncio.TimerHandle | None = None


@dataclass(slots=True, eq=False)
class Connection:
    """One connection of one client: two FIFOs, which break together."""

    client: FakeClient
    context: contextvars.Context
    session: ServerSession | None = None
    is_broken: bool = False
    requests: deque[tuple[Callable[[], None], bool]] = field(default_factory=deque)
    """What arrives, and whether it still counts after the connection broke."""
    replies: deque[Callable[[], None]] = field(default_factory=deque)
    request_due: float = 0.0
    reply_due: float = 0.0
