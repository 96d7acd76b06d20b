"""The files of one segment: record batches, offset index and time index, with their names.

A suffix after the names marks files that do not belong to the log: those that compaction is still
writing, and those of a segment that was dropped (``.deleted``).
"""

from ballast.storage.files.layout import (
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    RETIRED_SUFFIX,
    TIME_INDEX_SUFFIX,
    segment_file,
)
from ballast.storage.files.ports import File, Files
from ballast.storage.log.index import OffsetIndex, TimeIndex


class SegmentFiles:
    """Opens, cuts, renames and removes the files of a segment. Methods raise `DiskError`."""

    __slots__ = (
        "_file",
        "_files",
        "_suffix",
        "base_offset",
        "directory",
        "offset_index",
        "path",
        "size",
        "time_index",
    )

    def __init__(self, files: Files, directory: str, base_offset: int, suffix: str) -> None:
        self.base_offset = base_offset
        self.directory = directory
        self._suffix = suffix
        self.path = self._sibling(LOG_SUFFIX)
        self.size = 0
        """Bytes of whole, appended batches. Bytes behind them in the file do not count."""
        self.offset_index = OffsetIndex(files, self._sibling(OFFSET_INDEX_SUFFIX), base_offset)
        self.time_index = TimeIndex(files, self._sibling(TIME_INDEX_SUFFIX), base_offset)
        self._files = files
        self._file: File | None = None

    def open(self) -> None:
        """Open the file of the batches, if it is not open."""
        self._open()

    def _open(self, *, create: bool = False) -> File:
        if self._file is None:
            self._file = self._files.open(self.path, create=create)
        return self._file

    def modified_ms(self) -> int:
        """Return when the file of the batches last changed, in ms since the epoch."""
        return self._files.modified_ms(self.path)

    def set_modified_ms(self, time_ms: int) -> None:
        """Set when the file of the batches last changed, in ms since the epoch."""
        self._files.set_modified_ms(self.path, time_ms)

    def read_at(self, position: int, size: int) -> bytes:
        """Return bytes of the file."""
        return self._open().pread(size, position)

    def reserve(self, size_bytes: int) -> None:
        """Make the file of an empty segment ``size_bytes`` long (Kafka's ``preallocate``).

        The zeros behind the last batch are never read. The roll of the segment, a clean close of
        the log and recovery cut them off, even if the setting has changed since.
        """
        file = self._files.open(self.path)
        try:
            file.truncate(size_bytes)
        finally:
            file.close()

    def trim(self, *, durable: bool) -> None:
        """Cut the file behind its last batch.

        ``durable`` waits for the disk; otherwise the next flush of the segment makes it durable.
        """
        if self._files.size(self.path) <= self.size:
            return
        file = self._files.open(self.path)
        try:
            file.truncate(self.size)
            if durable:
                file.flush()
        finally:
            file.close()

    def cut_file(self) -> None:
        """Cut what lies behind the last whole batch, durably."""
        file = self._open()
        file.truncate(self.size)
        file.flush()

    def release(self) -> None:
        """Close the files; they are opened again when they are needed."""
        self.offset_index.file.release()
        self.time_index.file.release()
        if self._file is not None:
            self._file.close()
            self._file = None

    def remove(self) -> None:
        """Remove the files, that of the batches first, so that no log is without an index."""
        self.release()
        for path in self._paths():
            self._files.remove(path)

    def change_suffix(self, suffix: str) -> None:
        """Rename the files, that of the batches last."""
        self.release()
        before = self.offset_index.file.path, self.time_index.file.path, self.path
        self._suffix = suffix
        self._name_files()
        after = self.offset_index.file.path, self.time_index.file.path, self.path
        for source, target in zip(before, after, strict=True):
            self._files.rename(source, target)

    def relocate(self, directory: str) -> None:
        """Use the files in a directory that was renamed to ``directory``; they must be closed."""
        self.directory = directory
        self._name_files()

    def _name_files(self) -> None:
        self.path = self._sibling(LOG_SUFFIX)
        self.offset_index.file.path = self._sibling(OFFSET_INDEX_SUFFIX)
        self.time_index.file.path = self._sibling(TIME_INDEX_SUFFIX)

    def retire(self) -> list[str]:
        """Rename the files, in the order of `remove`; return the paths that are to be removed.

        Until they are removed, views of them that were read can still be sent.
        """
        self.release()
        retired = []
        for path in self._paths():
            self._files.rename(path, path + RETIRED_SUFFIX)
            retired.append(path + RETIRED_SUFFIX)
        return retired

    def _paths(self) -> list[str]:
        paths = (self.path, self.offset_index.file.path, self.time_index.file.path)
        return [path for path in paths if self._files.exists(path)]

    def _sibling(self, suffix: str) -> str:
        return f"{self.directory}/{segment_file(self.base_offset, suffix)}{self._suffix}"
