"""The log directories as the operating system has them: open descriptors, safe paths, locks.

`ballast.storage.files.real_files` alone uses it.
"""

import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ballast.storage.errors import DiskError, UnsafePath

DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SAFE_NAME = re.compile(r"[a-zA-Z0-9._-]{1,255}")


class Roots:
    """Holds a descriptor of each root, and opens what lies below by descriptor."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = tuple(path.rstrip("/") for path in paths)
        self._descriptors: dict[str, int] = {}
        self._locks: dict[str, int] = {}

    def close(self) -> None:
        """Close the descriptors, which releases the locks."""
        while self._locks:
            os.close(self._locks.popitem()[1])
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])

    def lock(self, path: str) -> bool:
        """Lock a file exclusively, creating it; return False if another process holds the lock.

        The kernel releases the lock (flock) when the process ends. Raises ``OSError``.
        """
        if path in self._locks:
            return False
        with self.parent(path) as (parent, name):
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(name, flags, 0o640, dir_fd=parent)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except OSError:
            os.close(descriptor)
            raise
        self._locks[path] = descriptor
        return True

    def unlock(self, path: str) -> None:
        """Release a lock that `lock` took; without one nothing happens."""
        descriptor = self._locks.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)

    def descriptor(self, root: str) -> int:
        """Return the descriptor of a root; a missing directory is created."""
        descriptor = self._descriptors.get(root)
        if descriptor is None:
            os.makedirs(root, 0o750, exist_ok=True)  # noqa: PTH103 - os level throughout
            descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._descriptors[root] = descriptor
        return descriptor

    @contextmanager
    def parent(self, path: str) -> Iterator[tuple[int, str]]:
        """Yield the descriptor of the directory that holds ``path``, and the name in it."""
        root, names = self._split(path)
        if not names:
            raise UnsafePath(f"{path!r} is a log directory itself")
        if len(names) == 1:
            yield self.descriptor(root), names[0]
            return
        descriptor = os.open(names[0], DIRECTORY_FLAGS, dir_fd=self.descriptor(root))
        try:
            yield descriptor, names[1]
        finally:
            os.close(descriptor)

    @contextmanager
    def directory(self, path: str) -> Iterator[int]:
        """Yield a descriptor of the directory ``path``."""
        root, names = self._split(path)
        descriptor = os.dup(self.descriptor(root))
        for name in names:
            parent = descriptor
            try:
                descriptor = os.open(name, DIRECTORY_FLAGS, dir_fd=parent)
            finally:
                os.close(parent)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _split(self, path: str) -> tuple[str, list[str]]:
        for root in self.paths:
            if path == root:
                return root, []
            if path.startswith(root + "/"):
                names = path[len(root) + 1 :].split("/")
                if len(names) > 2:
                    raise UnsafePath(f"{path!r} is deeper than a log directory's files")
                for name in names:
                    check_name(name)
                return root, names
        raise UnsafePath(f"{path!r} is in no log directory")


@contextmanager
def disk_errors(operation: str, path: str) -> Iterator[None]:
    """Raise `DiskError` for an ``OSError`` in the block."""
    try:
        yield
    except OSError as error:
        raise DiskError(operation, path, error) from error


def check_name(name: str) -> None:
    """Raise `UnsafePath` for a name that no file in a log directory can have."""
    if name in (".", "..") or not _SAFE_NAME.fullmatch(name):
        raise UnsafePath(f"{name!r} is no name of a log directory's file")
