"""The ports to the file system: `Files`, its open `File`s, and a `Flush` that has begun.

All file access of a broker goes through `Files`: `real_files.RealFiles` is the operating system's
file system below the log directories, and the simulator replaces this one object.

Paths are ``root``, ``root/name`` or ``root/directory/name``.
"""

from collections.abc import Callable
from typing import Protocol

from ballast.storage.files.descriptors import Buffer


class Flush(Protocol):
    """A flush that has begun: what was written before is durable once it returns.

    It may be called in another thread. It is called once, or closed.
    """

    def __call__(self) -> None:
        """Return when it is durable; raises `DiskError`."""
        ...

    def close(self) -> None:
        """Drop the flush."""
        ...


class File(Protocol):
    """One open file. Every method raises `DiskError`."""

    def pread(self, size: int, position: int) -> bytes:
        """Return up to ``size`` bytes from ``position``; fewer only at the end of the file."""
        ...

    def view(self, size: int, position: int) -> bytes | memoryview:
        """Return what `pread` does, for sending: a large part is not copied.

        Such a part is the file itself: it changes with the file, and sending what was truncated
        meanwhile fails (``EFAULT``).
        """
        ...

    def pwrite(self, data: Buffer, position: int) -> None:
        """Write all of ``data`` at ``position``."""
        ...

    def truncate(self, size: int) -> None:
        """Cut the file at ``size`` bytes."""
        ...

    def flush(self) -> None:
        """Return when content and size are durable (fdatasync)."""
        ...

    def begin_flush(self) -> Flush:
        """Begin a `flush`; the file may be closed, renamed or removed meanwhile."""
        ...

    def size(self) -> int:
        """Return the length in bytes."""
        ...

    def close(self) -> None:
        """Close the descriptor; closing twice is allowed."""
        ...


class Files(Protocol):
    """The file system below the log directories. Every method raises `DiskError`, `UnsafePath`."""

    def open(self, path: str, *, create: bool = False) -> File:
        """Open for reading and writing; ``create`` creates a missing file."""
        ...

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory of that name (links do not count)."""
        ...

    def size(self, path: str) -> int:
        """Return a file's length in bytes."""
        ...

    def modified_ms(self, path: str) -> int:
        """Return when a file last changed, in ms since the epoch."""
        ...

    def set_modified_ms(self, path: str, time_ms: int) -> None:
        """Set when a file last changed, in ms since the epoch."""
        ...

    def names(self, directory: str) -> list[str]:
        """Return the names in a directory, sorted."""
        ...

    def make_directory(self, path: str) -> None:
        """Create a directory; nothing happens if it exists."""
        ...

    def rename(self, source: str, target: str) -> None:
        """Rename a file or directory within its parent, replacing a file of the new name."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file."""
        ...

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""
        ...

    def flush_directory(self, path: str) -> None:
        """Return when the names in a directory are durable."""
        ...

    def begin_flush_directory(self, path: str) -> Flush:
        """Begin a `flush_directory`; the directory may be renamed meanwhile."""
        ...

    def read_whole(self, path: str) -> bytes:
        """Return a small file's content."""
        ...

    def write_whole(self, path: str, data: bytes) -> None:
        """Replace a small file's content atomically and durably."""
        ...

    def lock(self, path: str) -> bool:
        """Lock a file exclusively, creating it; return False if the lock is held already.

        It is held until `unlock`, or until the process ends.
        """
        ...

    def unlock(self, path: str) -> None:
        """Release a lock that `lock` took; without one nothing happens."""
        ...

    async def in_background(self, operation: Callable[[], None]) -> None:
        """Return when ``operation`` has returned; the event loop goes on meanwhile.

        ``operation`` is a `Flush`, or removes files that are not in use.
        """
        ...
