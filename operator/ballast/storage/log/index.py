"""Sparse indexes of a segment: offset to position, and time to offset (OffsetIndex, TimeIndex).

Entries are fixed-size and big-endian, and both columns increase. The index of the active segment is
kept in memory and written to its file at a flush; after a crash, recovery rebuilds what is missing.
The index of a sealed segment is searched in its file, so that memory does not grow with the log.
Kafka preallocates the files and truncates them at the end; here they are as long as their entries.
"""

import struct
from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import NamedTuple

from ballast.storage.errors import CorruptLog
from ballast.storage.files.ports import File, Files, Flush

NO_TIMESTAMP = -1

_OFFSET_ROW = struct.Struct(">ii")
_TIME_ROW = struct.Struct(">qi")

OFFSET_ENTRY_BYTES = _OFFSET_ROW.size
TIME_ENTRY_BYTES = _TIME_ROW.size


class OffsetEntry(NamedTuple):
    """A batch: the offset of its last record, and its position in the segment."""

    last_offset: int
    position: int


class TimeEntry(NamedTuple):
    """The largest timestamp up to the batch that ends at ``last_offset`` and contains it."""

    timestamp_ms: int
    last_offset: int


class _IndexFile:
    """Rows of two numbers: in memory for the active segment, otherwise in a file.

    Every method raises `DiskError`.
    """

    __slots__ = (
        "_cut",
        "_cuts",
        "_durable",
        "_file",
        "_files",
        "_format",
        "_rows",
        "_written",
        "count",
        "path",
    )

    def __init__(self, files: Files, path: str, row: struct.Struct) -> None:
        self.path = path
        self.count = 0
        """Number of entries."""
        self._files = files
        self._format = row
        self._rows: bytearray | None = None
        self._file: File | None = None
        self._written = 0
        self._cut = False
        self._cuts = 0
        self._durable = False

    def count_entries(self) -> bool:
        """Count the entries from the file's length; return whether the length is valid."""
        if not self._files.exists(self.path):
            return False
        size = self._files.size(self.path)
        self.count = size // self._format.size
        return size % self._format.size == 0

    def load(self, *, verify: bool) -> None:
        """Read the rows into memory, to append to them, without zeros and a partial row at the end.

        ``verify`` checks every row and drops those from the first one that is out of order.
        """
        data = self._files.read_whole(self.path) if self._files.exists(self.path) else b""
        width = self._format.size
        used = len(data.rstrip(b"\0"))
        self.count = min(-(-used // width), len(data) // width)
        if verify:
            rows = self._format.iter_unpack(data[: self.count * width])
            for number, (before, after) in enumerate(pairwise(rows), 1):
                if not (before[0] < after[0] and before[1] < after[1]):
                    self.count = number
                    break
        self._rows = bytearray(data[: self.count * width])
        self._written = len(self._rows)
        self._cut = len(self._rows) != len(data)
        self._durable = False

    def keep(self, count: int) -> None:
        """Drop all but the first ``count`` rows; they must be in memory."""
        assert self._rows is not None
        if count < self.count:
            self.count = count
            del self._rows[count * self._format.size :]
            self._written = min(self._written, len(self._rows))
            self._cut = True
            self._cuts += 1
            self._durable = False

    def write(self) -> None:
        """Write what is only in memory to the file.

        The file is closed again: it is not needed until the next flush.
        """
        if self._rows is not None:
            self._write(self._rows)
            self.release()

    def _write(self, rows: bytearray) -> None:
        if not self._cut and self._written == len(rows) and self._durable:
            return
        file = self._open()
        if self._cut:
            file.truncate(self._written)
            self._cut = False
        if self._written < len(rows):
            file.pwrite(bytes(rows[self._written :]), self._written)
            self._written = len(rows)
            self._durable = False

    def begin_flush(self) -> Flush | None:
        """Write what is only in memory, and begin a flush; None if all is durable."""
        if self._rows is None:
            return self._open().begin_flush()
        if self._durable and self._written == len(self._rows):
            return None
        self._write(self._rows)
        flush = self._open().begin_flush()
        self.release()
        return flush

    @property
    def state(self) -> tuple[int, int]:
        """A value that differs before and after every change."""
        return self._cuts, self.count

    def flush_ended(self, state: tuple[int, int]) -> None:
        """Record that a flush has ended; ``state`` is the one in which it began."""
        if state == self.state:
            self._durable = True

    def seal(self) -> None:
        """Write the file and free the memory."""
        self.write()
        self._rows = None

    def release(self) -> None:
        """Close the file; it is opened again when it is needed."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def row(self, number: int) -> tuple[int, int]:
        """Return both numbers of a row."""
        position = number * self._format.size
        if self._rows is not None:
            first, second = self._format.unpack_from(self._rows, position)
            return first, second
        data = self._open().pread(self._format.size, position)
        if len(data) != self._format.size:
            raise CorruptLog(f"{self.path} is shorter than it was")
        first, second = self._format.unpack(data)
        return first, second

    def append_row(self, first: int, second: int) -> None:
        """Add a row in memory."""
        assert self._rows is not None
        self._rows += self._format.pack(first, second)
        self.count += 1

    def _open(self) -> File:
        if self._file is None:
            self._file = self._files.open(self.path, create=self._rows is not None)
        return self._file


class OffsetIndex:
    """``.index``: int32 offset relative to the base, int32 position."""

    __slots__ = ("_base_offset", "file")

    def __init__(self, files: Files, path: str, base_offset: int) -> None:
        self.file = _IndexFile(files, path, _OFFSET_ROW)
        self._base_offset = base_offset

    def entry(self, number: int) -> OffsetEntry:
        relative, position = self.file.row(number)
        return OffsetEntry(self._base_offset + relative, position)

    def last(self) -> OffsetEntry | None:
        return self.entry(self.file.count - 1) if self.file.count else None

    def append(self, last_offset: int, position: int) -> None:
        """Add the batch that ends at ``last_offset``."""
        self.file.append_row(last_offset - self._base_offset, position)

    def position_before(self, offset: int) -> int:
        """Return the position of a batch at or before the one that holds ``offset``."""
        found = bisect_right(
            range(self.file.count), offset - self._base_offset, key=lambda n: self.file.row(n)[0]
        )
        return self.file.row(found - 1)[1] if found else 0

    def position_at_or_below(self, position: int) -> int:
        """Return the largest indexed position that is not above ``position``; 0 if none is."""
        found = bisect_right(range(self.file.count), position, key=lambda n: self.file.row(n)[1])
        return self.file.row(found - 1)[1] if found else 0

    def keep_below(self, offset: int, position: int) -> None:
        """Drop the entries of batches that end at or above ``offset`` or begin at ``position``."""
        rows = range(self.file.count)
        by_offset = bisect_left(rows, offset - self._base_offset, key=lambda n: self.file.row(n)[0])
        by_position = bisect_left(rows, position, key=lambda n: self.file.row(n)[1])
        self.file.keep(min(by_offset, by_position))


class TimeIndex:
    """``.timeindex``: int64 timestamp, int32 offset relative to the base."""

    __slots__ = ("_base_offset", "file")

    def __init__(self, files: Files, path: str, base_offset: int) -> None:
        self.file = _IndexFile(files, path, _TIME_ROW)
        self._base_offset = base_offset

    def last(self) -> TimeEntry | None:
        """Return the last entry, which has the largest timestamp."""
        if not self.file.count:
            return None
        timestamp_ms, relative = self.file.row(self.file.count - 1)
        return TimeEntry(timestamp_ms, self._base_offset + relative)

    def append_if_later(self, timestamp_ms: int, last_offset: int) -> None:
        """Add an entry if its timestamp is later than the last one."""
        last = self.last()
        if timestamp_ms > (last.timestamp_ms if last else NO_TIMESTAMP):
            self.file.append_row(timestamp_ms, last_offset - self._base_offset)

    def offset_before(self, timestamp_ms: int) -> int:
        """Return an offset at or before the first record with ``timestamp_ms`` or later."""
        found = bisect_left(range(self.file.count), timestamp_ms, key=lambda n: self.file.row(n)[0])
        return self._base_offset + (self.file.row(found - 1)[1] if found else 0)

    def keep_up_to(self, last_offset: int) -> None:
        """Drop the entries of batches that end above ``last_offset``."""
        relative = last_offset - self._base_offset
        rows = range(self.file.count)
        self.file.keep(bisect_right(rows, relative, key=lambda n: self.file.row(n)[1]))
