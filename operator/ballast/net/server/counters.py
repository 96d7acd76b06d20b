"""What a server of frames counts."""

from dataclasses import dataclass


@dataclass(slots=True)
class ServerCounters:
    """What a server has seen since it started; only ever counts up."""

    accepted: int = 0
    refused: int = 0
    """Closed at once because of max.connections or max.connections.per.ip."""
    requests: int = 0
    malformed: int = 0
    """Connections closed for a frame or request that cannot be read."""
    handler_errors: int = 0
    timed_out: int = 0
    """Connections closed for idleness, a stalled frame or a stalled reader."""
