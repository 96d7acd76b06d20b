"""All logs of a broker: checkpoints, clean ends, deletion, directories that fail."""

import errno
from collections.abc import Callable
from dataclasses import replace
from random import Random
from uuid import UUID

import pytest

from ballast.model.ids import TopicPartition
from ballast.storage.directories.log_dirs import PREFERRED_MAX, LogDirs
from ballast.storage.errors import DiskError, LogFailed, NoUsableLogDir, UnsafePath, WrongLogDir
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import CONFIG, append, batch, contents, flush_all

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def log_dirs(disk: FakeDisk, *roots: str, broker_id: int = 1) -> LogDirs:
    return LogDirs(
        disk,
        roots or ["/d1"],
        broker_id=broker_id,
        config_for=lambda _: CONFIG,
        random=Random(0),
    )


def loaded(disk: FakeDisk, *roots: str) -> LogDirs:
    dirs = log_dirs(disk, *roots)
    dirs.load_all("cluster")
    dirs.claim("cluster", ())
    return dirs


def new_disk() -> FakeDisk:
    return FakeDisk(Random(1))


def failing(operation: str, prefix: str) -> Callable[[str, str], int | None]:
    return lambda done, path: errno.EIO if done == operation and path.startswith(prefix) else None


def test_files_of_a_log_directory() -> None:
    disk = new_disk()
    dirs = loaded(disk, "/d1/")
    append(dirs.get_or_create(A0, UUID(int=1)), batch(), batch(), epoch=3)
    dirs.get_or_create(B0)
    flush_all(dirs)
    dirs.write_high_watermarks({A0: 1, A1: 5})
    assert disk.names("/d1") == [
        "a-0",
        "b-0",
        "meta.properties",
        "recovery-point-offset-checkpoint",
        "replication-offset-checkpoint",
    ]
    assert disk.content("/d1/recovery-point-offset-checkpoint") == b"0\n2\na 0 2\nb 0 0\n"
    assert disk.content("/d1/replication-offset-checkpoint") == b"0\n1\na 0 1\n"
    assert disk.names("/d1/a-0") == [
        f"{0:020d}.index",
        f"{0:020d}.log",
        f"{0:020d}.timeindex",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]
    dirs.shutdown()
    assert ".kafka_cleanshutdown" in disk.names("/d1")


def test_everything_is_there_after_a_clean_and_an_unclean_end() -> None:
    disk = new_disk()
    for clean in (True, False, True):
        dirs = loaded(disk)
        assert ".kafka_cleanshutdown" not in disk.names("/d1")
        log = dirs.get_or_create(A0, UUID(int=7))
        append(log, batch(2), epoch=1)
        dirs.write_high_watermarks({A0: log.log_end_offset})
        if clean:
            dirs.shutdown()
        else:
            disk.crash(keep_page_cache=True)
    dirs = loaded(disk)
    assert [base for base, _ in contents(dirs.logs[A0])] == [0, 2, 4]
    assert dirs.logs[A0].topic_id == UUID(int=7)
    assert dirs.read_high_watermarks() == {A0: 6}


def test_a_clean_end_needs_no_recovery() -> None:
    disk = new_disk()
    dirs = loaded(disk)
    append(dirs.get_or_create(A0), *[batch(size=500) for _ in range(50)])
    dirs.shutdown()
    disk.read_bytes = 0
    loaded(disk)
    assert disk.read_bytes < 1000


def test_logs_are_spread_over_the_directories() -> None:
    dirs = loaded(new_disk(), "/d1", "/d2")
    for partition in (A0, A1, B0):
        dirs.get_or_create(partition)
    assert [sorted(described.sizes) for described in dirs.describe()] == [[A0, B0], [A1]]
    assert dirs.get(A1) is dirs.get_or_create(A1)
    append(dirs.logs[A0], batch())
    assert [(d.directory, d.offline, dict(d.sizes)) for d in dirs.describe()] == [
        ("/d1", False, {A0: len(batch()), B0: 0}),
        ("/d2", False, {A1: 0}),
    ]


def test_deletion_renames_now_and_removes_later() -> None:
    disk = new_disk()
    dirs = loaded(disk)
    append(dirs.get_or_create(A0), batch())
    dirs.delete(A0)
    dirs.delete(A1)
    assert dirs.get(A0) is None
    [folder] = [name for name in disk.names("/d1") if name.startswith("a-0")]
    assert folder.startswith("a-0.")
    assert folder.endswith("-delete")
    assert len(folder) == len("a-0.") + 32 + len("-delete")
    dirs.shutdown()
    dirs = loaded(disk)
    assert dirs.logs == {}
    dirs.remove_deleted()
    assert folder not in disk.names("/d1")


