"""Which reads of a log were found sound a moment ago, so that many readers pay for one check."""

from typing import Final

AGAIN_AFTER_S: Final = 3.0
REMEMBERED_READS: Final = 1024
WORTH_BYTES: Final = 64 * 1024
"""Smaller reads are sooner checked again than remembered."""


class CheckedReads:
    """Remembers the newest reads of one log that were checked, a bounded number of them."""

    __slots__ = ("_reads",)

    def __init__(self) -> None:
        self._reads: dict[int, tuple[int, float]] = {}
        """Offset -> how many bytes from there on are sound, and when that was found."""

    def covers(self, offset: int, size_bytes: int, now: float) -> bool:
        """Whether these bytes were checked within `AGAIN_AFTER_S`; ``now`` is in seconds."""
        sound_bytes, checked_at = self._reads.get(offset, (0, 0.0))
        return size_bytes <= sound_bytes and now - checked_at < AGAIN_AFTER_S

    def add(self, offset: int, size_bytes: int, now: float) -> None:
        """Remember that these bytes are sound."""
        if size_bytes >= WORTH_BYTES:
            self._reads.pop(offset, None)
            self._reads[offset] = size_bytes, now
            if len(self._reads) > REMEMBERED_READS:
                del self._reads[next(iter(self._reads))]
