"""A ZooKeeper in memory, for any asyncio loop: sessions, watches in order, faults.

What holds, as in ZooKeeper: one total order of writes (`FakeZooKeeper.log`); per connection one
FIFO of requests and one of replies and watch events; a watch event comes before any reply that
shows newer data; an expired session's ephemeral znodes go in one transaction, which others see
before the owner learns of it; a connection that breaks leaves its requests applied or not.

Delays come from the `random.Random` given. The server's work runs in the context in which
`FakeZooKeeper` was made, a client's in the context in which it was started: a simulated host that
is killed or paused stops sending heartbeats, and its session expires like a real one.
"""

import asyncio
import contextvars
import random
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from ballast.zk.client import (
    ClientFactory,
    Create,
    Delete,
    Operation,
    SetData,
    Stat,
    WatchEvent,
    WatchKind,
)
from ballast.zk.errors import MultiFailed, NoNode, SessionExpired
from ballast.zk.kazoo_adapter.watches import WatchedThing
from tests.fakes.zookeeper_client import FakeClient
from tests.fakes.zookeeper_sessions import Connection, ServerSession, WriteRecord
from tests.fakes.zookeeper_tree import Refused, Transaction, ZnodeTree

OUTSIDE_SESSION = 0
"""The session of writes that a test makes by hand."""

FIRST_SESSION_ID = 0x100000000