def test_a_deletion_that_the_disk_refuses_loses_the_log_with_its_directory() -> None:
    disk = new_disk()
    dirs = loaded(disk)
    dirs.get_or_create(A0)
    lost: list[TopicPartition] = []
    dirs.on_offline = lambda _, partitions: lost.extend(partitions)
    disk.fail = failing("rename", "/d1")
    with pytest.raises(DiskError):
        dirs.delete(A0)
    assert lost == [A0]
    assert not dirs.is_any_online


def test_a_recreated_partition_inherits_nothing_from_the_checkpoints() -> None:
    disk = new_disk()
    dirs = loaded(disk)
    append(dirs.get_or_create(A0), *[batch() for _ in range(5)])
    flush_all(dirs)
    dirs.write_high_watermarks({A0: 5})
    dirs.delete(A0)
    append(dirs.get_or_create(A0), batch(), batch())
    assert disk.content("/d1/recovery-point-offset-checkpoint") == b"0\n0\n"
    assert dirs.read_high_watermarks() == {}
    path = f"/d1/a-0/{0:020d}.log"
    disk.replace_content(path, disk.content(path)[:-1])
    assert loaded(disk).logs[A0].log_end_offset == 1


def test_truncation_below_the_recovery_point_is_written_down_at_once() -> None:
    disk = new_disk()
    dirs = loaded(disk)
    log = dirs.get_or_create(A0)
    append(log, *[batch() for _ in range(5)])
    flush_all(dirs)
    log.truncate_to(2)
    assert disk.content("/d1/recovery-point-offset-checkpoint") == b"0\n1\na 0 2\n"
    append(log, *[batch(size=99) for _ in range(3)])
    path = f"/d1/a-0/{0:020d}.log"
    disk.replace_content(path, disk.content(path)[:-1])
    assert loaded(disk).logs[A0].log_end_offset == 4


def test_the_log_start_is_kept() -> None:
    disk = new_disk()
    dirs = loaded(disk)
    log = dirs.get_or_create(A0)
    append(log, *[batch() for _ in range(5)])
    log.raise_log_start_offset(3)
    flush_all(dirs)
    assert disk.content("/d1/log-start-offset-checkpoint") == b"0\n1\na 0 3\n"
    disk.crash()
    assert loaded(disk).logs[A0].log_start_offset == 3


def test_a_directory_of_another_owner_is_refused() -> None:
    disk = new_disk()
    loaded(disk).shutdown()
    assert disk.content("/d1/meta.properties") == b"cluster.id=cluster\nversion=0\nbroker.id=1\n"
    with pytest.raises(WrongLogDir):
        log_dirs(disk).load_all("another")
    with pytest.raises(WrongLogDir):
        log_dirs(disk, broker_id=2).load_all("cluster")


def test_a_partition_in_two_directories_is_refused() -> None:
    disk = new_disk()
    loaded(disk, "/d1").get_or_create(A0)
    loaded(disk, "/d2").get_or_create(A0)
    with pytest.raises(WrongLogDir):
        log_dirs(disk, "/d1", "/d2").load_all("cluster")


@pytest.mark.parametrize("operation", ["list", "read", "stat"])
def test_a_directory_that_cannot_be_read_goes_offline(operation: str) -> None:
    disk = new_disk()
    dirs = loaded(disk, "/d1", "/d2")
    append(dirs.get_or_create(A0), batch())
    append(dirs.get_or_create(A1), batch())
    flush_all(dirs)
    disk.fail = failing(operation, "/d1")
    dirs = loaded(disk, "/d1", "/d2")
    assert list(dirs.offline_directories) == ["/d1"]
    assert list(dirs.logs) == [A1]
    dirs.get_or_create(B0)
    assert [sorted(described.sizes) for described in dirs.describe()] == [[], [A1, B0]]
    dirs.shutdown()
    assert ".kafka_cleanshutdown" in disk.names("/d2")


def test_no_usable_directory_left() -> None:
    disk = new_disk()
    disk.fail = failing("list", "/d1")
    with pytest.raises(NoUsableLogDir):
        loaded(disk)
    disk.fail = None
    dirs = loaded(disk)
    disk.fail = failing("mkdir", "/d1")
    with pytest.raises(NoUsableLogDir):
        dirs.get_or_create(A0)


@pytest.mark.parametrize("operation", ["fsync", "write"])
def test_a_failing_flush_takes_the_directory_offline(operation: str) -> None:
    disk = new_disk()
    dirs = loaded(disk, "/d1", "/d2")
    append(dirs.get_or_create(A0), batch())
    append(dirs.get_or_create(A1), batch())
    disk.fail = failing(operation, "/d1")
    flush_all(dirs)
    assert list(dirs.offline_directories) == ["/d1"]
    assert list(dirs.logs) == [A1]
    dirs.write_high_watermarks({A0: 1, A1: 1})
    assert dirs.read_high_watermarks() == {A1: 1}


