from dataclasses import replace

import pytest

from ballast.storage.cleaning.compaction import (
    Cleanable,
    delete_horizon_ms,
    find_cleanable,
    grouped,
)
from ballast.storage.log.config import LogConfig
from ballast.storage.log.log import Log
from tests.unit.storage.compacted import COMPACTED, NOW_MS, compacted, put
from tests.unit.storage.samples import new_disk


def filled(config: LogConfig = COMPACTED) -> Log:
    """Return a log of three full segments, each of its own time, and one record more."""
    log = compacted(config=config)
    for number in range(3):
        put(log, "a1 a2 a3 a4", at_ms=NOW_MS - 1000 * (3 - number))
    put(log, "a5", at_ms=NOW_MS)
    return log


def found(log: Log, checkpoint: int | None = None, high_watermark: int = 13) -> Cleanable:
    return find_cleanable(log, checkpoint, high_watermark=high_watermark, now_ms=NOW_MS)


def test_all_but_the_last_segment() -> None:
    cleanable = found(filled())
    assert (cleanable.first_dirty_offset, cleanable.first_uncleanable_offset) == (0, 12)
    assert (cleanable.clean_bytes, cleanable.dirty_bytes) == (0, 840)
    assert cleanable.dirty_ratio == 1.0
    assert not cleanable.checkpoint_is_wrong


def test_a_log_of_one_segment_has_nothing_to_clean() -> None:
    log = compacted()
    put(log, "a1 a2")
    cleanable = found(log, high_watermark=2)
    assert cleanable.dirty_bytes == 0
    assert not cleanable.is_due(0.0)


def test_only_what_is_committed() -> None:
    assert found(filled(), high_watermark=11).first_uncleanable_offset == 8
    assert found(filled(), high_watermark=3).dirty_bytes == 0


@pytest.mark.parametrize(("lag_ms", "end"), [(0, 12), (999, 12), (1001, 8), (5000, 0)])
def test_only_what_is_old_enough(lag_ms: int, end: int) -> None:
    cleanable = found(filled(replace(COMPACTED, min_compaction_lag_ms=lag_ms)))
    assert cleanable.first_uncleanable_offset == end


def test_a_segment_without_timestamps_is_as_old_as_its_file() -> None:
    disk = new_disk()
    disk.wall_clock_ms = lambda: NOW_MS - 50
    log = compacted(disk, replace(COMPACTED, min_compaction_lag_ms=100))
    put(log, "a1 a2 a3 a4 a5", at_ms=-1)
    assert found(log, high_watermark=5).dirty_bytes == 0


def test_the_dirty_part_begins_at_the_checkpoint() -> None:
    cleanable = found(filled(), 8)
    assert (cleanable.first_dirty_offset, cleanable.first_uncleanable_offset) == (8, 12)
    assert (cleanable.clean_bytes, cleanable.dirty_bytes) == (560, 280)
    assert not cleanable.is_due(0.34)
    assert cleanable.is_due(0.33)


def test_a_checkpoint_amid_a_segment() -> None:
    cleanable = found(filled(), 6)
    assert (cleanable.clean_bytes, cleanable.dirty_bytes) == (560, 420)


def test_nothing_is_dirty_behind_the_last_cleaning() -> None:
    cleanable = found(filled(), 12)
    assert (cleanable.first_dirty_offset, cleanable.first_uncleanable_offset) == (12, 12)
    assert not cleanable.is_due(0.0)


@pytest.mark.parametrize("checkpoint", [3, 14])
def test_a_checkpoint_outside_the_log_is_wrong(checkpoint: int) -> None:
    log = filled()
    log.raise_log_start_offset(4)
    cleanable = found(log, checkpoint)
    assert cleanable.checkpoint_is_wrong
    assert cleanable.first_dirty_offset == 4


@pytest.mark.parametrize(("lag_ms", "is_due"), [(2999, True), (3001, False)])
def test_old_records_are_cleaned_however_few(lag_ms: int, *, is_due: bool) -> None:
    cleanable = found(filled(replace(COMPACTED, max_compaction_lag_ms=lag_ms)))
    assert cleanable.is_overdue == is_due
    assert cleanable.is_due(1.0) == is_due


def test_tombstones_age_from_the_last_clean_segment() -> None:
    disk = new_disk()
    log = compacted(disk)
    for number in range(3):
        disk.wall_clock_ms = lambda number=number: 5000 * (number + 1)  # type: ignore[misc]
        put(log, "a1 a2 a3 a4")
    assert delete_horizon_ms(log, 0) == 0
    assert delete_horizon_ms(log, 4) == 5000 - 1000
    assert delete_horizon_ms(log, 6) == 10_000 - 1000


def test_small_segments_are_joined_up_to_the_size_of_one() -> None:
    segments = [segment for segment in filled().segments if segment.sealed]

    def sizes(limit: int) -> list[list[int]]:
        return [[s.base_offset for s in group] for group in grouped(segments, limit)]

    assert sizes(100) == [[0], [4], [8]]
    assert sizes(560) == [[0, 4], [8]]
    assert sizes(10_000) == [[0, 4, 8]]


def test_offsets_that_do_not_fit_one_index_are_not_joined() -> None:
    log = compacted()
    put(log, "a1 a2 a3 a4 a5")
    log.truncate_fully_and_start_at(0)
    put(log, "a1 a2 a3 a4 a5 a6 a7 a8 a9")
    first, second, _ = log.segments
    second.end_offset = 1 << 31
    assert grouped([first, second], 10_000) == [[first, second]]
    second.end_offset = (1 << 31) + 1
    assert grouped([first, second], 10_000) == [[first], [second]]
