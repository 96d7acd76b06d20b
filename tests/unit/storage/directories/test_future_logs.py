"""Moving a log to another directory: a swap that is cut off leaves one log with all records."""

import errno
from collections.abc import Callable
from random import Random
from uuid import UUID

import pytest

from ballast.model.ids import TopicPartition
from ballast.storage.directories.log_dirs import LogDirs
from ballast.storage.errors import DiskError, StorageError, WrongLogDir
from ballast.storage.log.log import Log
from tests.fakes.disk import Crash, FakeDisk
from tests.unit.storage.samples import CONFIG, append, batch, contents, flush_all

A0, B0 = TopicPartition("a", 0), TopicPartition("b", 0)
PRODUCER = (9, 0, 0)


def loaded(disk: FakeDisk, *roots: str) -> LogDirs:
    dirs = LogDirs(
        disk, roots or ("/d1", "/d2"), broker_id=1, config_for=lambda _: CONFIG, random=Random(0)
    )
    dirs.load_all("cluster")
    return dirs


def copy(dirs: LogDirs) -> None:
    """Bring the future log up to the end of the log."""
    log, future = dirs.logs[A0], dirs.futures[A0]
    while future.log_end_offset < log.log_end_offset:
        data = bytes(log.read(future.log_end_offset, max_bytes=1000))
        future.append_as_follower(memoryview(data), now_ms=0)


def moving(disk: FakeDisk) -> LogDirs:
    """Return directories of which the second has a whole copy of the log in the first."""
    dirs = loaded(disk)
    log = dirs.get_or_create(A0, UUID(int=5))
    append(log, batch(producer=PRODUCER), batch(), batch(), epoch=3)
    log.begin_leader_epoch(7)
    log.raise_log_start_offset(1)
    flush_all(dirs)
    dirs.write_high_watermarks({A0: 2})
    dirs.write_cleaner_offset(A0, 1)
    dirs.create_future(A0, "/d2")
    copy(dirs)
    return dirs


def new_disk(seed: int = 1) -> FakeDisk:
    return FakeDisk(Random(seed))


def folders(disk: FakeDisk) -> list[str]:
    return [
        f"{root}/{name}" for root in ("/d1", "/d2") for name in disk.names(root) if "a-0" in name
    ]


def shape(log: Log) -> object:
    return contents(log), log.log_start_offset, log.leader_epochs.entries, log.topic_id


def test_a_future_log_is_beside_the_log() -> None:
    disk = new_disk()
    dirs = moving(disk)
    assert [(d.directory, dict(d.sizes), dict(d.future_sizes)) for d in dirs.describe()] == [
        ("/d1", {A0: 3 * len(batch())}, {}),
        ("/d2", {}, {A0: 2 * len(batch())}),
    ]
    [folder] = [name for name in disk.names("/d2") if "a-0" in name]
    assert folder.startswith("a-0.")
    assert folder.endswith("-future")
    assert dirs.get(A0) is dirs.logs[A0]
    assert dirs.get_future(A0) is dirs.futures[A0]
    assert dirs.get_future(B0) is None
    assert (dirs.directory_of(A0), dirs.future_directory_of(A0)) == ("/d1", "/d2")
    assert dirs.futures[A0].topic_id == UUID(int=5)


def test_it_takes_the_logs_place() -> None:
    disk = new_disk()
    dirs = moving(disk)
    before = shape(dirs.logs[A0])
    log = dirs.promote_future(A0)
    assert dirs.get(A0) is log
    assert shape(log) == before
    assert log.leader_epochs.latest_epoch == 7
    assert dirs.futures == {}
    assert (dirs.directory_of(A0), dirs.future_directory_of(A0)) == ("/d2", None)
    assert dirs.cleaner_offset(A0) == 1
    assert disk.content("/d2/cleaner-offset-checkpoint") == b"0\n1\na 0 1\n"
    assert disk.content("/d2/replication-offset-checkpoint") == b"0\n1\na 0 2\n"
    assert disk.content("/d2/log-start-offset-checkpoint") == b"0\n1\na 0 1\n"
    [buried, current] = folders(disk)
    assert buried.endswith("-delete")
    assert current == "/d2/a-0"
    assert "moved-from" not in disk.names("/d2/a-0")
    append(log, batch(), epoch=7)
    log.roll()
    append(log, batch(), epoch=7)
    log.raise_log_start_offset(4)
    dirs.remove_retired_segments(0)
    dirs.remove_retired_segments(log.config.file_delete_delay_ms)
    dirs.shutdown()
    assert contents(loaded(disk).logs[A0]) == [(4, len(batch()))]


