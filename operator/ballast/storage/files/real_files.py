"""The operating system's files below the log directories (the port is `files.ports`).

Nothing outside the log directories is ever opened, whatever names reach the storage, and no
symbolic link below a log directory is followed. `RealFiles` holds a descriptor of each root and
opens every component below it by descriptor with ``O_NOFOLLOW``, so a directory that is replaced
by a link between check and use is refused as well.
"""

import asyncio
import errno
import os
import stat
from collections.abc import Callable, Sequence

from ballast.storage.errors import DiskError, UnsafePath
from ballast.storage.files.descriptors import RealFile, RealFlush
from ballast.storage.files.roots import DIRECTORY_FLAGS, Roots, check_name, disk_errors

_TEMPORARY_SUFFIX = ".tmp"


class RealFiles:
    """The operating system's files below ``roots`` (the broker's ``log.dirs``).

    A root is the administrator's own path and may be a link; a missing one is created. If a root
    cannot be opened, each access below it fails with `DiskError`; other roots are not affected.
    """

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = Roots(roots)

    def close(self) -> None:
        """Give the roots' descriptors back, and the locks with them."""
        self._roots.close()

    def open(self, path: str, *, create: bool = False) -> RealFile:
        """Open for reading and writing; ``create`` makes a missing file."""
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        with disk_errors("open", path), self._roots.parent(path) as (parent, name):
            return RealFile(path, os.open(name, flags, 0o640, dir_fd=parent))

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory of that name (a link counts as neither)."""
        try:
            with disk_errors("stat", path), self._roots.parent(path) as (parent, name):
                status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        except DiskError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                return False
            raise
        return stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)

    def size(self, path: str) -> int:
        """Return a file's length in bytes."""
        with disk_errors("stat", path), self._roots.parent(path) as (parent, name):
            return os.stat(name, dir_fd=parent, follow_symlinks=False).st_size

    def modified_ms(self, path: str) -> int:
        """Return when a file last changed, in ms since the epoch."""
        with disk_errors("stat", path), self._roots.parent(path) as (parent, name):
            return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mtime_ns // 1_000_000

    def set_modified_ms(self, path: str, time_ms: int) -> None:
        """Have a file changed last at another time."""
        times = (time_ms * 1_000_000, time_ms * 1_000_000)
        with disk_errors("utime", path), self._roots.parent(path) as (parent, name):
            os.utime(name, ns=times, dir_fd=parent, follow_symlinks=False)

    def names(self, directory: str) -> list[str]:
        """Return the names in a directory, sorted."""
        with disk_errors("list", directory), self._roots.directory(directory) as descriptor:
            return sorted(os.listdir(descriptor))  # noqa: PTH208 - by descriptor

    def make_directory(self, path: str) -> None:
        """Make a directory; one that exists is left alone."""
        with disk_errors("mkdir", path):
            if path in self._roots.paths:
                self._roots.descriptor(path)
                return
            with self._roots.parent(path) as (parent, name):
                try:
                    os.mkdir(name, 0o750, dir_fd=parent)
                except FileExistsError:
                    os.close(os.open(name, DIRECTORY_FLAGS, dir_fd=parent))

    def rename(self, source: str, target: str) -> None:
        """Rename a file or directory within its parent, replacing a file of the new name."""
        if source.rpartition("/")[0] != target.rpartition("/")[0]:
            raise UnsafePath(f"{source} and {target} have different parents")
        check_name(target.rpartition("/")[2])
        with disk_errors("rename", source), self._roots.parent(source) as (parent, name):
            os.rename(name, target.rpartition("/")[2], src_dir_fd=parent, dst_dir_fd=parent)

    def remove(self, path: str) -> None:
        """Remove a file."""
        with disk_errors("remove", path), self._roots.parent(path) as (parent, name):
            os.unlink(name, dir_fd=parent)

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""
        with disk_errors("rmdir", path), self._roots.parent(path) as (parent, name):
            os.rmdir(name, dir_fd=parent)

    def flush_directory(self, path: str) -> None:
        """Return when the names in a directory are durable."""
        with disk_errors("fsync", path), self._roots.directory(path) as descriptor:
            os.fsync(descriptor)

    def begin_flush_directory(self, path: str) -> RealFlush:
        """Begin what `flush_directory` does; the directory may be renamed meanwhile."""
        with disk_errors("fsync", path), self._roots.directory(path) as descriptor:
            return RealFlush(path, os.dup(descriptor))

    async def in_background(self, operation: Callable[[], None]) -> None:
        """Return when ``operation`` has returned; the event loop goes on meanwhile.

        The executor's threads are asyncio's own: what runs in them touches nothing but descriptors.
        """
        await asyncio.get_running_loop().run_in_executor(None, operation)

    def read_whole(self, path: str) -> bytes:
        """Return a small file's content."""
        file = self.open(path)
        try:
            return file.pread(file.size(), 0)
        finally:
            file.close()

    def write_whole(self, path: str, data: bytes) -> None:
        """Replace a small file's content atomically and durably."""
        temporary = path + _TEMPORARY_SUFFIX
        file = self.open(temporary, create=True)
        try:
            file.truncate(0)
            file.pwrite(data, 0)
            file.flush()
        finally:
            file.close()
        self.rename(temporary, path)
        self.flush_directory(path.rpartition("/")[0])

    def lock(self, path: str) -> bool:
        """Take the exclusive lock of a file, which is made; return False if it is held already."""
        with disk_errors("lock", path):
            return self._roots.lock(path)

    def unlock(self, path: str) -> None:
        """Release a lock that `lock` took; without one nothing happens."""
        self._roots.unlock(path)
