"""A log that has failed, or is closed, takes no change."""

from collections.abc import Callable
from random import Random

import pytest

from ballast.storage.errors import LogFailed
from ballast.storage.log import Log
from ballast.storage.recovery import open_log
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import CONFIG, PARTITION, append

CHANGES: dict[str, Callable[[Log], object]] = {
    "append": lambda log: append(log, b"b"),
    "flush": lambda log: log.flush(),
    "truncate": lambda log: log.truncate_to(0),
    "roll": lambda log: log.roll(),
}


def opened(disk: FakeDisk) -> Log:
    disk.make_directory("/d")
    disk.make_directory("/d/t-0")
    log = open_log(disk, "/d/t-0", PARTITION, CONFIG)
    append(log, b"a")
    return log


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_is_tried_again_after_a_failure(change: Callable[[Log], object]) -> None:
    disk = FakeDisk(Random(0))
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
    disk = FakeDisk(Random(0))
    log = opened(disk)
    log.close(clean=False)
    assert log.is_closed
    with pytest.raises(LogFailed, match="closed"):
        change(log)
