"""A disk in memory that can crash: unflushed writes are lost, or torn, or kept.

Each file is its content as the page cache has it, and what it takes to go back to what the disk
has: per unflushed write the bytes it replaced. Names are kept in order, as a journaling file system
keeps them: a crash undoes some of the newest creations and removals, any flush makes all durable.

One `FakeDisk` is one host's file system as one of its processes uses it; `another_process` uses
the same files. Locks are held by a process until it releases them or is killed.
"""

import asyncio
import copy
import errno
from collections.abc import Callable
from random import Random

from ballast.storage.errors import DiskError, UnsafePath
from ballast.storage.files.descriptors import Buffer
from tests.fakes.disk_content import Content


class FakeFile:
    """An open file."""

    __slots__ = ("_content", "_disk", "_generation", "_path")

    def __init__(self, disk: "FakeDisk", path: str, content: Content) -> None:
        self._disk = disk
        self._path = path
        self._content = content
        self._generation = disk.generation

    def pread(self, size: int, position: int) -> bytes:
        self._check("read")
        data = self._content.read(size, position)
        self._disk.read_bytes += len(data)
        return data

    def view(self, size: int, position: int) -> bytes:
        return self.pread(size, position)

    def pwrite(self, data: Buffer, position: int) -> None:
        self._check("write", len(data))
        torn = self._disk.torn_write_bytes
        if torn is not None:
            self._disk.torn_write_bytes = None
            self._content.write(bytes(data[:torn]), position)
            raise DiskError("write", self._path, OSError(errno.ENOSPC, "No space left on device"))
        self._content.write(data, position)
        self._content.modified_ms = self._disk.wall_clock_ms()

    def truncate(self, size: int) -> None:
        self._check("truncate")
        self._content.truncate(size)

    def flush(self) -> None:
        self._check("fsync")
        self._disk.flushes_in_turn += 1
        self._content.end_flush(self._content.begin_flush())
        self._disk.journal.clear()

    def begin_flush(self) -> "FakeFlush":
        self._check("stat")
        return FakeFlush(self._disk, self._path, self._content)

    def size(self) -> int:
        self._check("stat")
        return len(self._content.data)

    def close(self) -> None:
        self._generation = -1

    def _check(self, operation: str, size: int = 0) -> None:
        if self._generation != self._disk.generation:
            raise DiskError(operation, self._path, OSError(errno.EBADF, "Bad file descriptor"))
        self._disk.before(operation, self._path, size)


class FakeFlush:
    """A flush that has begun: only what was changed before is durable once it ends."""

    __slots__ = ("_content", "_disk", "_generation", "_newest_name", "_path", "_until")

    def __init__(self, disk: "FakeDisk", path: str, content: Content | None = None) -> None:
        self._disk = disk
        self._path = path
        self._generation = disk.generation
        self._content = content
        self._until = 0 if content is None else content.begin_flush()
        self._newest_name = disk.journal[-1] if disk.journal else None

    def __call__(self) -> None:
        disk = self._disk
        if self._generation != disk.generation:
            raise DiskError("fsync", self._path, OSError(errno.EBADF, "Bad file descriptor"))
        disk.before("fsync", self._path)
        disk.flushes_in_turn += 1
        if self._content is not None:
            self._content.end_flush(self._until)
        for number, name in enumerate(disk.journal):
            if name is self._newest_name:
                del disk.journal[: number + 1]
                break

    def close(self) -> None:
        self._generation = -1


class Crash(Exception):
    """The host dies at this operation (see `FakeDisk.crash_after`)."""


