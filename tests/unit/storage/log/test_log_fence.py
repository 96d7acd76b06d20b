"""A log that has failed, or is closed, takes no change."""

import errno
from collections.abc import Callable

import pytest

from ballast.storage.errors import DiskError, LogFailed
from ballast.storage.log.config import LogConfig
from ballast.storage.log.log import Log
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import append, batch, contents, new_disk, reopened

CHANGES: dict[str, Callable[[Log], object]] = {
    "append": lambda log: append(log, batch()),
    "flush": lambda log: log.flush(),
    "truncate": lambda log: log.truncate_to(0),
    "roll": lambda log: log.roll(),
}


def opened(disk: FakeDisk) -> Log:
    log = reopened(disk)
    append(log, batch())
    return log


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_is_tried_again_after_a_failure(change: Callable[[Log], object]) -> None:
    disk = new_disk()
    log = opened(disk)
    disk.fail = lambda operation, _: 5 if operation == "fsync" else None
    with pytest.raises(LogFailed):
        log.flush()
    disk.fail = None
    before = disk.operations
    with pytest.raises(LogFailed, match="fsync"):
        change(log)
    assert disk.operations == before


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_closed_log_is_not_changed(change: Callable[[Log], object]) -> None:
    disk = new_disk()
    log = opened(disk)
    log.close(clean=False)
    assert log.is_closed
    with pytest.raises(LogFailed, match="closed"):
        change(log)


DESCRIPTORS = (errno.EMFILE, errno.ENFILE)


@pytest.mark.parametrize("code", DESCRIPTORS)
@pytest.mark.parametrize("opened", range(3))
def test_an_append_without_descriptors_is_refused_and_the_next_one_taken(
    code: int, opened: int
) -> None:
    """However many of the next segment's files are open by then."""
    disk = new_disk()
    log = reopened(disk, config=LogConfig(segment_bytes=2 * len(batch())))
    append(log, batch(), batch())
    left = opened

    def run_out(operation: str, _: str) -> int | None:
        nonlocal left
        left -= operation == "open"
        return code if operation == "open" and left < 0 else None

    disk.fail = run_out
    with pytest.raises(DiskError):
        append(log, batch())
    assert log.failure is None
    disk.fail = None
    append(log, batch())
    assert [base for base, _ in contents(log)] == [0, 1, 2]
    log.close(clean=False)
    assert reopened(disk).log_end_offset == 3


def test_a_flush_without_descriptors_is_left_for_the_next_time() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, batch())
    disk.fail = lambda operation, _: errno.EMFILE if operation in ("open", "stat") else None
    with pytest.raises(DiskError):
        log.flush()
    assert (log.failure, log.recovery_point) == (None, 0)
    disk.fail = None
    log.flush()
    assert log.recovery_point == 1
