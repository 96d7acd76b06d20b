"""The wall clocks of the hosts: each may leap while time itself goes on as ever (T1)."""

from collections.abc import Callable

EPOCH_MS = 1_700_000_000_000
"""What every clock shows when a run begins."""


class WallClocks:
    """Milliseconds since 1970, by host."""

    def __init__(self, now: Callable[[], float]) -> None:
        """Make them; ``now`` is the time that does not leap, in seconds since the run began."""
        self._now = now
        self._ahead_ms: dict[str, int] = {}

    def of(self, host: str) -> Callable[[], int]:
        """Return a host's clock."""
        return lambda: EPOCH_MS + int(self._now() * 1000) + self._ahead_ms.get(host, 0)

    def leap(self, host: str, by_ms: int) -> None:
        """Have a host's clock leap, from the true time."""
        self._ahead_ms[host] = by_ms

    def set_right(self, host: str) -> None:
        """Have a host's clock show the true time."""
        self._ahead_ms.pop(host, None)

    def set_all_right(self) -> None:
        """Have every clock show the true time."""
        self._ahead_ms.clear()