class FakeDisk:
    """`Files` in memory. ``random`` decides what a crash loses."""

    def __init__(self, random: Random) -> None:
        self.generation = 0
        self.operations = 0
        """Changes made so far: writes, truncations, flushes, renames, removals."""
        self.flushes_in_turn = 0
        """Flushes that were waited for in place since a test set this to 0."""
        self.pause_s: Callable[[], float] = lambda: 0.0
        """How long a flush takes that is waited for in the background."""
        self.read_bytes = 0
        """Bytes asked for by reads of open files."""
        self.crash_after: int | None = None
        """Raise `Crash` instead of the operation that would make `operations` larger than this."""
        self.fail: Callable[[str, str], int | None] | None = None
        """Given operation and path, the errno to fail with; None to go on."""
        self.torn_write_bytes: int | None = None
        """The next write leaves this many bytes and fails with ENOSPC."""
        self.free_bytes: int | None = None
        """What may still be written; None for no limit."""
        self.wall_clock_ms: Callable[[], int] = lambda: 0
        """What files that change are stamped with."""
        self._random = random
        self._files: dict[str, Content] = {}
        self._directories: dict[str, dict[str, Content]] = {}
        self.journal: list[tuple[bool, str, Content]] = []
        """Unflushed creations (True) and removals of names, oldest first."""
        self._locks: dict[str, FakeDisk] = {}
        """Path -> the process that holds the lock."""

    def another_process(self) -> "FakeDisk":
        """Return the same file system as another process uses it: its locks are its own."""
        return copy.copy(self)

    def before(self, operation: str, path: str, size: int = 0) -> None:
        """Fail or die here if a test wants that; called before every operation."""
        if operation in ("read", "stat", "list", "open"):
            if self.fail is None:
                return
        else:
            if self.crash_after is not None and self.operations >= self.crash_after:
                raise Crash(f"{operation} {path}")
            self.operations += 1
        if self.fail is not None and (code := self.fail(operation, path)) is not None:
            raise DiskError(operation, path, OSError(code, errno.errorcode[code]))
        if self.free_bytes is not None and size:
            if size > self.free_bytes:
                raise DiskError(operation, path, OSError(errno.ENOSPC, "No space left on device"))
            self.free_bytes -= size

    def crash(self, *, keep_page_cache: bool = False) -> None:
        """Close every file; lose a random part of what was not flushed.

        ``keep_page_cache`` is a process that was killed: the kernel still has all its writes.
        """
        self.generation += 1
        self.crash_after = None
        for path in [path for path, holder in self._locks.items() if holder is self]:
            del self._locks[path]
        if keep_page_cache:
            return
        for _ in range(self._random.randint(0, len(self.journal))):
            self._undo(*self.journal.pop())
        self.journal.clear()
        for content in self._files.values():
            content.crash(self._random)

    def be_replaced(self) -> None:
        """Be another disk, with nothing on it."""
        self.crash(keep_page_cache=True)
        self._files.clear()
        self._directories.clear()
        self.journal.clear()

    def content(self, path: str) -> bytes:
        """Return what a file holds, for tests."""
        return bytes(self._files[path].data)

    def replace_content(self, path: str, data: bytes) -> None:
        """Set what a file holds, durably, for tests."""
        content = self._files[path]
        content.data = bytearray(data)
        content.end_flush(content.begin_flush())

    def rot(self, path: str, position: int, bits: int) -> None:
        """Have ``bits`` of one byte read wrong from now on; `content` shows what was written."""
        self._files[path].rotten[position] = bits

    def forget_rot(self) -> None:
        """Have every byte read right."""
        for content in self._files.values():
            content.rotten.clear()

    def names_now(self, directory: str) -> list[str]:
        """Return the names in a directory that may be missing or failing, for tests."""
        known = self._directories.get(directory, {})
        prefix = directory + "/"
        folders = [
            path[len(prefix) :]
            for path in self._directories
            if path.startswith(prefix) and "/" not in path[len(prefix) :]
        ]
        return sorted([*known, *folders])

    def holds(self, path: str) -> bool:
        """Whether there is a file or a directory, failing or not, for tests."""
        return path in self._files or path in self._directories

    def open(self, path: str, *, create: bool = False) -> FakeFile:
        self.before("open", path)
        content = self._files.get(path)
        if content is None:
            if not create:
                raise _missing("open", path)
            directory, _, name = path.rpartition("/")
            if directory not in self._directories:
                raise _missing("open", path)
            content = self._files[path] = self._directories[directory][name] = Content()
            self.journal.append((True, path, content))
        return FakeFile(self, path, content)

    def exists(self, path: str) -> bool:
        self.before("stat", path)
        return path in self._files or path in self._directories

    def size(self, path: str) -> int:
        self.before("stat", path)
        if path not in self._files:
            raise _missing("stat", path)
        return len(self._files[path].data)

    def modified_ms(self, path: str) -> int:
        self.before("stat", path)
        if path not in self._files:
            raise _missing("stat", path)
        return self._files[path].modified_ms

    def set_modified_ms(self, path: str, time_ms: int) -> None:
        self.before("utime", path)
        if path not in self._files:
            raise _missing("utime", path)
        self._files[path].modified_ms = time_ms

    def names(self, directory: str) -> list[str]:
        self.before("list", directory)
        if directory not in self._directories:
            raise _missing("list", directory)
        return self.names_now(directory)

    def make_directory(self, path: str) -> None:
        self.before("mkdir", path)
        self._directories.setdefault(path, {})

    def rename(self, source: str, target: str) -> None:
        self.before("rename", source)
        if source.rpartition("/")[0] != target.rpartition("/")[0]:
            raise UnsafePath(f"{source} and {target} have different parents")
        if source in self._files:
            content = self._forget(source)
            directory, _, name = target.rpartition("/")
            self._files[target] = self._directories[directory][name] = content
        elif source in self._directories:
            names = self._directories[target] = self._directories.pop(source)
            for name in names:
                self._files[f"{target}/{name}"] = self._files.pop(f"{source}/{name}")
        else:
            raise _missing("rename", source)

    def remove(self, path: str) -> None:
        self.before("remove", path)
        if path not in self._files:
            raise _missing("remove", path)
        self.journal.append((False, path, self._forget(path)))

    def remove_directory(self, path: str) -> None:
        self.before("rmdir", path)
        if path not in self._directories:
            raise _missing("rmdir", path)
        if self._directories[path]:
            raise DiskError("rmdir", path, OSError(errno.ENOTEMPTY, "Directory not empty"))
        del self._directories[path]

    def flush_directory(self, path: str) -> None:
        self.before("fsync", path)
        if path not in self._directories:
            raise _missing("fsync", path)
        self.flushes_in_turn += 1
        self.journal.clear()

    def begin_flush_directory(self, path: str) -> FakeFlush:
        self.before("stat", path)
        if path not in self._directories:
            raise _missing("fsync", path)
        return FakeFlush(self, path)

    async def in_background(self, operation: Callable[[], None]) -> None:
        await asyncio.sleep(self.pause_s())
        in_turn = self.flushes_in_turn
        operation()
        self.flushes_in_turn = in_turn

    def read_whole(self, path: str) -> bytes:
        self.before("read", path)
        if path not in self._files:
            raise _missing("read", path)
        return bytes(self._files[path].data)

    def write_whole(self, path: str, data: bytes) -> None:
        self.before("write", path, len(data))
        directory, _, name = path.rpartition("/")
        if directory not in self._directories:
            raise _missing("write", path)
        content = Content()
        content.data += data
        self.flushes_in_turn += 2
        self.journal.clear()
        self._files[path] = self._directories[directory][name] = content

    def lock(self, path: str) -> bool:
        self.before("lock", path)
        directory, _, name = path.rpartition("/")
        if path not in self._files:
            if directory not in self._directories:
                raise _missing("lock", path)
            content = self._files[path] = self._directories[directory][name] = Content()
            self.journal.append((True, path, content))
        if path in self._locks:
            return False
        self._locks[path] = self
        return True

    def unlock(self, path: str) -> None:
        if self._locks.get(path) is self:
            del self._locks[path]

    def holds_lock(self, path: str) -> bool:
        """Whether this process holds the lock of a file, for tests."""
        return self._locks.get(path) is self

    def _undo(self, created: bool, path: str, content: Content) -> None:
        directory, _, name = path.rpartition("/")
        if created and self._files.get(path) is content:
            self._forget(path)
        elif not created and directory in self._directories and path not in self._files:
            self._files[path] = self._directories[directory][name] = content

    def _forget(self, path: str) -> Content:
        directory, _, name = path.rpartition("/")
        del self._directories[directory][name]
        return self._files.pop(path)


def _missing(operation: str, path: str) -> DiskError:
    return DiskError(operation, path, OSError(errno.ENOENT, "No such file or directory"))
