"""The client's state of its session: connected, suspended, silent, over.

Only ZooKeeper ends a session, by its response to a reconnect, as with Kafka's client. A client that
ended its session by its own clock could lose ephemeral znodes that still exist: a server that was
down restarts the timeout of every session. So a client without a connection tries to resume its
session until ZooKeeper responds.

After the session timeout without a response the session is *silent*: its ephemeral znodes may be
gone, and another broker or candidate may have replaced this one. The owner decides what follows
(see `broker.serving` and `candidate.candidate`). It need not be stopped: a replaced owner is fenced
by versions of znodes and by epochs, not by clocks.
"""

import asyncio
from collections.abc import Callable
from enum import Enum, auto

from ballast.zk.client import SessionEvent
from ballast.zk.errors import ConnectionLoss, SessionExpired


class _State(Enum):
    NEW = auto()
    CONNECTED = auto()
    SUSPENDED = auto()
    OVER = auto()


class Session:
    """The life of one session: new, connected and suspended in turn, over.

    All methods are called on the event loop, except the one for kazoo's responses.
    """

    def __init__(self) -> None:
        self.session_id = 0
        self.timeout_s = 0.0
        self._state = _State.NEW
        self._heard_at = 0.0
        self._callbacks: list[Callable[[SessionEvent], None]] = []
        self._waiters: list[asyncio.Future[None]] = []

    @property
    def is_connected(self) -> bool:
        """Whether calls reach ZooKeeper, as far as is known."""
        return self._state is _State.CONNECTED

    @property
    def is_over(self) -> bool:
        """Whether the session has ended."""
        return self._state is _State.OVER

    def is_silent(self, now: float) -> bool:
        """Whether the session may be over at ``now`` (loop seconds), or is.

        Safe in any thread.
        """
        return self._state in (_State.NEW, _State.OVER) or now >= self._heard_at + self.timeout_s

    def on_event(self, callback: Callable[[SessionEvent], None]) -> None:
        """Call ``callback`` on each event from now on."""
        self._callbacks.append(callback)

    def check(self) -> None:
        """Return if a call may be sent now; raises `ConnectionLoss` or `SessionExpired`."""
        if self._state is _State.OVER:
            raise SessionExpired("the session has ended")
        if self._state is not _State.CONNECTED:
            raise ConnectionLoss("not connected; the call was not sent")

    async def wait_connected(self) -> None:
        """Return when connected; raises `SessionExpired`.

        It waits for as long as ZooKeeper does not answer: a caller with a deadline sets its own.
        """
        while True:
            try:
                self.check()
            except ConnectionLoss:
                waiter = asyncio.get_running_loop().create_future()
                self._waiters.append(waiter)
                try:
                    await waiter
                finally:
                    if waiter in self._waiters:
                        self._waiters.remove(waiter)
            else:
                return

    def heard(self, now: float) -> None:
        """Note that ZooKeeper answered at ``now`` (loop seconds); may be called from any thread."""
        self._heard_at = now

    def connected(self, session_id: int, timeout_s: float) -> None:
        """Note that the session is established, or saved from a lost connection."""
        if self._state is _State.OVER:
            return
        self.session_id = session_id
        self.timeout_s = timeout_s
        self.heard(asyncio.get_running_loop().time())
        if self._state is not _State.CONNECTED:
            self._state = _State.CONNECTED
            self._tell(SessionEvent.CONNECTED)

    def suspended(self) -> None:
        """Note that the connection is lost."""
        if self._state is _State.CONNECTED:
            self._state = _State.SUSPENDED
            self._tell(SessionEvent.SUSPENDED)

    def expired(self) -> None:
        """Note that ZooKeeper has said that the session has ended."""
        if self._state is not _State.OVER:
            self._state = _State.OVER
            self._tell(SessionEvent.EXPIRED)

    def closed(self) -> None:
        """Note that its owner ended the session; that is no event."""
        if self._state is not _State.OVER:
            self._state = _State.OVER
            self._wake()

    def _tell(self, event: SessionEvent) -> None:
        self._wake()
        for callback in tuple(self._callbacks):
            callback(event)

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