def changes_of(prepare: Callable[[FakeDisk], LogDirs], work: Callable[[LogDirs], object]) -> int:
    """Return how many changes to the disk the work makes: before each of them it may be cut."""
    disk = new_disk()
    dirs = prepare(disk)
    before = disk.operations
    work(dirs)
    return disk.operations - before


CHANGES = changes_of(moving, lambda dirs: dirs.promote_future(A0))


@pytest.mark.parametrize("keep_page_cache", [True, False], ids=["killed", "power lost"])
@pytest.mark.parametrize("change", range(CHANGES))
def test_a_crash_before_each_change(change: int, *, keep_page_cache: bool) -> None:
    for seed in range(4):
        disk = new_disk(seed)
        dirs = moving(disk)
        before = contents(dirs.logs[A0])
        disk.crash_after = disk.operations + change
        with pytest.raises(Crash):
            dirs.promote_future(A0)
        disk.crash(keep_page_cache=keep_page_cache)
        again = loaded(disk)
        log = again.logs[A0]
        assert contents(log) == before
        assert (log.log_start_offset, log.topic_id) == (1, UUID(int=5))
        moved = again.directory_of(A0) == "/d2"
        assert (A0 in again.futures) == (not moved)
        if not moved:
            copy(again)
            again.promote_future(A0)
        again.remove_deleted()
        assert folders(disk) == ["/d2/a-0"]
        assert "moved-from" not in disk.names("/d2/a-0")


def test_a_replaced_log_comes_back_with_its_directory() -> None:
    disk = new_disk()
    dirs = moving(disk)
    disk.fail = lambda done, path: (
        errno.EIO if done in ("rename", "list") and path.startswith("/d1") else None
    )
    dirs.promote_future(A0)
    assert list(dirs.offline_directories) == ["/d1"]
    assert folders_of(disk) == ["/d1/a-0", "/d2/a-0"]
    disk.crash(keep_page_cache=True)
    assert loaded(disk).directory_of(A0) == "/d2"
    disk.fail = None
    disk.crash(keep_page_cache=True)
    assert loaded(disk).directory_of(A0) == "/d2"
    assert [path.endswith("-delete") for path in folders(disk)] == [True, False]


def test_a_log_made_anew_counts_before_the_one_that_was_out_of_sight() -> None:
    disk = new_disk()
    roots = ("/d1", "/d2", "/d3")
    append(loaded(disk, *roots).get_or_create(A0), batch(), epoch=3)
    disk.fail = lambda _, path: errno.EIO if path.startswith("/d1") else None
    disk.crash(keep_page_cache=True)
    dirs = loaded(disk, *roots)
    append(dirs.get_or_create(A0), batch(), batch(), epoch=9)
    dirs.create_future(A0, "/d3")
    copy(dirs)
    dirs.promote_future(A0)
    disk.fail = None
    assert folders_of(disk)[0] == "/d1/a-0"
    disk.crash(keep_page_cache=True)
    again = loaded(disk, *roots)
    assert again.directory_of(A0) == "/d3"
    assert again.logs[A0].log_end_offset == 2
    assert [path.endswith("-delete") for path in folders(disk)] == [True, True]
    assert "moved-from" not in disk.names("/d3/a-0")


def hidden_first(disk: FakeDisk) -> LogDirs:
    """Return directories of which the first is offline, with a log of one record."""
    dirs = loaded(disk)
    append(dirs.get_or_create(A0), batch(), epoch=3)
    dirs.shutdown()
    disk.fail = lambda _, path: errno.EIO if path.startswith("/d1") else None
    return loaded(disk)


CHANGES_ANEW = changes_of(hidden_first, lambda dirs: dirs.get_or_create(A0))


@pytest.mark.parametrize("keep_page_cache", [True, False], ids=["killed", "power lost"])
@pytest.mark.parametrize("change", range(CHANGES_ANEW))
def test_a_log_is_made_anew_or_not_at_all(change: int, *, keep_page_cache: bool) -> None:
    for seed in range(4):
        disk = new_disk(seed)
        dirs = hidden_first(disk)
        disk.crash_after = disk.operations + change
        with pytest.raises(Crash):
            dirs.get_or_create(A0)
        disk.fail = None
        disk.crash(keep_page_cache=keep_page_cache)
        again = loaded(disk)
        is_anew = again.directory_of(A0) == "/d2"
        assert again.logs[A0].log_end_offset == (0 if is_anew else 1)
        again.remove_deleted()
        assert folders(disk) == ["/d2/a-0" if is_anew else "/d1/a-0"]


