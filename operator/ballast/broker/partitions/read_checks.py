"""Which records need no check of their checksums before they are sent.

Stored records are checked when they are read, so that damage on the disk is not sent to consumers
and followers. Two cheap memories keep this out of the common path: records that were appended a
moment ago were checked then (`RecentAppends`), and records that several consumers read one after
the other are checked once (`CheckedReads`).
"""

from typing import Final

RECENT_S: Final = 0.2


AGAIN_AFTER_S: Final = 3.0
REMEMBERED_READS: Final = 1024
WORTH_BYTES: Final = 64 * 1024
"""Checking smaller reads again is cheaper than remembering them."""


class RecentAppends:
    """Remembers the log end offset at the last one or two calls; calls cost almost nothing."""

    __slots__ = ("_last", "_looked_at", "_start")

    def __init__(self) -> None:
        self._start = self._last = 0
        self._looked_at = float("-inf")

    def start(self, log_end_offset: int, now: float) -> int:
        """Return an offset from which everything was appended within the last `RECENT_S` x 3.

        Without a call in that time nothing counts as recent. ``now`` is in seconds.
        """
        passed = now - self._looked_at
        if passed >= RECENT_S:
            self._start = self._last if passed < 2 * RECENT_S else log_end_offset
            self._last, self._looked_at = log_end_offset, now
        return self._start


class CheckedReads:
    """Remembers the latest checked reads of one log, a bounded number of them."""

    __slots__ = ("_reads",)

    def __init__(self) -> None:
        self._reads: dict[int, tuple[int, float]] = {}
        """Offset -> number of intact bytes from there on, and when they were checked."""

    def covers(self, offset: int, size_bytes: int, now: float) -> bool:
        """Whether these bytes were checked within `AGAIN_AFTER_S`; ``now`` is in seconds."""
        sound_bytes, checked_at = self._reads.get(offset, (0, 0.0))
        return size_bytes <= sound_bytes and now - checked_at < AGAIN_AFTER_S

    def add(self, offset: int, size_bytes: int, now: float) -> None:
        """Remember that these bytes are intact."""
        if size_bytes >= WORTH_BYTES:
            self._reads.pop(offset, None)
            self._reads[offset] = size_bytes, now
            if len(self._reads) > REMEMBERED_READS:
                del self._reads[next(iter(self._reads))]
