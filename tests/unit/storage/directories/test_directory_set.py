"""Which log directories are locked, online and offline."""

import errno
from random import Random

import pytest

from ballast.model.ids import TopicPartition
from ballast.storage.directories.directory_set import DirectorySet
from ballast.storage.directories.log_directory import LogDirectory
from ballast.storage.errors import DiskError, StorageError, UnsafePath
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import CONFIG

PATHS = ("/d1", "/d2")


def directories(disk: FakeDisk) -> DirectorySet:
    return DirectorySet([LogDirectory(disk, path, lambda _: CONFIG) for path in PATHS])


def test_all_directories_are_locked_until_they_are_unlocked() -> None:
    disk = FakeDisk(Random(0))
    first, second = directories(disk), directories(disk.another_process())
    assert first.lock_all() == []
    assert first.lock_all() == []
    assert second.lock_all() == list(PATHS)
    first.unlock_all()
    assert second.lock_all() == []


def test_what_is_free_is_held_while_the_rest_is_waited_for() -> None:
    disk = FakeDisk(Random(0))
    other = disk.another_process()
    other.make_directory("/d2")
    assert other.lock("/d2/.lock")
    dirs = directories(disk)
    assert dirs.lock_all() == ["/d2"]
    assert disk.holds_lock("/d1/.lock")
    assert dirs.offline_directories == {}
    other.unlock("/d2/.lock")
    assert dirs.lock_all() == []


def test_a_directory_that_fails_goes_offline_alone() -> None:
    disk = FakeDisk(Random(0))
    dirs = directories(disk)
    told: list[tuple[StorageError, list[TopicPartition]]] = []
    dirs.on_offline = lambda error, lost: told.append((error, list(lost)))
    disk.fail = lambda _, path: errno.EIO if path.startswith("/d1") else None
    assert dirs.lock_all() == []
    assert list(dirs.offline_directories) == ["/d1"]
    assert [dirs.is_online(path) for path in PATHS] == [False, True]
    assert dirs.is_any_online
    assert [lost for _, lost in told] == [[]]
    dirs.take_offline("/d2/", DiskError("read", "/d2", OSError(errno.EIO, "gone")))
    assert not dirs.is_any_online


def test_only_its_own_directories_have_a_state() -> None:
    with pytest.raises(UnsafePath):
        directories(FakeDisk(Random(0))).is_online("/d3")
