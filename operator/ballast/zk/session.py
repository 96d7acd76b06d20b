"""What a client believes of its session, by its own clock.

ZooKeeper can say that a session has expired only when it answers, and until then others may have
taken what the session owned. So a client that has heard nothing for the whole session timeout
ends the session itself and refuses every call from then on.
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

    All methods but `heard` are called on the event loop.
    """

    def __init__(self) -> None:
        self.session_id = 0
        self.timeout_s = 0.0
        self._state = _State.NEW
        self._heard_at = 0.0
        self._callbacks: list[Callable[[SessionEvent], None]] = []
        self._waiters: list[asyncio.Future[None]] = []
        self._fence: asyncio.TimerHandle | None = None

    @property
    def is_connected(self) -> bool:
        """Whether calls reach ZooKeeper, as far as is known."""
        return self._state is _State.CONNECTED

    @property
    def is_over(self) -> bool:
        """Whether the session has ended."""
        return self._state is _State.OVER

    def on_event(self, callback: Callable[[SessionEvent], None]) -> None:
        """Call ``callback`` on each event from now on."""
        self._callbacks.append(callback)

    def check(self) -> None:
        """Return if a call may be sent now; raises `ConnectionLoss` or `SessionExpired`."""
        if self._state in (_State.CONNECTED, _State.SUSPENDED) and self._is_silent():
            # The fence's timer is late, as after a pause of the whole process.
            self.expired()
        if self._state is _State.OVER:
            raise SessionExpired("the session has ended")
        if self._state is not _State.CONNECTED:
            raise ConnectionLoss("not connected; the call was not sent")

    async def wait_connected(self) -> None:
        """Return when connected; raises `SessionExpired`."""
        while True:
            try:
                self.check()
            except ConnectionLoss:
                waiter = asyncio.get_running_loop().create_future()
                self._waiters.append(waiter)
                await waiter
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
        if self._fence is None:
            self._arm_fence()
        if self._state is not _State.CONNECTED:
            self._state = _State.CONNECTED
            self._tell(SessionEvent.CONNECTED)

    def suspended(self) -> None:
        """Note that the connection is lost."""
        if self._state is _State.CONNECTED:
            self._state = _State.SUSPENDED
            self._tell(SessionEvent.SUSPENDED)

    def expired(self) -> None:
        """Note that the session has ended, by ZooKeeper's word or by one's own clock."""
        if self._state is not _State.OVER:
            self._finish()
            self._tell(SessionEvent.EXPIRED)

    def closed(self) -> None:
        """Note that its owner ended the session; that is no event."""
        if self._state is not _State.OVER:
            self._finish()
            self._wake()

    def _finish(self) -> None:
        self._state = _State.OVER
        if self._fence is not None:
            self._fence.cancel()
            self._fence = None

    def _arm_fence(self) -> None:
        loop = asyncio.get_running_loop()
        self._fence = loop.call_at(self._heard_at + self.timeout_s, self._fence_fired)

    def _fence_fired(self) -> None:
        """End the session if it is silent for too long, else look again later."""
        if self._is_silent():
            self.expired()
        else:
            self._arm_fence()

    def _is_silent(self) -> bool:
        """Whether nothing was heard for the whole session timeout."""
        return asyncio.get_running_loop().time() >= self._heard_at + self.timeout_s

    def _tell(self, event: SessionEvent) -> None:
        self._wake()
        for callback in tuple(self._callbacks):
            callback(event)

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
