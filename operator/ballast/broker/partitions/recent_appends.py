"""From which offset on a log was written a moment ago, so that its bytes need no second check."""

from typing import Final

RECENT_S: Final = 0.2


class RecentAppends:
    """Remembers where the log ended one or two looks ago. Looks cost next to nothing."""

    __slots__ = ("_last", "_looked_at", "_start")

    def __init__(self) -> None:
        self._start = self._last = 0
        self._looked_at = float("-inf")

    def start(self, log_end_offset: int, now: float) -> int:
        """Return an offset from which on all was appended within the last `RECENT_S` x 3.

        Without a look in that time nothing counts as recent. ``now`` is in seconds.
        """
        passed = now - self._looked_at
        if passed >= RECENT_S:
            self._start = self._last if passed < 2 * RECENT_S else log_end_offset
            self._last, self._looked_at = log_end_offset, now
        return self._start
