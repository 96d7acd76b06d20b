"""Start offsets of leader epochs: the rules of Kafka's LeaderEpochFileCache (KIP-101, KIP-279).

It does no I/O: `storage` keeps the entries in ``leader-epoch-checkpoint``.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class EpochEntry(NamedTuple):
    """A leader epoch and the first offset written under it."""

    epoch: int
    start_offset: int


class LeaderEpochCache:
    """Leader epochs of one log, oldest first.

    Invariant: epochs and start offsets both strictly increase (KAFKA-7415).
    """

    __slots__ = ("_entries", "latest_epoch")

    def __init__(self, entries: Sequence[EpochEntry] = ()) -> None:
        self._entries: list[EpochEntry] = []
        self.latest_epoch = UNDEFINED_EPOCH
        """The newest epoch; -1 if there is none."""
        for entry in entries:
            self.assign(entry.epoch, entry.start_offset)

    @property
    def entries(self) -> tuple[EpochEntry, ...]:
        """All entries, oldest first."""
        return tuple(self._entries)

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Record that ``epoch`` starts at ``start_offset``; return whether that changed anything.

        Entries whose epoch or start offset is not below that of the new one are dropped.
        """
        if epoch < 0 or start_offset < 0:
            raise ValueError(f"no leader epoch: {epoch} at {start_offset}")
        entries = self._entries
        if entries and entries[-1].epoch == epoch and start_offset >= entries[-1].start_offset:
            return False
        while entries and (entries[-1].epoch >= epoch or entries[-1].start_offset >= start_offset):
            entries.pop()
        entries.append(EpochEntry(epoch, start_offset))
        self.latest_epoch = epoch
        return True

    def epoch_at(self, offset: int) -> int:
        """Return the epoch under which ``offset`` is or will be written; -1 below the first."""
        entries = self._entries
        if entries and offset >= entries[-1].start_offset:
            return entries[-1].epoch
        index = bisect_right(entries, offset, key=lambda entry: entry.start_offset)
        return self._entries[index - 1].epoch if index else UNDEFINED_EPOCH

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """Return the greatest known epoch <= ``epoch`` and where it ends: OffsetForLeaderEpoch.

        | requested epoch              | result                                          |
        |------------------------------|-------------------------------------------------|
        | undefined, or above the last | (-1, -1)                                        |
        | the last                     | (it, the log's end)                             |
        | below the first              | (it, the first one's start)                     |
        | any other                    | (greatest epoch <= it, the next one's start)    |
        """
        entries = self._entries
        if epoch == UNDEFINED_EPOCH or not entries or epoch > entries[-1].epoch:
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        if epoch == entries[-1].epoch:
            return epoch, log_end_offset
        above = bisect_right(entries, epoch, key=lambda entry: entry.epoch)
        if above == 0:
            return epoch, entries[0].start_offset
        return entries[above - 1].epoch, entries[above].start_offset

    def truncate_from_end(self, offset: int) -> bool:
        """Drop the epochs that begin at or above ``offset``; return whether there were any."""
        keep = bisect_left(self._entries, offset, key=lambda entry: entry.start_offset)
        changed = keep < len(self._entries)
        del self._entries[keep:]
        self._find_latest()
        return changed

    def truncate_from_start(self, offset: int) -> bool:
        """Make the epoch that covers ``offset`` start there, and drop the older ones."""
        covering = bisect_right(self._entries, offset, key=lambda entry: entry.start_offset)
        if covering == 0 or (self._entries[covering - 1].start_offset == offset and covering == 1):
            return False
        epoch = self._entries[covering - 1].epoch
        self._entries[:covering] = [EpochEntry(epoch, offset)]
        return True

    def replace(self, entries: Sequence[EpochEntry]) -> bool:
        """Replace all entries; return whether that changed anything."""
        changed = self._entries != list(entries)
        self._entries[:] = entries
        self._find_latest()
        return changed

    def clear(self) -> bool:
        """Remove all entries; return whether there were any."""
        changed = bool(self._entries)
        self._entries.clear()
        self._find_latest()
        return changed

    def _find_latest(self) -> None:
        self.latest_epoch = self._entries[-1].epoch if self._entries else UNDEFINED_EPOCH