def test_taking_a_directory_offline_by_hand() -> None:
    dirs = loaded(new_disk(), "/d1", "/d2")
    log = dirs.get_or_create(A0)
    error = DiskError("write", "/d1", OSError(errno.EROFS, "Read-only file system"))
    assert dirs.take_offline("/d1", error) == [A0]
    assert dirs.offline_directories == {"/d1": error}
    assert dirs.describe()[0].offline
    with pytest.raises(LogFailed):
        append(log, batch())
    with pytest.raises(UnsafePath):
        dirs.take_offline("/d3", error)


def test_no_clean_marker_where_a_log_failed() -> None:
    disk = new_disk()
    dirs = loaded(disk)
    append(dirs.get_or_create(A0), batch())
    disk.torn_write_bytes = 30
    with pytest.raises(LogFailed):
        append(dirs.logs[A0], batch())
    dirs.shutdown()
    assert ".kafka_cleanshutdown" not in disk.names("/d1")
    assert loaded(disk).logs[A0].log_end_offset == 1


def test_silent_producers_are_forgotten() -> None:
    dirs = loaded(new_disk())
    append(dirs.get_or_create(A0), batch(producer=(9, 0, 0)), now_ms=1000)
    dirs.remove_expired_producers(1000 + CONFIG.producer_id_expiration_ms)
    assert len(dirs.logs[A0].producers) == 0


def test_files_of_dropped_segments_are_removed_later() -> None:
    disk = new_disk()
    dirs = loaded(disk)
    config = replace(CONFIG, segment_bytes=100, file_delete_delay_ms=50)
    for name in (A0, A1):
        log = dirs.get_or_create(name)
        log.config = config
        append(log, *[batch() for _ in range(4)])
        log.raise_log_start_offset(2)

    def waiting() -> int:
        return sum(n.endswith(".deleted") for name in (A0, A1) for n in disk.names(f"/d1/{name}"))

    dirs.remove_retired_segments(1000)
    dirs.remove_retired_segments(1049)
    assert waiting() == 12
    dirs.remove_retired_segments(1050)
    assert waiting() == 0


def test_a_disk_that_removes_nothing_goes_offline() -> None:
    disk = new_disk()
    dirs = loaded(disk, "/d1", "/d2")
    log = dirs.get_or_create(A0)
    log.config = replace(CONFIG, segment_bytes=100, file_delete_delay_ms=0)
    append(log, *[batch() for _ in range(4)])
    log.raise_log_start_offset(2)
    disk.fail = failing("remove", "/d1/a-0")
    dirs.remove_retired_segments(1000)
    assert set(dirs.offline_directories) == {"/d1"}


def test_a_directory_may_be_chosen_before_the_partition_comes() -> None:
    dirs = loaded(new_disk(), "/d1", "/d2", "/d3")
    dirs.prefer(A0, "/d3")
    dirs.get_or_create(A0)
    assert dirs.directory_of(A0) == "/d3"
    dirs.delete(A0)
    dirs.get_or_create(A0)
    assert dirs.directory_of(A0) == "/d1"
    with pytest.raises(UnsafePath):
        dirs.prefer(A1, "/d4")


def test_a_chosen_directory_that_has_failed_is_not_waited_for() -> None:
    dirs = loaded(new_disk(), "/d1", "/d2")
    dirs.prefer(A0, "/d2")
    dirs.take_offline("/d2", DiskError("write", "/d2", OSError(errno.EIO, "I/O error")))
    dirs.get_or_create(A0)
    assert dirs.directory_of(A0) == "/d1"


def test_choices_are_bounded() -> None:
    dirs = loaded(new_disk(), "/d1", "/d2")
    for number in range(PREFERRED_MAX + 1):
        dirs.prefer(TopicPartition("a", number), "/d2")
    for number in (0, 1):
        dirs.get_or_create(TopicPartition("a", number))
    assert [dirs.directory_of(TopicPartition("a", n)) for n in (0, 1)] == ["/d1", "/d2"]


def test_who_asks_is_told_of_a_directory_that_fails() -> None:
    disk = new_disk()
    dirs = loaded(disk, "/d1", "/d2")
    lost: list[tuple[str, list[TopicPartition]]] = []
    dirs.on_offline = lambda error, partitions: lost.append((str(error), [*partitions]))
    for partition in (A0, A1, B0):
        dirs.get_or_create(partition)
    disk.fail = failing("write", "/d1")
    assert dirs.is_online("/d1")
    dirs.write_high_watermarks({A0: 0, A1: 0, B0: 0})
    assert lost == [(str(dirs.offline_directories["/d1"]), [A0, B0])]
    assert not dirs.is_online("/d1")
    assert dirs.is_any_online
    with pytest.raises(UnsafePath):
        dirs.is_online("/d3")