def folders_of(disk: FakeDisk) -> list[str]:
    """Return the folders, whatever the disk refuses."""
    fail, disk.fail = disk.fail, None
    found = folders(disk)
    disk.fail = fail
    return found


def test_a_target_that_fails_leaves_the_log_where_it_is() -> None:
    disk = new_disk()
    dirs = moving(disk)
    disk.fail = lambda done, path: (
        errno.EIO if done == "rename" and path.startswith("/d2") and path.count("/") == 2 else None
    )
    with pytest.raises(DiskError):
        dirs.promote_future(A0)
    assert list(dirs.offline_directories) == ["/d2"]
    assert dirs.directory_of(A0) == "/d1"
    append(dirs.logs[A0], batch(), epoch=7)


def test_a_swap_that_was_refused_too_late_does_not_count_after_a_restart() -> None:
    disk = new_disk()
    dirs = moving(disk)
    renamed = False

    def refuse(operation: str, path: str) -> int | None:
        nonlocal renamed
        renamed = renamed or (operation == "rename" and path.endswith("-future"))
        return errno.EIO if renamed and operation == "fsync" and path == "/d2" else None

    disk.fail = refuse
    with pytest.raises(DiskError):
        dirs.promote_future(A0)
    append(dirs.logs[A0], batch(), epoch=7)
    disk.fail = None
    assert folders(disk) == ["/d1/a-0", "/d2/a-0"]
    disk.crash(keep_page_cache=True)
    again = loaded(disk)
    assert again.directory_of(A0) == "/d1"
    assert again.logs[A0].log_end_offset == 4
    again.create_future(A0, "/d2")
    copy(again)
    again.promote_future(A0)
    again.shutdown()
    assert loaded(disk).directory_of(A0) == "/d2"


def test_a_directory_that_refuses_a_future_log_goes_offline() -> None:
    disk = new_disk()
    dirs = loaded(disk)
    dirs.get_or_create(A0)
    disk.fail = lambda done, path: errno.EIO if done == "mkdir" and "/d2" in path else None
    with pytest.raises(StorageError):
        dirs.create_future(A0, "/d2")
    assert list(dirs.offline_directories) == ["/d2"]


def test_a_move_is_given_up() -> None:
    disk = new_disk()
    dirs = moving(disk)
    dirs.delete_future(A0)
    assert dirs.futures == {}
    dirs.remove_deleted()
    assert folders(disk) == ["/d1/a-0"]
    dirs.create_future(A0, "/d2")
    dirs.delete(A0)
    dirs.remove_deleted()
    assert folders(disk) == []


def test_a_move_goes_on_after_a_restart() -> None:
    for clean in (True, False):
        disk = new_disk()
        dirs = moving(disk)
        if clean:
            dirs.shutdown()
        disk.crash(keep_page_cache=True)
        again = loaded(disk)
        assert contents(again.futures[A0]) == contents(again.logs[A0])
        assert again.futures[A0].recovery_point == (3 if clean else 0)


def test_future_logs_without_use_go_at_the_start() -> None:
    disk = new_disk()
    dirs = moving(disk)
    dirs.shutdown()
    unique = "f" * 32
    for extra in (
        f"/d1/a-0.{unique}-future",
        f"/d2/a-0.{unique}-future",
        f"/d2/b-0.{unique}-future",
    ):
        disk.make_directory(extra)
    again = loaded(disk)
    assert list(again.futures) == [A0]
    assert again.future_directory_of(A0) == "/d2"
    again.remove_deleted()
    left = [name for root in ("/d1", "/d2") for name in disk.names(root) if "-future" in name]
    assert len(left) == 1


def test_a_future_log_stays_while_its_log_may_come_back() -> None:
    disk = new_disk()
    moving(disk).shutdown()
    disk.fail = lambda done, path: errno.EIO if done == "list" and path == "/d1" else None
    dirs = loaded(disk)
    assert dirs.logs == {}
    assert list(dirs.futures) == [A0]
    disk.fail = None
    disk.crash(keep_page_cache=True)
    assert list(loaded(disk).logs) == [A0]


def test_two_logs_of_which_none_replaces_the_other_are_refused() -> None:
    disk = new_disk()
    loaded(disk, "/d1").get_or_create(A0)
    loaded(disk, "/d2").get_or_create(A0)
    for claim in (b"1 /d3", b"/d1", b"x /d1", b""):
        disk.write_whole("/d2/a-0/moved-from", claim)
        with pytest.raises(WrongLogDir):
            loaded(disk)
