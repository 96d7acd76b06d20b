"""Finding the first record at or after a time."""

import pytest

from ballast.protocol.compression import compress
from ballast.protocol.records import build_batch, encode_records
from ballast.storage.log.config import LogConfig
from ballast.storage.log.log import Log
from tests.unit.storage.samples import append, batch, new_disk, reopened

SMALL = LogConfig(segment_bytes=300, index_interval_bytes=100)


def filled() -> Log:
    """Return a log whose records n, in batches of 3, are of time 100 * n."""
    log = reopened(new_disk(), config=SMALL)
    for first in range(0, 30, 3):
        records = [(None, b"v", 100 * n) for n in range(first, first + 3)]
        append(log, memoryview(bytearray(build_batch(records))))
    assert log.segment_count > 2
    return log


@pytest.mark.parametrize(
    ("timestamp", "found"),
    [
        (-1, (0, 0)),
        (0, (0, 0)),
        (1, (100, 1)),
        (100, (100, 1)),
        (1150, (1200, 12)),
        (1701, (1800, 18)),
        (2900, (2900, 29)),
        (2901, None),
    ],
)
def test_the_exact_record_is_found(timestamp: int, found: tuple[int, int] | None) -> None:
    assert filled().offset_for_timestamp(timestamp) == found


def test_records_below_the_log_start_are_not_found() -> None:
    log = filled()
    log.raise_log_start_offset(10)
    assert log.offset_for_timestamp(0) == (1000, 10)


def test_time_may_go_back() -> None:
    log = reopened(new_disk(), config=SMALL)
    for timestamp in (500, 100, 300, 900, 200):
        append(log, batch(timestamp=timestamp, size=100))
    assert log.offset_for_timestamp(50) == (500, 0)
    assert log.offset_for_timestamp(501) == (900, 3)


@pytest.mark.parametrize("compression", range(1, 5))
def test_compressed_batches_are_opened(compression: int) -> None:
    records = [(None, b"v", 100), (None, b"v", 200), (None, b"v", 300)]
    packed = compress(compression, encode_records(records))
    data = build_batch(records, attributes=compression, compressed=packed)
    log = reopened(new_disk())
    append(log, batch(timestamp=5), memoryview(bytearray(data)))
    assert log.offset_for_timestamp(50) == (100, 1)
    assert log.offset_for_timestamp(150) == (200, 2)
    assert log.offset_for_timestamp(201) == (300, 3)
    assert log.offset_for_timestamp(301) is None


@pytest.mark.parametrize("compression", range(5))
def test_a_lying_batch_does_no_harm(compression: int) -> None:
    records = [(None, b"v" * 50, 100), (None, b"v", 300)]
    garbage = build_batch(records, attributes=compression, compressed=b"\xff" * 40)
    log = reopened(new_disk())
    append(log, memoryview(bytearray(garbage)))
    assert log.offset_for_timestamp(150) == (100, 0)


def test_log_append_time_counts_for_the_whole_batch() -> None:
    records = [(None, b"v", 100), (None, b"v", 300)]
    log = reopened(new_disk())
    log.append_as_follower(memoryview(build_batch(records, attributes=8)))
    assert log.offset_for_timestamp(200) == (300, 0)
