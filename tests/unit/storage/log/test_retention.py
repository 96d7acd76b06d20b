"""Which segments a log lets go."""

from dataclasses import replace

import pytest

from ballast.replication.leader_epochs import EpochEntry
from ballast.storage.errors import LogFailed, OffsetOutOfRange
from ballast.storage.log.config import LogConfig
from ballast.storage.log.log import Log
from ballast.storage.log.retention import SegmentFacts, apply_retention, start_of_what_stays
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import DIRECTORY, append, batch, contents, new_disk, reopened

NOW = 10_000
KEEP = LogConfig(retention_ms=-1, retention_bytes=-1)
BY_TIME = replace(KEEP, retention_ms=1000)
COMPACT = replace(KEEP, cleanup_policy=("compact",), retention_ms=0, retention_bytes=0)

# Ten offsets and 100 bytes each, one of them every 1000 ms; the last one takes appends.
TEN = [SegmentFacts(10 * n, 100, 1000 * n) for n in range(1, 11)]
EMPTY_END = [*TEN, SegmentFacts(100, 0, -1)]


def by_size(retention_bytes: int) -> LogConfig:
    return replace(KEEP, retention_bytes=retention_bytes)


@pytest.mark.parametrize(
    ("config", "segments", "high_watermark", "start"),
    [
        pytest.param(KEEP, TEN, 100, 0, id="no limit"),
        pytest.param(by_size(1000), TEN, 100, 0, id="just the size"),
        pytest.param(by_size(999), TEN, 100, 0, id="less than one segment too many"),
        pytest.param(by_size(900), TEN, 100, 10, id="one segment too many"),
        pytest.param(by_size(899), TEN, 100, 10, id="never below the size"),
        pytest.param(by_size(350), TEN, 100, 60, id="six segments too many"),
        pytest.param(by_size(0), TEN, 100, 100, id="nothing may stay"),
        pytest.param(by_size(0), EMPTY_END, 100, 100, id="an empty end stays"),
        pytest.param(by_size(0), TEN, 59, 50, id="not beyond the high watermark"),
        pytest.param(by_size(0), TEN, 9, 0, id="the high watermark in the first one"),
        pytest.param(BY_TIME, TEN, 100, 80, id="older than allowed, 9000 just not"),
        pytest.param(replace(KEEP, retention_ms=0), TEN, 100, 90, id="the newest is of now"),
        pytest.param(replace(BY_TIME, retention_ms=20_000), TEN, 100, 0, id="all young"),
        pytest.param(replace(BY_TIME, retention_bytes=100), TEN, 100, 90, id="size after time"),
        pytest.param(replace(BY_TIME, retention_bytes=900), TEN, 100, 80, id="time after size"),
        pytest.param(COMPACT, TEN, 100, 0, id="only compacted"),
        pytest.param(
            replace(COMPACT, cleanup_policy=("compact", "delete")), TEN, 100, 100, id="both"
        ),
    ],
)
def test_where_the_log_begins_then(
    config: LogConfig, segments: list[SegmentFacts], high_watermark: int, start: int
) -> None:
    assert start == start_of_what_stays(
        segments, config, log_start_offset=0, high_watermark=high_watermark, now_ms=NOW
    )


@pytest.mark.parametrize("config", [KEEP, COMPACT])
def test_what_lies_below_the_start_is_no_reason_to_move_it(config: LogConfig) -> None:
    assert (
        start_of_what_stays(TEN, config, log_start_offset=35, high_watermark=100, now_ms=NOW) == 35
    )


def test_a_young_segment_keeps_the_older_ones_after_it() -> None:
    """Only a prefix goes, so that a log has no holes: a future timestamp holds what follows."""
    segments = [TEN[0], TEN[1]._replace(max_timestamp=2**60), *TEN[2:]]
    assert (
        start_of_what_stays(segments, BY_TIME, log_start_offset=0, high_watermark=100, now_ms=NOW)
        == 10
    )


def test_a_segment_without_timestamps_is_as_old_as_its_file() -> None:
    disk = new_disk()
    disk.wall_clock_ms = lambda: 500
    log = reopened(disk, config=replace(KEEP, retention_ms=100, segment_bytes=5 * len(batch())))
    append(log, *[batch(timestamp=-1) for _ in range(10)], epoch=1)
    assert not apply_retention(log, 10, now_ms=600)
    assert apply_retention(log, 10, now_ms=601)
    assert log.log_start_offset == 10
    assert not apply_retention(log, 10, now_ms=10_000)


def filled(config: LogConfig) -> tuple[Log, FakeDisk]:
    """Return a log of 20 batches of one record, five per segment, at times 0, 10, 20, ..."""
    disk = new_disk()
    log = reopened(disk, config=replace(config, segment_bytes=5 * len(batch())))
    append(log, *[batch(timestamp=10 * n) for n in range(20)], epoch=1)
    return log, disk


def test_old_segments_go_and_the_start_moves_up() -> None:
    log, disk = filled(replace(KEEP, retention_ms=100))
    assert apply_retention(log, 20, now_ms=200)
    assert (log.log_start_offset, log.segment_count) == (10, 2)
    assert [base for base, _ in contents(log)] == list(range(10, 20))
    assert log.leader_epochs.entries == (EpochEntry(1, 10),)
    with pytest.raises(OffsetOutOfRange):
        log.read(9, max_bytes=100)
    assert f"{0:020d}.log.deleted" in disk.names(DIRECTORY)
    assert not apply_retention(log, 20, now_ms=200)


def test_when_all_of_a_log_goes_an_empty_segment_takes_over() -> None:
    log, disk = filled(replace(KEEP, retention_ms=100))
    assert apply_retention(log, 20, now_ms=5000)
    assert (log.log_start_offset, log.log_end_offset) == (20, 20)
    assert (log.segment_count, log.size_bytes) == (1, 0)
    assert not apply_retention(log, 20, now_ms=5000)
    append(log, batch(timestamp=4990), epoch=2)
    assert [base for base, _ in contents(log)] == [20]
    log.close(clean=False)
    again = reopened(disk)
    assert (again.log_start_offset, again.log_end_offset) == (20, 21)


def test_nothing_goes_at_or_above_the_high_watermark() -> None:
    log, _ = filled(replace(KEEP, retention_ms=100))
    assert apply_retention(log, 14, now_ms=5000)
    assert (log.log_start_offset, log.segment_count) == (10, 2)


def test_segments_that_a_crash_brought_back_go_again() -> None:
    log, disk = filled(KEEP)
    log.close(clean=True)
    again = reopened(disk, config=KEEP, clean=True, log_start_offset=12)
    assert again.segment_count == 4
    assert apply_retention(again, 20, now_ms=0)
    assert (again.segment_count, again.log_start_offset) == (2, 12)


def test_a_disk_that_refuses_fences_the_log() -> None:
    log, disk = filled(replace(KEEP, retention_ms=100))
    disk.fail = lambda operation, _: 5 if operation == "rename" else None
    with pytest.raises(LogFailed):
        apply_retention(log, 20, now_ms=200)
    assert log.failure is not None
