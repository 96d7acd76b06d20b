"""One segment of a log: its batches and the two sparse indexes of them.

An index entry is made for the first batch that begins more than ``index.interval.bytes`` after that
of the previous entry (LogSegment.append). Positions of recent batch boundaries are remembered, so
that reads at the tail and sequential reads need no search.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ballast.model.settings.values import INT_MAX, LONG_MAX
from ballast.protocol.errors import RecordsError
from ballast.protocol.records import HEADER_SIZE, BatchHeader, read_batch_header
from ballast.storage.errors import CorruptLog, StorageError
from ballast.storage.files.descriptors import Buffer
from ballast.storage.files.durability import Flushes, each
from ballast.storage.files.ports import Files, Flush
from ballast.storage.log.index import NO_TIMESTAMP
from ballast.storage.log.segment_files import SegmentFiles

REMEMBERED_POSITIONS = 64


class BatchMark(NamedTuple):
    """The properties of one appended batch that a segment needs."""

    position: int
    """Relative to the appended bytes."""
    size: int
    last_offset: int
    max_timestamp: int


def mark_of(header: BatchHeader, position: int = 0) -> BatchMark:
    """Return the mark of a batch whose header holds its final offset."""
    return BatchMark(position, header.size, header.last_offset, header.max_timestamp)


class Segment(SegmentFiles):
    """Batches from `base_offset` on. Methods raise `DiskError`; those that scan, `CorruptLog`."""

    __slots__ = (
        "_bytes_since_entry",
        "_first_timestamp",
        "_first_wait_ms",
        "_positions",
        "end_offset",
        "index_interval_bytes",
        "max_timestamp",
        "max_timestamp_offset",
    )

    def __init__(
        self,
        files: Files,
        directory: str,
        base_offset: int,
        index_interval_bytes: int,
        suffix: str = "",
    ) -> None:
        """Make it; ``suffix`` follows the names of files that do not belong to the log."""
        super().__init__(files, directory, base_offset, suffix)
        self.index_interval_bytes = index_interval_bytes
        self.end_offset: int | None = None
        """The next segment's base offset; None for the active segment."""
        self.max_timestamp = NO_TIMESTAMP
        self.max_timestamp_offset = base_offset
        self._first_timestamp: int | None = None
        self._first_wait_ms: int | None = None
        self._bytes_since_entry = 0
        self._positions: dict[int, int] = {}

    @property
    def sealed(self) -> bool:
        """Whether appends go to a later segment."""
        return self.end_offset is not None

    def create(self) -> None:
        """Begin an empty segment; files that a crash left under its names are emptied."""
        self._open(create=True).truncate(0)
        for index in (self.offset_index.file, self.time_index.file):
            index.load(verify=False)
            index.keep(0)
            index.write()

    def open_sealed(self, end_offset: int) -> None:
        """Take the size from the file and trust the indexes; rebuild them if they are missing."""
        self.size = self._files.size(self.path)
        self.end_offset = end_offset
        intact = self.has_intact_indexes()
        last_entry = self.offset_index.last() if intact else None
        if not intact or (last_entry is not None and last_entry.position >= self.size):
            self._rebuild_indexes(end_offset)
        last_time = self.time_index.last()
        if last_time is not None:
            self.max_timestamp, self.max_timestamp_offset = last_time
        self.release()

    def open_active(self) -> int:
        """Open the segment for appends after a clean shutdown; return the offset after its last."""
        self.size = self._open().size()
        self.load_indexes(verify=False)
        self.offset_index.keep_below(LONG_MAX, self.size)
        return self._scan_tail()

    def load_indexes(self, *, verify: bool) -> None:
        """Load both indexes into memory; empty them if one is missing or incomplete."""
        intact = self.has_intact_indexes()
        for index in (self.offset_index.file, self.time_index.file):
            index.load(verify=verify)
            if not intact:
                index.keep(0)

    def has_intact_indexes(self) -> bool:
        """Whether both index files exist with whole entries."""
        return self.offset_index.file.count_entries() and self.time_index.file.count_entries()

    def begin_tail(self) -> None:
        """Reset to the state of the indexes; `note` must follow for the batches after them."""
        last_time = self.time_index.last()
        newest = last_time or (NO_TIMESTAMP, self.base_offset)
        self.max_timestamp, self.max_timestamp_offset = newest
        self._bytes_since_entry = 0
        self._positions.clear()
        self._first_timestamp = None

    def _rebuild_indexes(self, end_offset: int) -> None:
        self.load_indexes(verify=False)
        self.offset_index.file.keep(0)
        self.time_index.file.keep(0)
        self._scan_tail()
        self.seal(end_offset)

    def _scan_tail(self) -> int:
        """Read the headers behind the last index entry; return the offset after the last batch."""
        self.begin_tail()
        last_entry = self.offset_index.last()
        next_offset = self.base_offset
        for position, header in self.scan(last_entry.position if last_entry else 0):
            self.note(position, mark_of(header))
            next_offset = header.next_offset
        self.remember(next_offset, self.size)
        return next_offset

    def append(self, records: Buffer, marks: Sequence[BatchMark]) -> None:
        """Write whole batches at the end with one call; ``marks`` are relative to ``records``."""
        start = self.size
        (self._file or self._open()).pwrite(records, start)
        self.size = start + len(records)
        for mark in marks:
            self.note(start + mark.position, mark)
        self.remember(marks[-1].last_offset + 1, self.size)

    def note(self, position: int, mark: BatchMark) -> None:
        """Add the batch at ``position`` of this segment to the indexes."""
        if mark.max_timestamp > self.max_timestamp:
            self.max_timestamp = mark.max_timestamp
            self.max_timestamp_offset = mark.last_offset
        if self._bytes_since_entry > self.index_interval_bytes:
            self.offset_index.append(mark.last_offset, position)
            self.time_index.append_if_later(self.max_timestamp, self.max_timestamp_offset)
            self._bytes_since_entry = 0
        self._bytes_since_entry += mark.size

    def first_timestamp(self) -> int:
        """Return the timestamp of the first batch, in ms; -1 if it has none or is missing."""
        if self._first_timestamp is None:
            if not self.size:
                return NO_TIMESTAMP
            self._first_timestamp = next(self.scan(0))[1].max_timestamp
        return self._first_timestamp

    def waited_ms(self, timestamp_ms: int, now_ms: int | None) -> int:
        """Return the age for `must_roll`: by timestamps or, without, since the first call."""
        first = self.first_timestamp() if self._first_timestamp is None else self._first_timestamp
        if first > NO_TIMESTAMP:
            return timestamp_ms - first
        if now_ms is None:
            return 0
        if self._first_wait_ms is None:
            self._first_wait_ms = now_ms
        return now_ms - self._first_wait_ms

    def largest_timestamp(self) -> int:
        """Return the newest timestamp, in ms; the last change of the file if there is none."""
        return self.max_timestamp if self.max_timestamp > NO_TIMESTAMP else self.modified_ms()

    def scan(self, position: int) -> Iterator[tuple[int, BatchHeader]]:
        """Yield position and header of the batches from ``position`` on; checksums are not read."""
        file = self._open()
        next_offset = self.base_offset
        while position < self.size:
            try:
                header = read_batch_header(file.pread(HEADER_SIZE, position))
            except RecordsError as error:
                raise CorruptLog(f"{self.path} at {position}: {error}") from error
            if position + header.size > self.size:
                raise CorruptLog(f"{self.path} at {position}: the batch is cut off")
            if not next_offset <= header.base_offset <= self.base_offset + INT_MAX:
                raise CorruptLog(f"{self.path} at {position}: offset {header.base_offset} is wrong")
            next_offset = header.next_offset
            yield position, header
            position += header.size

    def remember(self, offset: int, position: int) -> None:
        """Remember where the batch that holds ``offset`` begins, or will begin."""
        positions = self._positions
        positions[offset] = position
        if len(positions) > REMEMBERED_POSITIONS:
            del positions[next(iter(positions))]

    def position_of(self, offset: int) -> int:
        """Return where the first batch that ends at or above ``offset`` begins, or the size."""
        if offset <= self.base_offset:
            return 0
        known = self._positions.get(offset)
        if known is not None:
            return known
        found = self.size
        for position, header in self.scan(self.offset_index.position_before(offset)):
            if header.last_offset >= offset:
                found = position
                break
        self.remember(offset, found)
        return found

    def read(
        self, offset: int, upper_offset: int, max_bytes: int, *, at_least_one_batch: bool
    ) -> bytes | memoryview:
        """Return whole batches from the one that holds ``offset``, below ``upper_offset``.

        For sending: a large part is a view of the file (`File.view`).
        """
        start = self.position_of(offset)
        if self.end_offset is not None and upper_offset >= self.end_offset:
            end = self.size
        else:
            end = self.position_of(upper_offset)
        if start >= end:
            return b""
        if end - start > max_bytes:
            end = self._boundary_below(start, start + max_bytes)
            if end == start:
                if not at_least_one_batch:
                    return b""
                _, first = next(self.scan(start))
                end = start + first.size
                self.remember(first.next_offset, end)
        data = (self._file or self._open()).view(end - start, start)
        if len(data) != end - start:
            raise CorruptLog(f"{self.path} is shorter than it was")
        return data

    def truncate(self, offset: int) -> int:
        """Cut the batches that end at or above ``offset``, durably; return the next offset."""
        position = self.position_of(offset)
        if self.sealed:
            self.end_offset = None
            self.load_indexes(verify=False)
        self.offset_index.keep_below(offset, position)
        last_entry = self.offset_index.last()
        self.time_index.keep_up_to(last_entry.last_offset if last_entry else self.base_offset - 1)
        self.size = position
        self.cut_file()
        return self._scan_tail()

    def seal(self, end_offset: int) -> None:
        """Complete the indexes; further appends go to the segment at ``end_offset``."""
        self.time_index.append_if_later(self.max_timestamp, self.max_timestamp_offset)
        self.end_offset = end_offset
        self.offset_index.file.seal()
        self.time_index.file.seal()
        self._positions.clear()

    def flushes(self) -> Flushes:
        """Make everything durable that was appended before, indexes included."""
        if not self.sealed:
            # The time index must contain the newest timestamp of what a restart trusts.
            self.time_index.append_if_later(self.max_timestamp, self.max_timestamp_offset)
        indexes = (self.offset_index.file, self.time_index.file)
        states = [index.state for index in indexes]
        begun: list[Flush | None] = []
        try:
            for file in (*indexes, self._open()):
                begun += [file.begin_flush()]
        except StorageError:
            for flush in filter(None, begun):
                flush.close()
            raise
        yield from each(filter(None, begun))
        for index, state in zip(indexes, states, strict=True):
            index.flush_ended(state)

    def _boundary_below(self, start: int, limit: int) -> int:
        """Return the end of the last batch that ends at or below ``limit``, or ``start``."""
        _, first = next(self.scan(start))
        after = start + first.size
        if after > limit:
            return start
        if limit - after < HEADER_SIZE:
            # There is no room for another batch.
            self.remember(first.next_offset, after)
            return after
        if 2 * first.size <= limit - start:
            # Many small batches: the index has a position near the last one.
            after = max(after, self.offset_index.position_at_or_below(limit))
        for position, header in self.scan(after):
            if position + header.size > limit:
                self.remember(header.base_offset, position)
                return position
        return self.size
