"""What a flush vouches for when the log changes while the disk is waited for."""

import errno
from random import Random

import pytest

from ballast.model.ids import TopicPartition
from ballast.storage.directories.log_directory import LogDirectory
from ballast.storage.errors import DiskError, LogFailed
from ballast.storage.files.durability import Flushes, each, run, write_whole
from ballast.storage.files.layout import RECOVERY_POINTS
from ballast.storage.log.log import Log
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import (
    CONFIG,
    DIRECTORY,
    append,
    batch,
    contents,
    new_disk,
    reopened,
)

A0 = TopicPartition("a", 0)


def begun(flushes: Flushes) -> Flushes:
    """Go as far as the first wait, and return what ends the procedure."""
    flush = next(flushes)

    def rest() -> Flushes:
        yield flush
        yield from flushes

    return rest()


def filled(disk: FakeDisk, count: int = 5) -> Log:
    log = reopened(disk)
    append(log, *[batch() for _ in range(count)])
    return log


def test_what_is_appended_meanwhile_is_left_for_the_next_flush() -> None:
    log = filled(new_disk())
    rest = begun(log.flushes())
    append(log, batch())
    run(rest)
    assert (log.recovery_point, log.log_end_offset) == (5, 6)
    log.flush()
    assert log.recovery_point == 6


@pytest.mark.parametrize("seed", range(20))
def test_a_power_failure_leaves_what_the_recovery_point_vouches_for(seed: int) -> None:
    disk = new_disk(seed)
    log = filled(disk)
    rest = begun(log.flushes())
    append(log, batch(), batch())
    run(rest)
    disk.crash()
    again = reopened(disk, recovery_point=log.recovery_point)
    assert len(contents(again)) >= 5


def test_a_truncation_meanwhile_keeps_the_recovery_point_low() -> None:
    log = filled(new_disk())
    rest = begun(log.flushes())
    log.truncate_to(2)
    append(log, batch(), batch(), batch())
    run(rest)
    assert log.recovery_point == 0, "other records are in the place of those that were flushed"
    log.flush()
    assert log.recovery_point == 5


def test_a_new_epoch_meanwhile_is_written_before_it_is_vouched_for() -> None:
    disk = new_disk()
    log = filled(disk)
    rest = begun(log.flushes())
    log.begin_leader_epoch(3)
    append(log, batch(), epoch=3)
    run(rest)
    log.flush()
    disk.crash()
    again = reopened(disk, recovery_point=log.recovery_point)
    assert [(e.epoch, e.start_offset) for e in again.leader_epochs.entries] == [(0, 0), (3, 5)]


def test_epochs_that_change_while_they_are_written_are_written_again() -> None:
    disk = new_disk()
    log = filled(disk)
    flushes = log.flushes()
    path = f"{DIRECTORY}/leader-epoch-checkpoint.new"
    for flush in flushes:
        flush()
        if disk.holds(path):
            break
    log.begin_leader_epoch(4)
    run(flushes)
    assert log.recovery_point == 0
    log.flush()
    assert log.recovery_point == 5
    assert b"4 5" in disk.content(f"{DIRECTORY}/leader-epoch-checkpoint")


def test_a_log_that_is_closed_meanwhile_is_left_alone() -> None:
    disk = new_disk()
    log = filled(disk)
    rest = begun(log.flushes())
    log.close(clean=False)
    run(rest)
    assert log.recovery_point == 0
    assert log.failure is None


def test_a_segment_that_begins_meanwhile_is_left_for_the_next_flush() -> None:
    log = filled(new_disk())
    rest = begun(log.flushes())
    log.roll()
    append(log, batch())
    run(rest)
    assert log.recovery_point == 5


def test_a_flush_that_fails_fences_the_log() -> None:
    disk = new_disk()
    log = filled(disk)
    rest = log.flushes()
    disk.fail = lambda operation, _: errno.EIO if operation == "fsync" else None
    with pytest.raises(LogFailed):
        run(rest)
    disk.fail = None
    with pytest.raises(LogFailed):
        append(log, batch())


def directory_of(disk: FakeDisk) -> LogDirectory:
    directory = LogDirectory(disk, "/d1", lambda _: CONFIG)
    directory.check_owner("cluster", 1)
    directory.load()
    directory.logs[A0] = directory.create("a-0", A0)
    append(directory.logs[A0], *[batch() for _ in range(5)])
    directory.logs[A0].flush()
    return directory


def test_a_lower_recovery_point_is_never_replaced_by_a_higher_one() -> None:
    disk = FakeDisk(Random(0))
    directory = directory_of(disk)
    flushes = directory.checkpoint_flushes()
    for flush in flushes:
        flush()
        if disk.holds(f"/d1/{RECOVERY_POINTS}.new"):
            break
    directory.logs[A0].truncate_to(2)
    assert b"a 0 2" in disk.content(f"/d1/{RECOVERY_POINTS}")
    run(flushes)
    assert b"a 0 2" in disk.content(f"/d1/{RECOVERY_POINTS}")


def test_content_that_is_not_current_any_more_is_given_up() -> None:
    disk = new_disk()
    disk.make_directory("/logs")
    run(write_whole(disk, "/logs/x", b"1", lambda: True))
    run(write_whole(disk, "/logs/x", b"2", lambda: False))
    assert disk.content("/logs/x") == b"1"


def test_flushes_that_are_not_asked_for_are_given_up() -> None:
    ended: list[str] = []

    class Noted:
        def __init__(self, name: str) -> None:
            self.name = name

        def __call__(self) -> None:
            ended.append(f"{self.name} flushed")

        def close(self) -> None:
            ended.append(f"{self.name} closed")

    flushes = each([Noted("a"), Noted("b"), Noted("c")])
    next(flushes)()
    flushes.close()
    assert ended == ["a flushed", "b closed", "c closed"]


def test_a_failure_is_thrown_into_the_procedure() -> None:
    class Failing:
        def __call__(self) -> None:
            raise DiskError("fsync", "/x", OSError(errno.EIO, "Input/output error"))

        def close(self) -> None:
            pass

    with pytest.raises(DiskError):
        run(each([Failing()]))
