"""Directories on new disks: the missing replicas are stored before a directory is claimed."""

import errno
from collections.abc import Callable
from random import Random

import pytest

from ballast.model.ids import TopicPartition
from ballast.storage.directories.log_dirs import LogDirs
from ballast.storage.errors import CorruptCheckpoint, NoUsableLogDir
from tests.fakes.disk import Crash, FakeDisk
from tests.unit.storage.samples import CONFIG

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def loaded(disk: FakeDisk, *roots: str) -> LogDirs:
    dirs = LogDirs(
        disk, roots or ("/d1", "/d2"), broker_id=1, config_for=lambda _: CONFIG, random=Random(0)
    )
    dirs.load_all("cluster")
    return dirs


def claimed(disk: FakeDisk) -> LogDirs:
    dirs = loaded(disk)
    dirs.claim("cluster", {B0, A1})
    return dirs


def new_disk(seed: int = 1) -> FakeDisk:
    return FakeDisk(Random(seed))


def changes_of(work: Callable[[FakeDisk], object]) -> int:
    """Return how many changes to the disk the work makes: before each of them it may be cut."""
    disk = new_disk()
    before = disk.operations
    work(disk)
    return disk.operations - before


def test_a_directory_without_an_owner_is_fresh_until_it_is_claimed() -> None:
    disk = new_disk()
    dirs = loaded(disk)
    assert dirs.fresh_directories == ["/d1", "/d2"]
    assert (disk.names("/d1"), disk.names("/d2")) == ([], [])
    dirs.claim("cluster", {B0, A1})
    assert dirs.fresh_directories == []
    assert dirs.missing == {A1, B0}
    for path in ("/d1", "/d2"):
        assert disk.names(path) == ["meta.properties", "missing-replicas"]
        assert disk.content(f"{path}/missing-replicas") == b"0\n2\na 1\nb 0\n"
    again = loaded(disk)
    assert not again.fresh_directories
    assert again.missing == {A1, B0}


def test_nothing_missing_leaves_no_list() -> None:
    disk = new_disk()
    loaded(disk).claim("cluster", ())
    assert disk.names("/d1") == ["meta.properties"]


@pytest.mark.parametrize("cut", range(changes_of(claimed)))
@pytest.mark.parametrize("keep_page_cache", [True, False])
def test_a_claim_that_is_cut_off_leaves_a_fresh_directory_or_the_whole_list(
    cut: int, keep_page_cache: bool
) -> None:
    disk = new_disk(cut)
    disk.crash_after = cut
    with pytest.raises(Crash):
        claimed(disk)
    disk.crash(keep_page_cache=keep_page_cache)
    dirs = loaded(disk)
    owned = {"/d1", "/d2"}.difference(dirs.fresh_directories)
    assert owned != {"/d1", "/d2"}
    for path in owned:
        assert disk.content(f"{path}/missing-replicas") == b"0\n2\na 1\nb 0\n"
    dirs.claim("cluster", {B0, A1})
    assert loaded(disk).missing == {A1, B0}


def test_what_is_forgotten_stays_forgotten() -> None:
    disk = new_disk()
    claimed(disk).forget_missing({A1})
    disk.crash()
    assert loaded(disk).missing == {B0}


FORGETTING = changes_of(lambda disk: claimed(disk).forget_missing({A1, B0})) - changes_of(claimed)


@pytest.mark.parametrize("cut", range(FORGETTING))
def test_forgetting_that_is_cut_off_leaves_them_missing(cut: int) -> None:
    disk = new_disk()
    dirs = claimed(disk)
    disk.crash_after = disk.operations + cut
    with pytest.raises(Crash):
        dirs.forget_missing({A1, B0})
    disk.crash()
    assert loaded(disk).missing == {A1, B0}


def test_a_log_that_is_here_again_is_not_missing() -> None:
    disk = new_disk()
    dirs = claimed(disk)
    dirs.get_or_create(A1)
    assert dirs.missing == {B0}
    dirs.shutdown()
    assert loaded(disk).missing == {B0}


def test_only_the_disk_that_is_new_is_claimed() -> None:
    disk = new_disk()
    dirs = loaded(disk, "/d1")
    dirs.claim("cluster", {A0})
    dirs.get_or_create(B0)
    both = loaded(disk)
    assert both.fresh_directories == ["/d2"]
    both.claim("cluster", {A1})
    assert disk.content("/d1/missing-replicas") == b"0\n1\na 0\n"
    assert disk.content("/d2/missing-replicas") == b"0\n1\na 1\n"
    assert both.missing == {A0, A1}


def test_a_directory_that_takes_no_list_is_not_used() -> None:
    disk = new_disk()
    dirs = loaded(disk)
    disk.fail = lambda done, path: (
        errno.EROFS if done == "write" and path.startswith("/d1") else None
    )
    dirs.claim("cluster", {A0})
    assert list(dirs.offline_directories) == ["/d1"]
    assert dirs.missing == {A0}
    disk.fail = None
    assert loaded(disk).fresh_directories == ["/d1"]


def test_without_any_directory_for_the_list_there_is_no_start() -> None:
    disk = new_disk()
    dirs = loaded(disk)
    disk.fail = lambda done, _: errno.ENOSPC if done == "write" else None
    with pytest.raises(NoUsableLogDir):
        dirs.claim("cluster", {A0})


def test_a_list_that_cannot_be_read_takes_the_directory_offline() -> None:
    disk = new_disk()
    claimed(disk)
    disk.replace_content("/d1/missing-replicas", b"0\n2\na 1\n")
    [error] = loaded(disk).offline_directories.values()
    assert isinstance(error, CorruptCheckpoint)
