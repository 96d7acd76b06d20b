"""Settings of a log that change what an append does."""

import errno

import pytest

from ballast.storage.errors import LogFailed
from ballast.storage.log.config import LogConfig
from tests.unit.storage.samples import append, batch, new_disk, reopened


def test_records_are_flushed_by_their_number() -> None:
    log = reopened(new_disk(), config=LogConfig(flush_messages=3))
    append(log, batch(2))
    assert log.recovery_point == 0
    append(log, batch())
    assert log.recovery_point == 3
    log.append_as_follower(batch(3, base_offset=3))
    assert log.recovery_point == 6
    log.config = LogConfig()
    append(log, batch(9))
    assert log.recovery_point == 6


def test_a_flush_by_number_that_fails_refuses_the_append() -> None:
    disk = new_disk()
    log = reopened(disk, config=LogConfig(flush_messages=1))
    disk.fail = lambda operation, _: errno.EIO if operation == "fsync" else None
    with pytest.raises(LogFailed):
        append(log, batch())
    assert log.failure is not None


def test_a_repeated_batch_is_answered_with_the_time_of_its_append() -> None:
    log = reopened(new_disk(), config=LogConfig(timestamp_type="LogAppendTime"))
    append(log, batch(producer=(1, 0, 0)), now_ms=5_000)
    info = log.append_as_leader(batch(producer=(1, 0, 0)), leader_epoch=0, now_ms=9_000)
    assert (info.duplicate, info.max_timestamp) == (True, 5_000)
    assert log.offset_for_timestamp(4_999) == (5_000, 0)
    assert log.offset_for_timestamp(5_001) is None
