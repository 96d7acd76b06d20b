"""When a connection has to be closed because nothing moves. No I/O, no clock: time is an argument.

A client is idle when no byte of it has arrived for ``connections.max.idle.ms``, whether or not
requests of it wait for responses. Kafka does the same: ``Selector.maybeCloseOldestConnection``
closes the connection that was not ready for reading or writing for that long, muted or not. Nothing
else detects a client that vanished without closing the connection. Other clients are not affected:
requests that wait for records or replicas are answered after three fifths of that time at the
latest (`broker.apis.waits`), and a member that waits longer for its group joins again by the rules
of the protocol, as with Kafka.

A client stalls when a request that it began stays incomplete, or when it does not read its
responses. While the server itself does not read the connection, the time of the incomplete request
does not count.
"""

from ballast.net.server.limits import ServerLimits

NEVER = -1.0

EARLY_S = 0.002
"""By how much a timer may fire too early, because event loops round to milliseconds. A check just
before the end of the idle time would leave the connection open for another period.
"""

OLD_BYTES_S = 1.0
"""Bytes that are read this soon after reading resumed may have arrived while it was paused."""


class Liveness:
    """The activity of one connection."""

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
        """Return in how many seconds to call `overdue` next, at the latest when the idle time ends.

        So the connection of a vanished client is closed when that time is over, not a period later.
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
        """Record that bytes arrived.

        Bytes that are read as soon as reading resumes may have arrived at any time during the
        pause, and count as arrived at its start: what a client sent before it vanished does not
        keep its connection open.
        """
        if self._held_at == NEVER or now - self._resumed_at >= OLD_BYTES_S:
            self._active_at = now
        else:
            self._active_at = max(self._active_at, self._held_at)
        self._held_at = NEVER

    def read(self, now: float, *, is_frame_incomplete: bool, is_new_frame: bool) -> None:
        """Record what is left in the buffer after the received bytes were handled."""
        if not is_frame_incomplete:
            self._frame_began_at = NEVER
        elif is_new_frame or self._frame_began_at == NEVER:
            self._frame_began_at = now

    def held(self, now: float) -> None:
        """Record that the server has paused reading."""
        self._frame_began_at = NEVER
        if self._held_at == NEVER:
            self._held_at = now

    def resumed(self, now: float) -> None:
        """Record that the server reads again."""
        self._resumed_at = now

    def write_paused(self, now: float) -> None:
        """Record that the client does not read what is written."""
        self._stalled_at = now
        self._unsent = 1 << 62

    def write_resumed(self, now: float) -> None:
        """Record that the client has read most of it."""
        self._stalled_at = NEVER
        self._active_at = now

    def overdue(self, now: float, *, pending: int, unsent: int) -> str | None:
        """Return why the connection has to be closed, or None.

        ``pending``: bytes of an incomplete request; ``unsent``: bytes of responses that are not
        sent.
        """
        limits = self._limits
        if self._stalled_at != NEVER:
            if unsent < self._unsent:
                self._unsent = unsent
                self._stalled_at = now
            elif now - self._stalled_at >= limits.write_stall_timeout_s:
                return "the client does not read its responses"
        elif self._frame_began_at != NEVER:
            allowed_s = limits.incomplete_frame_timeout_s + pending / limits.min_receive_rate
            if now - self._frame_began_at >= allowed_s:
                return "a request stayed incomplete"
        # A stalled client is not idle: it may be reading one large response slowly.
        if self._stalled_at == NEVER and now - self._active_at >= limits.connections_max_idle_s:
            return "idle"
        return None
