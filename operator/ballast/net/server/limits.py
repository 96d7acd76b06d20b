"""The limits of one server, the rate at which it serves new connections, and its counters.

A limit that is a setting of Kafka is named after it. No I/O, no clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ballast.model.settings.fields import default_of, setting

BURST_S = 1.0
"""Connections of this many seconds may arrive at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """Bounds of one listener."""

    request_max_bytes: int = setting("socket.request.max.bytes")
    """socket.request.max.bytes: a longer frame closes the connection."""
    max_in_flight: int = 32
    """Unanswered requests of one connection, at which it is not read any further. Requests that
    wait for records or for members of a group count several times
    (`ballast.net.server.delayed_frame`).
    """
    connections_max_idle_s: float = default_of("connections.max.idle.ms") / 1000
    """connections.max.idle.ms: a connection that sends nothing for this long is closed, even while
    requests of it wait for their responses.
    """
    max_connections: int = 20_000
    """max.connections: further ones are closed when they are accepted."""
    max_connections_per_ip: int = 20_000
    """max.connections.per.ip."""
    max_descriptor: int | None = None
    """A connection whose descriptor is this or above is closed when it is accepted. The system
    assigns the lowest free descriptor, so all below are in use, and the rest is reserved for
    files.
    """
    max_connections_of: Mapping[str, int] = field(default_factory=dict)
    """max.connections.per.ip.overrides, by address."""
    connections_per_s: int = setting("max.connection.creation.rate")
    """max.connection.creation.rate: clients that connect faster are read from later."""
    queued_request_bytes: int = 0
    """queued.max.request.bytes: while the requests that are being read hold more, reading no
    further request begins. 0 = no bound.
    """
    incomplete_frame_timeout_s: float = 30.0
    """A frame must be complete this long after its first byte, plus the time that its bytes take at
    the rate below. A client that sends half a header, or a byte now and then, does not hold a
    connection without end.
    """
    min_receive_rate: int = setting("ballast.connections.min.receive.rate")
    """Bytes per second that a slow client must reach."""
    write_stall_timeout_s: float = 60.0
    """A client that reads none of its responses for this long is disconnected."""
    output_high_water: int = 256 * 1024
    """Unsent bytes above which no further request of the connection is started."""
    send_buffer_bytes: int = 512 * 1024
    """Size of the socket's send buffer. The kernel's own choice grows to megabytes, beyond the CPU
    caches: a large fetch took a quarter longer with it.
    """
    quiet_period_s: float = 15.0
    """How often a connection is checked: an unused receive buffer is freed, and a client that has
    closed the connection while it was not read is noticed.
    """


@dataclass(slots=True)
class ServerCounters:
    """Totals since the server was started."""

    accepted: int = 0
    refused: int = 0
    """Closed at once because of a limit of connections or descriptors."""
    requests: int = 0
    malformed: int = 0
    """Connections closed because a frame or request could not be decoded."""
    handler_errors: int = 0
    timed_out: int = 0
    """Connections closed for idleness, a stalled frame or a stalled reader."""


class ConnectionRate:
    """Delays reading from new connections so that no more are served than a rate allows.

    Kafka's acceptor sleeps when connections arrive faster than ``max.connection.creation.rate``
    (KIP-612, ConnectionQuotas). Here they are accepted, and their requests are read when their
    turn has come; ``max.connections`` bounds how many wait.
    """

    def __init__(self) -> None:
        self._last_turn = float("-inf")

    def delay_s(self, connections_per_s: int, now: float) -> float:
        """Return for how many seconds a connection accepted at ``now`` is not read from."""
        self._last_turn = max(self._last_turn, now - BURST_S) + 1 / connections_per_s
        return max(0.0, self._last_turn - now)
