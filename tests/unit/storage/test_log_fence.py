"""A log that has failed, or is closed, takes no change."""

from collections.abc import Callable

import pytest

from ballast.storage.errors import LogFailed
from ballast.storage.log import Log
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import append, batch, new_disk, reopened

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
