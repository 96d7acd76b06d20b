import errno
from uuid import UUID

import pytest

from ballast.storage.errors import (
    LogFailed,
)
from ballast.storage.log.config import LogConfig
from tests.unit.storage.samples import (
    append,
    batch,
    new_disk,
    reopened,
)

SMALL = LogConfig(segment_bytes=400, index_interval_bytes=100)


def test_truncation_lowers_the_recovery_point_before_anything_else() -> None:
    log = reopened(new_disk())
    append(log, batch(), batch(), batch())
    log.flush()
    assert log.recovery_point == 3
    seen = []
    log.on_recovery_point_lowered = lambda: seen.append((log.recovery_point, log.log_end_offset))
    log.truncate_to(1)
    assert seen == [(1, 3)]


def test_a_failed_fsync_fences_the_log_and_is_not_tried_again() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, batch())
    disk.fail = lambda operation, _: errno.EIO if operation == "fsync" else None
    with pytest.raises(LogFailed):
        log.flush()
    disk.fail = None
    with pytest.raises(LogFailed):
        log.flush()
    assert log.recovery_point == 0


def test_topic_id_is_kept() -> None:
    disk = new_disk()
    log = reopened(disk)
    assert log.topic_id is None
    log.assign_topic_id(UUID(int=7))
    log.close(clean=True)
    assert reopened(disk, clean=True).topic_id == UUID(int=7)


def test_a_closed_log_takes_nothing() -> None:
    log = reopened(new_disk())
    log.close(clean=True)
    log.close(clean=True)
    with pytest.raises(LogFailed):
        append(log, batch())