class FakeZooKeeper:
    """The server; `connect` and `factory` give clients."""

    def __init__(
        self,
        rng: random.Random,
        *,
        session_timeout_s: float = 6.0,
        delay_s: tuple[float, float] = (0.0002, 0.002),
        epoch_ms: int = 1_700_000_000_000,
    ) -> None:
        self.random = rng
        self.session_timeout_s = session_timeout_s
        self.tree = ZnodeTree()
        self.log: list[WriteRecord] = []
        self.after_write: list[Callable[[WriteRecord], None]] = []
        """Called with each record right after it was applied, for invariants."""
        self.clients: list[FakeClient] = []
        self.sessions: dict[int, ServerSession] = {}
        self._delay_s = delay_s
        self._epoch_ms = epoch_ms
        self._context = contextvars.copy_context()
        self._is_down = False
        self._cut_hosts: dict[str, None] = {}
        self._dead_hosts: dict[str, None] = {}
        self._data_watches: dict[str, dict[Connection, None]] = {}
        self._child_watches: dict[str, dict[Connection, None]] = {}

    # -- clients -----------------------------------------------------------------------------

    def connect(self, host: str = "client") -> FakeClient:
        """Return a new client of a host, not started."""
        client = FakeClient(self, host)
        self.clients.append(client)
        return client

    def factory(self, host: str) -> ClientFactory:
        """Return what makes a host's clients."""
        return partial(self.connect, host)

    # -- faults ------------------------------------------------------------------------------

    def disconnect(self, host: str) -> None:
        """Reset the host's connections; each request under way is applied or not, by chance."""
        for session in self._sessions_of(host):
            if session.connection is not None:
                self._break(session.connection, notice_s=self.delay())

    def cut(self, host: str) -> None:
        """Let nothing through between the host and ZooKeeper until `heal`.

        The host notices when heartbeats go unanswered, at most two thirds of the timeout later.
        """
        self._cut_hosts[host] = None
        for session in self._sessions_of(host):
            if session.connection is not None:
                notice_s = self.random.uniform(0, session.timeout_s * 2 / 3)
                self._break(session.connection, notice_s=notice_s)

    def heal(self, host: str) -> None:
        """Let the host connect again."""
        self._cut_hosts.pop(host, None)

    def kill_session(self, host: str) -> None:
        """Expire the host's sessions now; the owner learns of it up to half a second later."""
        for session in self._sessions_of(host):
            connection = session.connection
            self._end(session)
            if connection is not None:
                self._break(connection, notice_s=self.random.uniform(0, 0.5))

    def kill(self, host: str) -> None:
        """Kill the host's processes: their clients refuse every call, sessions run out in time."""
        self._dead_hosts[host] = None
        for client in self.clients:
            if client.host == host:
                client.kill()
        for session in self._sessions_of(host):
            if session.connection is not None:
                self._break(session.connection, notice_s=None)

    def revive(self, host: str) -> None:
        """Let new clients of a killed host connect."""
        self._dead_hosts.pop(host, None)

    def stop(self) -> None:
        """End the server; sessions do not run out meanwhile, as they need a server for it."""
        self._is_down = True
        for session in list(self.sessions.values()):
            if session.connection is not None:
                self._break(session.connection, notice_s=self.delay())

    def start(self) -> None:
        """Answer again; every session gets its whole timeout to come back."""
        self._is_down = False
        now = asyncio.get_running_loop().time()
        for session in self.sessions.values():
            session.heard_at = now
            self._arm_expiry(session)

    def freeze(self) -> None:
        """Stand still as after SIGSTOP; clients notice when heartbeats go unanswered."""
        self._is_down = True
        for session in list(self.sessions.values()):
            if session.connection is not None:
                notice_s = self.random.uniform(0, session.timeout_s * 2 / 3)
                self._break(session.connection, notice_s=notice_s)

    def thaw(self) -> None:
        """Go on; sessions that have run out meanwhile end before anybody can connect.

        The server's clock went on while it stood still, unlike after `stop`.
        """
        self._is_down = False
        now = asyncio.get_running_loop().time()
        for session in self.sessions.values():
            if session.is_over:
                continue
            if now >= session.heard_at + session.timeout_s:
                self._end(session)
            else:
                self._arm_expiry(session)

    # -- what tests and invariants look at ---------------------------------------------------

    def data(self, path: str) -> bytes | None:
        """Return a znode's data now, None if there is none."""
        node = self.tree.nodes.get(path)
        return None if node is None else node.data

    def stat(self, path: str) -> Stat | None:
        """Return a znode's stat now."""
        node = self.tree.nodes.get(path)
        return None if node is None else node.stat()

    def children_of(self, path: str) -> list[str]:
        """Return the names of a znode's children now, sorted."""
        node = self.tree.nodes.get(path)
        return [] if node is None else sorted(node.children)

    def write(self, *operations: Operation) -> Transaction:
        """Apply a transaction at once, as a hand with its own session; raises `Refused`."""
        return self._commit(operations, OUTSIDE_SESSION, "outside")

    def put(self, path: str, data: bytes = b"") -> None:
        """Create or overwrite a znode at once, with its parents."""
        parts = path.strip("/").split("/")
        for depth in range(1, len(parts)):
            above = "/" + "/".join(parts[:depth])
            if above not in self.tree.nodes:
                self.write(Create(above))
        self.write(SetData(path, data) if path in self.tree.nodes else Create(path, data))

    # -- what clients use --------------------------------------------------------------------

    def delay(self) -> float:
        """Draw the time that a message takes one way, in seconds."""
        return self.random.uniform(*self._delay_s)

    def open(self, client: FakeClient) -> Connection | None:
        """Connect a client, None when ZooKeeper cannot be reached from its host."""
        if self._is_down or client.host in self._cut_hosts or client.host in self._dead_hosts:
            return None
        return Connection(client, contextvars.copy_context())

    def send(self, connection: Connection, work: Callable[[], None]) -> None:
        """Let ``work`` be done by the server when the request arrives, in order."""
        if connection.is_broken:
            return
        loop = asyncio.get_running_loop()
        connection.request_due = max(connection.request_due, loop.time() + self.delay())
        connection.requests.append((work, True))
        loop.call_at(connection.request_due, self._arrive, connection, context=self._context)

    def reply(self, connection: Connection, work: Callable[[], None]) -> None:
        """Let ``work`` be done by the client when the reply arrives, in order."""
        if connection.is_broken:
            return
        loop = asyncio.get_running_loop()
        connection.reply_due = max(connection.reply_due, loop.time() + self.delay())
        connection.replies.append(work)
        loop.call_at(connection.reply_due, self._deliver, connection, context=connection.context)

    def create_session(self, connection: Connection) -> ServerSession:
        """Make a session for a new client."""
        now = asyncio.get_running_loop().time()
        session_id = FIRST_SESSION_ID + len(self.sessions)
        session = ServerSession(session_id, connection.client.host, self.session_timeout_s, now)
        self.sessions[session_id] = session
        session.connection, connection.session = connection, session
        self._arm_expiry(session)
        return session

    def resume_session(self, connection: Connection, session_id: int) -> bool:
        """Give a session its new connection; return False when it has expired."""
        session = self.sessions[session_id]
        if session.is_over:
            return False
        if session.connection is not None:
            self._break(session.connection, notice_s=None)
        session.connection, connection.session = connection, session
        session.heard_at = asyncio.get_running_loop().time()
        return True

    def set_watches(
        self, connection: Connection, armed: Sequence[tuple[WatchedThing, str]], zxid: int
    ) -> None:
        """Arm a client's watches again, firing those whose znode changed after ``zxid``."""
        for thing, path in armed:
            node = self.tree.nodes.get(path)
            kind: WatchKind | None = None
            if thing is WatchedThing.ABSENCE:
                kind = WatchKind.CREATED if node is not None else None
            elif node is None:
                kind = WatchKind.DELETED
            elif thing is WatchedThing.DATA and node.mzxid > zxid:
                kind = WatchKind.CHANGED
            elif thing is WatchedThing.CHILDREN and node.pzxid > zxid:
                kind = WatchKind.CHILD
            if kind is None:
                self.arm(connection, thing, path)
            else:
                event = WatchEvent(kind, path)
                self.reply(connection, partial(connection.client.fired, event, self.tree.zxid))

    def arm(self, connection: Connection, thing: WatchedThing, path: str) -> None:
        """Remember to tell a connection of the next change."""
        watches = self._child_watches if thing is WatchedThing.CHILDREN else self._data_watches
        watches.setdefault(path, {})[connection] = None

    def read(self, path: str) -> tuple[bytes, Stat]:
        """Return data and stat; raises `NoNode`."""
        node = self.tree.nodes.get(path)
        if node is None:
            raise NoNode(path)
        return node.data, node.stat()

    def commit(
        self, connection: Connection, operations: Sequence[Operation], *, is_multi: bool
    ) -> Transaction:
        """Apply a client's transaction; raises the operation's error, or `MultiFailed`."""
        session = connection.session
        assert session is not None
        if session.is_over:
            raise SessionExpired("the session has expired")
        try:
            return self._commit(
                operations, session.session_id, session.host, "multi" if is_multi else "single"
            )
        except Refused as refused:
            if is_multi:
                raise MultiFailed(refused.index, refused.error) from refused
            raise refused.error from refused

    def close_session(self, connection: Connection) -> None:
        """End a session at its owner's word."""
        if connection.session is not None and not connection.session.is_over:
            self._end(connection.session)

    # -- the server's own --------------------------------------------------------------------

    def _sessions_of(self, host: str) -> list[ServerSession]:
        return [s for s in self.sessions.values() if s.host == host and not s.is_over]

    def _arrive(self, connection: Connection) -> None:
        work, counts = connection.requests.popleft()
        if counts:
            if connection.session is not None:
                connection.session.heard_at = asyncio.get_running_loop().time()
            work()

    def _deliver(self, connection: Connection) -> None:
        work = connection.replies.popleft()
        if not connection.is_broken:
            work()

    def _break(self, connection: Connection, *, notice_s: float | None) -> None:
        """Break a connection; its owner notices after ``notice_s``, or never (None)."""
        if connection.is_broken:
            return
        connection.is_broken = True
        if connection.session is not None and connection.session.connection is connection:
            connection.session.connection = None
        connection.requests = deque(
            (work, self.random.random() < 0.5) for work, _ in connection.requests
        )
        if notice_s is not None:
            loop = asyncio.get_running_loop()
            lost = partial(connection.client.connection_lost, connection)
            loop.call_later(notice_s, lost, context=connection.context)

    def _arm_expiry(self, session: ServerSession) -> None:
        # Sessions expire in steps of a tick, so up to a tenth later than their timeout.
        due = session.heard_at + session.timeout_s * self.random.uniform(1.0, 1.1)
        loop = asyncio.get_running_loop()
        if session.expiry is not None:
            session.expiry.cancel()
        session.expiry = loop.call_at(due, self._expire_if_due, session, context=self._context)

    def _expire_if_due(self, session: ServerSession) -> None:
        if session.is_over or self._is_down:
            return
        now = asyncio.get_running_loop().time()
        if now < session.heard_at + session.timeout_s:
            self._arm_expiry(session)
            return
        connection = session.connection
        self._end(session)
        if connection is not None:
            self._break(connection, notice_s=self.delay())

    def _end(self, session: ServerSession) -> None:
        session.is_over = True
        session.connection = None
        owned = [Delete(path) for path in self.tree.owned_by(session.session_id)]
        self._commit(owned, session.session_id, session.host, "close")

    def _commit(
        self, operations: Sequence[Operation], session_id: int, host: str, kind: str = "single"
    ) -> Transaction:
        loop = asyncio.get_running_loop()
        now_ms = self._epoch_ms + int(loop.time() * 1000)
        done = self.tree.apply(operations, session_id, now_ms)
        record = WriteRecord(
            zxid=done.zxid,
            time=loop.time(),
            session_id=session_id,
            host=host,
            kind=kind,
            operations=tuple(done.applied),
        )
        self.log.append(record)
        for event in done.events:
            self._fire(event)
        for check in self.after_write:
            check(record)
        return done

    def _fire(self, event: WatchEvent) -> None:
        """Tell the connections that watch; each is told of one event once."""
        told: dict[Connection, None] = {}
        if event.kind is not WatchKind.CHILD:
            told.update(self._data_watches.pop(event.path, {}))
        if event.kind in (WatchKind.CHILD, WatchKind.DELETED):
            told.update(self._child_watches.pop(event.path, {}))
        for connection in told:
            self.reply(connection, partial(connection.client.fired, event, self.tree.zxid))
