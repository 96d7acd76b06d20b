from collections.abc import Generator

import pytest

from ballast.protocol.compression import compress
from ballast.protocol.errors import CorruptRecords
from ballast.protocol.record_reader import read_records
from ballast.protocol.records import (
    COMPRESSIONS,
    CONTROL_BIT,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
    build_batch,
    check_batches,
    encode_records,
)
from ballast.storage.cleaning.batch_cleaning import KeepsRecord, clean_batch

RECORDS = [(b"a", b"1", 1000), (b"b", None, 5000), (b"a", b"2", 2000)]


def made(attributes: int = 0) -> bytes:
    body = compress(attributes & 7, encode_records(RECORDS))
    return build_batch(
        RECORDS,
        base_offset=7,
        leader_epoch=4,
        producer_id=9,
        producer_epoch=2,
        base_sequence=30,
        attributes=attributes,
        compressed=body,
    )


def header_of(data: bytes) -> BatchHeader:
    ((_, header),) = check_batches(data, 1 << 20, from_producer=False)
    return header


def cleaned(data: bytes, keeps: KeepsRecord, *, keep_empty: bool = False) -> bytes | None:
    return result_of(clean_batch(data, header_of(data), keeps, keep_empty=keep_empty))


def result_of(steps: Generator[int, None, bytes | None]) -> bytes | None:
    try:
        while True:
            assert next(steps) == 0
    except StopIteration as end:
        kept: bytes | None = end.value
        return kept


@pytest.mark.parametrize("codec", range(len(COMPRESSIONS)), ids=COMPRESSIONS)
def test_what_stays_is_as_it_was(codec: int) -> None:
    data = made(codec)
    rest = cleaned(data, lambda offset, _, __: offset != 8)
    assert rest is not None
    before, after = header_of(data), header_of(rest)
    assert read_records(rest) == [r for r in read_records(data) if r.offset != 8]
    assert after.compression == codec
    assert (after.record_count, after.max_timestamp) == (2, 2000)
    unchanged = before._replace(
        batch_length=after.batch_length, crc=after.crc, record_count=2, max_timestamp=2000
    )
    assert after == unchanged


def test_what_is_asked_of_each_record() -> None:
    asked = []

    def keeps(offset: int, key: bytes | None, has_value: bool) -> bool:
        asked.append((offset, key, has_value))
        return True

    data = made(4)
    assert cleaned(data, keeps) is data
    assert asked == [(7, b"a", True), (8, b"b", False), (9, b"a", True)]


def test_nothing_stays() -> None:
    assert cleaned(made(), lambda *_: False) is None


def test_a_header_without_records_stays() -> None:
    data = made(3)
    rest = cleaned(data, lambda *_: False, keep_empty=True)
    assert rest is not None
    header = header_of(rest)
    assert (header.base_offset, header.last_offset, header.record_count) == (7, 9, 0)
    assert (header.base_timestamp, header.max_timestamp) == (5000, 5000)
    assert (header.producer_id, header.producer_epoch, header.last_sequence) == (9, 2, 32)
    assert (header.partition_leader_epoch, header.compression, header.size) == (4, 0, 61)
    assert cleaned(rest, lambda *_: True, keep_empty=True) == rest
    assert cleaned(rest, lambda *_: True) is None


def test_the_time_of_appending_stays() -> None:
    rest = cleaned(made(TIMESTAMP_TYPE_BIT), lambda offset, *_: offset == 7)
    assert rest is not None
    assert header_of(rest).max_timestamp == 5000


def test_control_records_are_left_alone() -> None:
    data = made(CONTROL_BIT)
    assert cleaned(data, lambda *_: False) is data


def test_damage_is_not_written_anew() -> None:
    data = bytearray(made())
    header = header_of(bytes(data))
    data[-2] ^= 1
    with pytest.raises(CorruptRecords):
        result_of(
            clean_batch(bytes(data), header, lambda offset, *_: offset == 7, keep_empty=False)
        )
