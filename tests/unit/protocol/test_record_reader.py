import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.protocol.api_keys import ApiKey
from ballast.protocol.compression import MAX_DECOMPRESSED_BYTES
from ballast.protocol.errors import CorruptRecords, InvalidRecords, UnsupportedMagic
from ballast.protocol.frames import decode_request
from ballast.protocol.messages.records.produce import ProduceRequest
from ballast.protocol.record_reader import Record, read_records
from ballast.protocol.records import (
    HEADER_SIZE,
    build_batch,
    encode_records,
    pack_batch,
    read_batch_header,
)
from tests.unit.protocol.captured import captured

OPTIONAL_BYTES = st.none() | st.binary(max_size=100)
TIMES = st.integers(0, 2**50)
GZIP = 1


@given(st.lists(st.tuples(OPTIONAL_BYTES, OPTIONAL_BYTES, TIMES), min_size=1, max_size=5))
def test_records_come_back(records: list[tuple[bytes | None, bytes | None, int]]) -> None:
    batch = build_batch(records, base_offset=40)
    assert read_records(b"x" + batch, 1) == [
        Record(40 + index, timestamp, key, value)
        for index, (key, value, timestamp) in enumerate(records)
    ]


def test_gzip_is_opened() -> None:
    records: list[tuple[bytes | None, bytes | None, int]] = [(b"k", b"v" * 1000, 5)]
    packed = gzip.compress(encode_records(records))
    batch = build_batch(records, attributes=GZIP, compressed=packed)
    assert read_records(batch) == [Record(0, 5, b"k", b"v" * 1000)]


def test_records_of_real_producers_are_read() -> None:
    found: list[Record] = []
    for frame in captured(ApiKey.PRODUCE):
        if frame.direction == "request" and frame.source in ("aiokafka", "kafka-python"):
            request = decode_request(frame.frame)[1]
            assert isinstance(request, ProduceRequest)
            found += read_records(request.topic_data[0].partition_data[0].records or b"")
    assert {(record.key, record.value) for record in found} == {(b"k", b"v" * 100)}
    assert {record.headers for record in found} == {(), (("h", b"1"),)}


def test_unknown_compressions_are_not_opened() -> None:
    batch = build_batch([(None, b"v", 0)], attributes=5, compressed=b"brotli")
    with pytest.raises(InvalidRecords):
        read_records(batch)


GOOD = build_batch([(b"k", b"v", 0)])
BODY = GOOD[HEADER_SIZE:]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        BODY[:-1],
        BODY + b"\0",
        b"\x01" + BODY[1:],
        b"\x7e" + BODY[1:],
        b"\xff" * 10 + BODY,
        BODY[:4] + b"\x7e" + BODY[5:],
        BODY[:4] + b"\x03" + BODY[5:],
        BODY[:-1] + b"\x7e",
    ],
    ids=[
        "empty",
        "cut",
        "longer",
        "negative length",
        "length beyond the end",
        "long varint",
        "key beyond the end",
        "key of length -2",
        "headers beyond the end",
    ],
)
def test_malformed_records_are_refused(body: bytes) -> None:
    with pytest.raises(CorruptRecords):
        read_records(pack_batch(read_batch_header(GOOD), body))


def test_a_batch_that_is_cut_off_is_refused() -> None:
    with pytest.raises(CorruptRecords):
        read_records(GOOD[:-1])


def test_old_formats_are_refused() -> None:
    with pytest.raises(UnsupportedMagic):
        read_records(GOOD[:16] + b"\x01" + GOOD[17:])


@pytest.mark.parametrize(
    "packed",
    [b"no gzip", gzip.compress(BODY)[:-4], gzip.compress(bytes(MAX_DECOMPRESSED_BYTES + 1), 9)],
    ids=["no gzip", "cut gzip", "bomb"],
)
def test_malformed_gzip_is_refused(packed: bytes) -> None:
    batch = build_batch([(b"k", b"v", 0)], attributes=GZIP, compressed=packed)
    with pytest.raises(CorruptRecords):
        read_records(batch)
