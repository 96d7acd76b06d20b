"""Compaction is cut off before each change on disk: the log then opened is the old or the new."""

import errno
from random import Random

import pytest

from ballast.storage.errors import LogFailed
from tests.fakes.disk import Crash, FakeDisk
from tests.unit.storage.compacted import COMPACTED, bases, cleaned_to, compacted, put, texts
from tests.unit.storage.samples import DIRECTORY, ROOT, reopened

OLD = "0:a1 1:b1 2:a2 3:b2 4:a3 5:c1 6:a4 7:d1 8:e1"
NEW = "3:b2 5:c1 6:a4 7:d1 8:e1"


def disk_to_clean(seed: int = 0) -> FakeDisk:
    """Return a disk whose log is to be cleaned, all of it durable."""
    disk = FakeDisk(Random(seed))
    disk.make_directory(ROOT)
    disk.make_directory(DIRECTORY)
    log = compacted(disk)
    put(log, "a1 b1 a2 b2 a3 c1 a4 d1 e1")
    assert texts(log) == OLD
    log.close(clean=True)
    return disk


def operations_of_cleaning() -> int:
    disk = disk_to_clean()
    log = reopened(disk, config=COMPACTED, recovery_point=9)
    before = disk.operations
    cleaned_to(log)
    assert texts(log) == NEW
    return disk.operations - before


CHANGES = operations_of_cleaning()


@pytest.mark.parametrize("keep_page_cache", [True, False], ids=["killed", "power lost"])
@pytest.mark.parametrize("change", range(CHANGES + 1))
def test_a_crash_before_each_change(change: int, *, keep_page_cache: bool) -> None:
    for seed in range(3):
        disk = disk_to_clean(seed)
        log = reopened(disk, config=COMPACTED, recovery_point=9)
        disk.crash_after = disk.operations + change
        if change < CHANGES:
            with pytest.raises(Crash):
                cleaned_to(log)
        else:
            cleaned_to(log)
        disk.crash(keep_page_cache=keep_page_cache)
        again = reopened(disk, config=COMPACTED, recovery_point=9)
        assert texts(again) in mixed_states()
        assert again.log_end_offset == 9
        left = [n for n in disk.names(DIRECTORY) if n.endswith((".cleaned", ".swap", ".deleted"))]
        assert left == []
        # What is found can be cleaned, and opened with nothing trusted.
        cleaned_to(again)
        assert texts(again) == NEW
        disk.crash(keep_page_cache=True)
        assert texts(reopened(disk, config=COMPACTED)) == NEW


def mixed_states() -> set[str]:
    """Return the log with none, the first, or both of its two groups cleaned."""
    return {OLD, "3:b2 4:a3 5:c1 6:a4 7:d1 8:e1", NEW}


def test_the_crash_of_a_recovery_is_recovered_from() -> None:
    for change in range(CHANGES):
        disk = disk_to_clean()
        log = reopened(disk, config=COMPACTED, recovery_point=9)
        disk.crash_after = disk.operations + change
        with pytest.raises(Crash):
            cleaned_to(log)
        disk.crash(keep_page_cache=True)
        for again in range(40):
            disk.crash_after = disk.operations + again
            try:
                assert texts(reopened(disk, config=COMPACTED, recovery_point=9)) in mixed_states()
                break
            except Crash:
                disk.crash(keep_page_cache=True)
        else:
            pytest.fail("recovery never ends")


def test_several_segments_are_replaced_by_one() -> None:
    """The second cleaning joins what the first has left; it is cut off at each change."""
    disk = disk_to_clean()
    log = reopened(disk, config=COMPACTED, recovery_point=9)
    cleaned_to(log)
    assert bases(log) == [0, 4, 8]
    log.close(clean=True)
    change = 0
    while True:
        log = reopened(disk, config=COMPACTED, recovery_point=9)
        disk.crash_after = disk.operations + change
        try:
            cleaned_to(log)
        except Crash:
            disk.crash(keep_page_cache=True)
            again = reopened(disk, config=COMPACTED, recovery_point=9)
            assert texts(again) == NEW
            if bases(again) == [0, 8]:
                return
            again.close(clean=True)
            change += 1
        else:
            pytest.fail("no crash lay between swap and end")


def test_a_disk_that_refuses_the_swap_fences_the_log() -> None:
    disk = disk_to_clean()
    log = reopened(disk, config=COMPACTED, recovery_point=9)
    disk.fail = lambda operation, _: errno.EIO if operation == "rename" else None
    with pytest.raises(LogFailed):
        cleaned_to(log)
    assert log.failure is not None
    disk.fail = None
    log.close(clean=False)
    assert texts(reopened(disk, config=COMPACTED, recovery_point=9)) == OLD
