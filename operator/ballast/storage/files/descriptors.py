"""Open files of the operating system, and flushes of them that have begun."""

import mmap
import os

from ballast.storage.errors import DiskError
from ballast.storage.files.roots import disk_errors

Buffer = bytes | bytearray | memoryview

_NOTHING = memoryview(b"")

MAPPED_FROM_BYTES = 128 * 1024
"""Copying smaller parts is cheaper than mapping them."""

WRITE_BYTES = 1024 * 1024
"""Bytes written with one call. Linux allocates page-cache folios as large as the write, and those
of 2 MiB are rarely available: a follower's appends took twice as long with them.
"""

WINDOW_BYTES = 8 * 1024 * 1024
"""Bytes mapped at once, because large reads are mostly sequential."""


class RealFlush:
    """A flush of a duplicated descriptor."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def __call__(self) -> None:
        """Return when content and size are durable; raises `DiskError`."""
        try:
            with disk_errors("fsync", self._path):
                os.fdatasync(self._descriptor)
        finally:
            self.close()

    def close(self) -> None:
        """Close the descriptor."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class RealFile:
    """An open descriptor."""

    __slots__ = ("_descriptor", "_path", "_window", "_window_start")

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._window = _NOTHING
        """The mapped part of the file from `_window_start` on, while it is read sequentially."""
        self._window_start = 0

    def pread(self, size: int, position: int) -> bytes:
        """Return up to ``size`` bytes from ``position``; fewer only at the end of the file."""
        try:
            data = os.pread(self._descriptor, size, position)
            if len(data) == size or not data:
                return data
            return self._read_rest(data, size, position)
        except OSError as error:
            raise DiskError("read", self._path, error) from error

    def view(self, size: int, position: int) -> bytes | memoryview:
        """Return what `pread` does, for sending: a large part is not copied."""
        start = position - self._window_start
        if start < 0 or start + size > len(self._window):
            if size < MAPPED_FROM_BYTES:
                return self.pread(size, position)
            try:
                self._map(size, position)
            except (ValueError, OSError):
                # The file is shorter than that, or the limit of mappings is reached.
                return self.pread(size, position)
            start = position - self._window_start
        part = self._window[start : start + size]
        if start + size == len(self._window):
            # Read completely: it is unmapped when its last part has been sent.
            self._window = _NOTHING
        return part

    def _map(self, size: int, position: int) -> None:
        """Map the file from ``position`` on, at least ``size`` bytes of it."""
        before = position % mmap.ALLOCATIONGRANULARITY
        length = max(size, min(WINDOW_BYTES, os.fstat(self._descriptor).st_size - position))
        mapped = mmap.mmap(
            self._descriptor, before + length, prot=mmap.PROT_READ, offset=position - before
        )
        self._window, self._window_start = memoryview(mapped), position - before

    def pwrite(self, data: Buffer, position: int) -> None:
        """Write all of ``data`` at ``position``."""
        try:
            if len(data) <= WRITE_BYTES:
                written = os.pwrite(self._descriptor, data, position)
                if written == len(data):
                    return
                position += written
                data = memoryview(data)[written:]
            rest = memoryview(data)
            while rest:
                written = os.pwrite(self._descriptor, rest[:WRITE_BYTES], position)
                position += written
                rest = rest[written:]
        except OSError as error:
            raise DiskError("write", self._path, error) from error

    def truncate(self, size: int) -> None:
        """Cut the file at ``size`` bytes."""
        self._window = _NOTHING
        with disk_errors("truncate", self._path):
            os.ftruncate(self._descriptor, size)

    def flush(self) -> None:
        """Return when content and size are durable (fdatasync)."""
        with disk_errors("fsync", self._path):
            os.fdatasync(self._descriptor)

    def begin_flush(self) -> RealFlush:
        """Begin what `flush` does; the file may be closed, renamed or removed meanwhile."""
        with disk_errors("fsync", self._path):
            return RealFlush(self._path, os.dup(self._descriptor))

    def size(self) -> int:
        """Return the length in bytes."""
        with disk_errors("stat", self._path):
            return os.fstat(self._descriptor).st_size

    def close(self) -> None:
        """Close the descriptor; closing twice is allowed."""
        self._window = _NOTHING
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _read_rest(self, data: bytes, size: int, position: int) -> bytes:
        # The kernel may return less than asked before the end of the file (at 2 GiB, on signals).
        parts = [data]
        total = len(data)
        while total < size:
            part = os.pread(self._descriptor, size - total, position + total)
            if not part:
                break
            parts.append(part)
            total += len(part)
        return b"".join(parts)
