"""Decisions of an append, over headers."""

import pytest

from ballast.model.settings.values import INT_MAX
from ballast.protocol.errors import InvalidRecords, InvalidTimestamp
from ballast.protocol.records import build_batch, check_batches
from ballast.replication.leader_epochs import EpochEntry, LeaderEpochCache
from ballast.replication.producer_state import Duplicate, ProducerStates
from ballast.storage.log.append_validation import epochs_begun, find_duplicate, must_roll
from ballast.storage.log.config import LogConfig
from ballast.storage.log.segment import BatchMark, Segment
from tests.unit.storage.samples import DIRECTORY, batch, joined, new_disk


@pytest.mark.parametrize("attributes", [0x10, 0x20, 0x30])
def test_transactional_and_control_batches_are_refused(attributes: int) -> None:
    records = build_batch([(None, b"", 0)], attributes=attributes)
    with pytest.raises(InvalidRecords):
        find_duplicate(check_batches(records, 1000), ProducerStates(1000), 0)


def test_producers_do_not_say_when_batches_are_appended() -> None:
    records = build_batch([(None, b"", 0)], attributes=0x08)
    with pytest.raises(InvalidTimestamp):
        find_duplicate(check_batches(records, 1000), ProducerStates(1000), 0)


def test_duplicates_are_found() -> None:
    producers = ProducerStates(1000)
    batches = check_batches(batch(2, producer=(9, 0, 0)), 1000)
    assert find_duplicate(batches, producers, 0) is None
    producers.record(batches[0][1], 50, 7)
    assert find_duplicate(batches, producers, 0) == Duplicate(50, 51, 1001)


def test_epochs_that_batches_begin() -> None:
    epochs = LeaderEpochCache([EpochEntry(2, 0)])
    records = joined(
        batch(2, base_offset=10, leader_epoch=2),
        batch(base_offset=12, leader_epoch=3),
        batch(base_offset=13, leader_epoch=3),
        batch(base_offset=14, leader_epoch=7),
    )
    batches = check_batches(records, 1000, from_producer=False)
    assert epochs_begun(batches, 10, epochs) == [(3, 12), (7, 14)]


@pytest.mark.parametrize(
    ("size", "last_offset", "timestamp", "config", "rolls"),
    [
        pytest.param(100, 101, 1000, LogConfig(), False, id="fits"),
        pytest.param(100, 101, 1000, LogConfig(segment_bytes=150), True, id="bytes"),
        pytest.param(100, 101, 1100, LogConfig(segment_ms=100), False, id="just young enough"),
        pytest.param(100, 101, 1101, LogConfig(segment_ms=100), True, id="age"),
        pytest.param(100, 100 + INT_MAX, 1000, LogConfig(), False, id="last relative offset"),
        pytest.param(100, 101 + INT_MAX, 1000, LogConfig(), True, id="relative offset too large"),
        pytest.param(100, 101, 1000, LogConfig(segment_index_bytes=13), False, id="index"),
        pytest.param(100, 101, 1000, LogConfig(segment_index_bytes=12), True, id="index is full"),
    ],
)
def test_rolling(
    size: int, last_offset: int, timestamp: int, config: LogConfig, rolls: bool
) -> None:
    segment = Segment(new_disk(), DIRECTORY, 100, 4096)
    segment.create()
    mark = BatchMark(0, size, last_offset, timestamp)
    assert not must_roll(segment, size, [mark], config, 0), "an empty segment takes anything"
    records = batch(base_offset=100, timestamp=1000)
    segment.append(records, [BatchMark(0, len(records), 100, 1000)])
    assert must_roll(segment, size, [mark], config, 0) == rolls


def test_a_segment_without_timestamps_ages_by_the_clock() -> None:
    config = LogConfig(segment_ms=1000)
    segment = Segment(new_disk(), DIRECTORY, 0, 4096)
    segment.create()
    records = batch(timestamp=-1)
    mark = BatchMark(0, len(records), 0, -1)
    segment.append(records, [mark])
    times = (None, 5000, 6000, 6001, None)
    rolls = [must_roll(segment, 10, [mark], config, now) for now in times]
    assert rolls == [False, False, False, True, False]


def test_a_compacted_log_rolls_in_time_to_be_compacted() -> None:
    segment = Segment(new_disk(), DIRECTORY, 0, 4096)
    segment.create()
    records = batch(timestamp=1000)
    segment.append(records, [BatchMark(0, len(records), 0, 1000)])
    mark = BatchMark(0, 10, 1, 1501)
    for policies, rolls in ((("delete",), False), (("compact",), True)):
        config = LogConfig(cleanup_policy=policies, max_compaction_lag_ms=500)
        assert must_roll(segment, 10, [mark], config, 0) == rolls


def test_segments_roll_at_different_times_with_jitter() -> None:
    config = LogConfig(segment_ms=1000, segment_jitter_ms=900)
    ages = []
    for base_offset in (0, 100, 200):
        segment = Segment(new_disk(), DIRECTORY, base_offset, 4096)
        segment.create()
        records = batch(base_offset=base_offset, timestamp=1000)
        segment.append(records, [BatchMark(0, len(records), base_offset, 1000)])
        rolls = (
            age_ms
            for age_ms in range(1002)
            if must_roll(
                segment, 10, [BatchMark(0, 10, base_offset + 1, 1000 + age_ms)], config, None
            )
        )
        ages.append(next(rolls))
    assert len(set(ages)) == 3, "each segment has its own"
    assert all(100 < age_ms <= 1001 for age_ms in ages)
