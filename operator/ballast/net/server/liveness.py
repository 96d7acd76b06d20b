"""When a connection has to be closed because nothing moves. No I/O, no clock: time is given.

A client is idle when no byte of it has come for ``connections.max.idle.ms``, whether requests of it
wait for their answers or not: so does Kafka, whose ``Selector`` closes the connection that was not
ready for reading or writing for that long, muted or not, and counts nothing else
(``Selector.maybeCloseOldestConnection``). Who vanished without a word is found by nothing else. An
honest client is not cut by it: requests to wait for records or replicas are answered after three
fifths of that time at the latest (`broker.apis.waits`), and whoever waits longer for a group to
gather joins again by the rules of the protocol, as with Kafka.

A client stalls when a request that it began does not get complete, or when it does not read its
answers. While the server itself holds the connection back, its clock for the incomplete request
stands still.
"""

from ballast.net.server.limits import ServerLimits

NEVER = -1.0

EARLY_S = 0.002
"""By how much a timer may fire too early, for event loops round to milliseconds: a look that comes
just before the end of the idle time would leave the connection for another period."""

OLD_BYTES_S = 1.0
"""What is read this soon after the server reads again was there before, or may have been."""


class Liveness:
    """What one connection was seen doing."""

    __slots__ = (
        "_active_at",
        "_frame_began_at",
        "_held_at",
        "_limits",
        "_resumed_at",
        "_stalled_at",
        "_unsent",
    )

    def __init__(self, limits: ServerLimits, now: float) -> None:
        self._limits = limits
        self._active_at = now
        self._frame_began_at = NEVER
        self._held_at = NEVER
        self._resumed_at = NEVER
        self._stalled_at = NEVER
        self._unsent = 0

    def next_look_s(self, now: float) -> float:
        """Return in how many seconds `overdue` is worth asking: at the end of the idle time, too.

        So the connection of a client that has vanished is closed when that time is over, not later.
        """
        limits = self._limits
        period_s = min(
            limits.quiet_period_s,
            limits.incomplete_frame_timeout_s,
            limits.connections_max_idle_s,
            limits.write_stall_timeout_s,
        )
        until_idle_s = self._active_at + limits.connections_max_idle_s - now + EARLY_S
        return min(period_s, until_idle_s) if until_idle_s > 0 else period_s

    def received(self, now: float) -> None:
        """Take note that bytes came.

        Those that are read as soon as the connection is not held any more may have come at any time
        since it was: they count as of then. What a client sent before it vanished keeps nothing.
        """
        if self._held_at == NEVER or now - self._resumed_at >= OLD_BYTES_S:
            self._active_at = now
        else:
            self._active_at = max(self._active_at, self._held_at)
        self._held_at = NEVER

    def read(self, now: float, *, is_frame_incomplete: bool, is_new_frame: bool) -> None:
        """Take note of what handling the received bytes left behind."""
        if not is_frame_incomplete:
            self._frame_began_at = NEVER
        elif is_new_frame or self._frame_began_at == NEVER:
            self._frame_began_at = now

    def held(self, now: float) -> None:
        """Take note that the server reads no more for the time being."""
        self._frame_began_at = NEVER
        if self._held_at == NEVER:
            self._held_at = now

    def resumed(self, now: float) -> None:
        """Take note that the server reads again."""
        self._resumed_at = now

    def write_paused(self, now: float) -> None:
        """Take note that the client does not take what is written."""
        self._stalled_at = now
        self._unsent = 1 << 62

    def write_resumed(self, now: float) -> None:
        """Take note that the client has taken most of it."""
        self._stalled_at = NEVER
        self._active_at = now

    def overdue(self, now: float, *, pending: int, unsent: int) -> str | None:
        """Return why the connection has to be closed, or None.

        ``pending``: bytes of an incomplete request; ``unsent``: bytes of answers not taken.
        """
        limits = self._limits
        if self._stalled_at != NEVER:
            if unsent < self._unsent:
                self._unsent = unsent
                self._stalled_at = now
            elif now - self._stalled_at >= limits.write_stall_timeout_s:
                return "the client does not read its answers"
        elif self._frame_began_at != NEVER:
            allowed_s = limits.incomplete_frame_timeout_s + pending / limits.min_receive_rate
            if now - self._frame_began_at >= allowed_s:
                return "a request stayed incomplete"
        # A stalled client is not idle: it may be reading one large answer slowly.
        if self._stalled_at == NEVER and now - self._active_at >= limits.connections_max_idle_s:
            return "idle"
        return None
