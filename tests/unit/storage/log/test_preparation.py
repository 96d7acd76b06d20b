from collections.abc import Sequence
from dataclasses import replace

import pytest

from ballast.protocol.compression import compress
from ballast.protocol.errors import BatchTooLarge, InvalidRecords, InvalidTimestamp
from ballast.protocol.record_reader import Record, read_records
from ballast.protocol.records import (
    COMPRESSIONS,
    TIMESTAMP_TYPE_BIT,
    build_batch,
    check_batches,
    encode_records,
)
from ballast.storage.log.config import LogConfig
from ballast.storage.log.preparation import changes_batches, prepare
from tests.unit.storage.samples import batch, headers, joined

NOW_MS = 1_700_000_000_000
ROWS = ((b"a", b"1" * 200, NOW_MS), (b"b", b"2" * 200, NOW_MS + 5))

Row = tuple[bytes | None, bytes | None, int]


def written(codec: str, rows: Sequence[Row] = ROWS) -> memoryview:
    number = COMPRESSIONS.index(codec)
    body = compress(number, encode_records(rows)) if number else None
    return memoryview(
        bytearray(
            build_batch(
                rows,
                attributes=number,
                compressed=body,
                producer_id=7,
                producer_epoch=1,
                base_sequence=40,
            )
        )
    )


def prepared(records: memoryview, config: LogConfig, now_ms: int = NOW_MS) -> memoryview:
    """Return the batches as they are appended, and check that their headers are right."""
    found, batches = prepare(records, check_batches(records, 10_000), config, now_ms)
    assert check_batches(found, 10_000) == batches
    return found


def test_topics_with_defaults_ask_for_nothing() -> None:
    assert not changes_batches(LogConfig())
    for changed in (
        LogConfig(cleanup_policy=("delete", "compact")),
        LogConfig(timestamp_type="LogAppendTime"),
        LogConfig(timestamp_difference_max_ms=1),
        LogConfig(compression_type="uncompressed"),
    ):
        assert changes_batches(changed)


def test_records_bear_the_time_of_their_append() -> None:
    config = LogConfig(timestamp_type="LogAppendTime", timestamp_difference_max_ms=1)
    records = joined(batch(3, timestamp=5), batch(2, timestamp=-1))
    found = prepared(records, config)
    for header in headers(found):
        assert header.attributes & TIMESTAMP_TYPE_BIT
        assert header.max_timestamp == NOW_MS
    assert [record.timestamp_ms for record in read_records(found)] == [NOW_MS] * 3
    assert found.obj is records.obj, "it is set in place"


def test_what_cannot_be_written_to_is_copied() -> None:
    records = memoryview(bytes(batch()))
    before = bytes(records)
    found = prepared(records, LogConfig(timestamp_type="LogAppendTime"))
    assert (bytes(records), bytes(found) == before) == (before, False)


@pytest.mark.parametrize(
    ("first_ms", "last_ms", "taken"),
    [
        (NOW_MS - 100, NOW_MS + 100, True),
        (NOW_MS - 101, NOW_MS, False),
        (NOW_MS, NOW_MS + 101, False),
        (-1, -1, True),
    ],
)
def test_times_too_far_from_the_brokers_are_refused(
    first_ms: int, last_ms: int, taken: bool
) -> None:
    config = LogConfig(timestamp_difference_max_ms=100)
    records = written("none", [(b"a", b"1", first_ms), (b"b", b"2", last_ms)])
    if taken:
        assert prepared(records, config) == records
    else:
        with pytest.raises(InvalidTimestamp, match="out of range"):
            prepared(records, config)


@pytest.mark.parametrize("to", ["gzip", "snappy", "lz4", "zstd", "uncompressed"])
@pytest.mark.parametrize("come", COMPRESSIONS)
def test_batches_are_stored_with_the_topics_codec(come: str, to: str) -> None:
    records = written(come)
    found = prepared(records, LogConfig(compression_type=to))
    (before,), (after,) = headers(records), headers(found)
    assert after.compression == (0 if to == "uncompressed" else COMPRESSIONS.index(to))
    assert after._replace(attributes=before.attributes, crc=0, batch_length=0) == before._replace(
        crc=0, batch_length=0
    )
    assert read_records(found) == [
        Record(n, timestamp, key, value) for n, (key, value, timestamp) in enumerate(ROWS)
    ]
    assert (found is records) == (before.compression == after.compression)


def test_only_batches_of_another_codec_are_changed() -> None:
    one, other = written("lz4"), written("gzip")
    found = prepared(joined(one, other), LogConfig(compression_type="lz4"))
    assert bytes(found[: len(one)]) == bytes(one)
    assert [header.compression for header in headers(found)] == [3, 3]


def test_a_batch_must_fit_in_the_topics_codec() -> None:
    config = LogConfig(compression_type="uncompressed", max_message_bytes=300)
    with pytest.raises(BatchTooLarge):
        prepare(written("zstd"), check_batches(written("zstd"), 300), config, NOW_MS)


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_compacted_log_takes_no_record_without_key(codec: str) -> None:
    config = LogConfig(cleanup_policy=("compact",))
    assert prepared(written(codec), config) == written(codec)
    with pytest.raises(InvalidRecords, match="without key"):
        prepared(written(codec, [(b"a", b"1", 0), (None, b"2", 0)]), config)


@pytest.mark.parametrize(
    "config", [LogConfig(cleanup_policy=("compact",)), LogConfig(compression_type="gzip")]
)
def test_what_is_opened_is_checked_inside(config: LogConfig) -> None:
    rows = encode_records(ROWS)
    repeated = bytearray(build_batch(ROWS, compressed=rows[: len(rows) // 2] * 2))
    with pytest.raises(InvalidRecords, match="record 1 has an offset delta of 0"):
        prepared(memoryview(repeated), config)


def test_all_of_it_at_once() -> None:
    config = LogConfig(
        cleanup_policy=("compact",), compression_type="zstd", timestamp_type="LogAppendTime"
    )
    found = prepared(written("snappy"), replace(config, timestamp_difference_max_ms=0), NOW_MS + 9)
    (header,) = headers(found)
    assert (header.compression, header.max_timestamp) == (4, NOW_MS + 9)
    assert [record.timestamp_ms for record in read_records(found)] == [NOW_MS + 9] * 2
