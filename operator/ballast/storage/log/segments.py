"""The segments of one log, oldest first; the last one is the active segment.

Invariant: there is always at least one segment; all but the last are sealed. Files of sealed
segments are opened when they are read, and only a few stay open, so that the number of descriptors
does not grow with the log.
"""

from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ballast.protocol.records import BatchHeader
from ballast.storage.errors import StorageError
from ballast.storage.files.durability import Flushes, run
from ballast.storage.files.ports import Files
from ballast.storage.log.segment import Segment

SEALED_OPEN_MAX = 4


class LogPosition(NamedTuple):
    """The position of a batch on disk (Kafka's ``LogOffsetMetadata`` without the offset)."""

    base_offset: int
    """Of the segment that holds the batch."""
    position: int
    """Bytes from the start of that segment's file."""


class Segments:
    """Segments by base offset. Methods raise `DiskError` and `CorruptLog`."""

    __slots__ = (
        "_files",
        "_just_retired",
        "_list",
        "_open_sealed",
        "_retired",
        "cuts",
        "directory",
        "names_changed",
        "tail_cuts",
    )

    def __init__(self, files: Files, directory: str, segments: list[Segment]) -> None:
        assert segments, "a log has at least one segment"
        self.directory = directory
        self.names_changed = False
        """Whether files were created or removed since the directory was last flushed."""
        self.cuts = 0
        """How many times batches were removed from either end."""
        self.tail_cuts = 0
        """How many times batches were removed from the end."""
        self._files = files
        self._list = segments
        self._open_sealed: OrderedDict[int, Segment] = OrderedDict()
        self._just_retired: list[str] = []
        self._retired: deque[tuple[int, list[str]]] = deque()
        """Paths to remove, each list with the time of the first call of `remove_retired`."""

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._list)

    def __len__(self) -> int:
        return len(self._list)

    @property
    def first(self) -> Segment:
        """The oldest segment."""
        return self._list[0]

    @property
    def active(self) -> Segment:
        """The segment that appends go to."""
        return self._list[-1]

    @property
    def size_bytes(self) -> int:
        """Bytes of all batches."""
        return sum(segment.size for segment in self._list)

    def number_of(self, offset: int) -> int:
        """Return the number of the segment that holds ``offset``, or of the first."""
        return max(0, bisect_right(self._list, offset, key=lambda s: s.base_offset) - 1)

    def holding(self, offset: int) -> Segment:
        """Return the segment that holds ``offset``, with its files open."""
        active = self._list[-1]
        if offset >= active.base_offset:
            return active
        return self.opened(self._list[self.number_of(offset)])

    def position_of(self, offset: int) -> LogPosition:
        """Return where the first batch that ends at or above ``offset`` begins."""
        segment = self.holding(offset)
        return LogPosition(segment.base_offset, segment.position_of(offset))

    def read(
        self, offset: int, upper_offset: int, max_bytes: int, *, at_least_one_batch: bool
    ) -> bytes | memoryview:
        """Return what `Segment.read` returns, from the first segment that has any of it.

        Kafka's compaction may leave nothing of a segment from some offset on.
        """
        while True:
            segment = self.holding(offset)
            found = segment.read(
                offset, upper_offset, max_bytes, at_least_one_batch=at_least_one_batch
            )
            end = segment.end_offset
            if found or end is None or end >= upper_offset:
                return found
            if segment.position_of(offset) < segment.size:
                return found
            offset = end

    def following(self, offset: int) -> list[Segment]:
        """Return the segment that holds ``offset`` and all after it."""
        return self._list[self.number_of(offset) :]

    def batches_from(self, offset: int) -> Iterator[BatchHeader]:
        """Yield the headers of the batches that end at or above ``offset``."""
        for segment in self.following(offset):
            self.opened(segment)
            for _, header in segment.scan(segment.position_of(offset)):
                yield header

    def make_next(self, base_offset: int) -> Segment:
        """Create the files of a segment for `roll`; the log is not changed.

        If descriptors run out, they do so here: `roll` closes what it opens.
        """
        segment = Segment(
            self._files, self.directory, base_offset, self.active.index_interval_bytes
        )
        try:
            segment.create()
        except StorageError:
            segment.release()
            raise
        return segment

    def roll(self, segment: Segment, preallocated_bytes: int = 0) -> None:
        """Seal the last segment and add a new one, with a file of ``preallocated_bytes``."""
        base_offset = segment.base_offset
        if preallocated_bytes:
            segment.reserve(preallocated_bytes)
        sealed = self.active
        sealed.trim(durable=False)
        sealed.seal(base_offset)
        self._list.append(segment)
        self.opened(sealed)
        self.names_changed = True

    def trim(self) -> None:
        """Cut what was reserved for the last segment and is unused, durably."""
        self.active.trim(durable=True)

    def truncate(self, offset: int) -> int:
        """Cut all batches that end at or above ``offset``, durably; return the next offset."""
        self.cuts += 1
        self.tail_cuts += 1
        keep = self.number_of(offset) + 1
        for segment in reversed(self._list[keep:]):
            self._remove(segment)
        del self._list[keep:]
        self._open_sealed.pop(self.active.base_offset, None)
        next_offset = self.active.truncate(offset)
        self.flush_names()
        return next_offset

    def restart_at(self, offset: int) -> None:
        """Replace everything by one empty segment at ``offset``, durably."""
        self.cuts += 1
        self.tail_cuts += 1
        interval = self.active.index_interval_bytes
        for segment in reversed(self._list):
            self._remove(segment)
        segment = Segment(self._files, self.directory, offset, interval)
        segment.create()
        self._list = [segment]
        self.names_changed = True
        run(segment.flushes())
        self.flush_names()

    def retire_below(self, offset: int) -> None:
        """Drop the sealed segments that end at or below ``offset``, oldest first.

        Their files are renamed; `remove_retired` removes them.
        """
        for segment in self._list[: self.number_of(offset)]:
            self.cuts += 1
            self._retire(segment)
            del self._list[0]

    def replace(self, old: Sequence[Segment], new: Segment) -> None:
        """Drop consecutive sealed segments, and put ``new`` in their place."""
        first = self._list.index(old[0])
        assert self._list[first : first + len(old)] == list(old), "a log's segments, in order"
        for segment in old:
            self._retire(segment)
        self._list[first : first + len(old)] = [new]

    def _retire(self, segment: Segment) -> None:
        self._open_sealed.pop(segment.base_offset, None)
        self.names_changed = True
        self._just_retired += segment.retire()

    def remove_retired(self, now_ms: int, delay_ms: int) -> None:
        """Remove the files of segments that were dropped ``delay_ms`` ago.

        ``now_ms`` is on any one clock. The delay begins with the first call after the drop.
        """
        if self._just_retired:
            self._retired.append((now_ms, self._just_retired))
            self._just_retired = []
        while self._retired and now_ms - self._retired[0][0] >= delay_ms:
            for path in self._retired.popleft()[1]:
                # A segment of the same name may have been dropped and removed meanwhile.
                if self._files.exists(path):
                    self._files.remove(path)

    def flushes(self, offset: int, end_offset: int) -> Flushes:
        """Make everything from ``offset`` to ``end_offset`` durable, names included.

        Each segment is looked up when its turn comes, because it may have been dropped meanwhile.
        """
        while True:
            segment = self._list[self.number_of(offset)]
            yield from segment.flushes()
            if segment.sealed and segment.base_offset not in self._open_sealed:
                segment.release()
            if segment.end_offset is None or segment.end_offset >= end_offset:
                break
            offset = segment.end_offset
        if self.names_changed:
            flush = self._files.begin_flush_directory(self.directory)
            self.names_changed = False
            yield flush

    def flush_names(self) -> None:
        """Make created and removed files durable."""
        if self.names_changed:
            self._files.flush_directory(self.directory)
            self.names_changed = False

    def relocate(self, directory: str) -> None:
        """Use the files in a directory that was renamed to ``directory``."""
        self.release()
        self.directory = directory
        for segment in self._list:
            segment.relocate(directory)
        moved = [(at, self._relocated(paths)) for at, paths in self._retired]
        self._retired = deque(moved)
        self._just_retired = self._relocated(self._just_retired)

    def _relocated(self, paths: Iterable[str]) -> list[str]:
        return [f"{self.directory}/{path.rpartition('/')[2]}" for path in paths]

    def flush_names_now(self) -> None:
        """Make renamed files durable too."""
        self.names_changed = True
        self.flush_names()

    def release(self) -> None:
        """Close every file."""
        self._open_sealed.clear()
        for segment in self._list:
            segment.release()

    def _remove(self, segment: Segment) -> None:
        self._open_sealed.pop(segment.base_offset, None)
        segment.remove()
        self.names_changed = True

    def opened(self, segment: Segment) -> Segment:
        """Count a segment that is about to be read among the few with open files."""
        if segment.sealed:
            self._open_sealed[segment.base_offset] = segment
            self._open_sealed.move_to_end(segment.base_offset)
            if len(self._open_sealed) > SEALED_OPEN_MAX:
                self._open_sealed.popitem(last=False)[1].release()
        return segment
