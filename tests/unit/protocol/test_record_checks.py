import pytest

from ballast.protocol.errors import InvalidRecords
from ballast.protocol.primitives import encode_varlong
from ballast.protocol.record_checks import check_records
from ballast.protocol.records import encode_records


def record(offset_delta: int, *, key: bytes = b"\x02k", timestamp_delta: int = 0) -> bytes:
    body = b"\0" + encode_varlong(timestamp_delta) + encode_varlong(offset_delta) + key + b"\x02v\0"
    return encode_varlong(len(body)) + body


@pytest.mark.parametrize("count", [1, 200])
@pytest.mark.parametrize("spread_ms", [0, 100_000_000])
def test_records_as_clients_write_them(count: int, spread_ms: int) -> None:
    rows = [(b"k" * n, b"v" * n, 1000 + spread_ms * n) for n in range(count)]
    check_records(encode_records(rows), count, keys=True)


@pytest.mark.parametrize(
    ("payload", "count", "reason"),
    [
        (record(0) + record(0), 2, "record 1 has an offset delta of 0"),
        (record(1), 1, "record 0 has an offset delta of 1"),
        (record(0) + record(2), 2, "record 1 has an offset delta of 2"),
        (record(0), 2, "malformed|length"),
        (record(0) + record(1), 1, "bytes follow the last of 1 records"),
        (record(0)[:-1], 1, "length"),
        (b"\x00", 1, "length"),
        (b"\x01", 1, "length"),
        (record(0, key=b"\x7e"), 1, "fields of record 0 exceed it"),
        (b"", 1, "malformed"),
    ],
)
def test_what_no_consumer_could_read_is_refused(payload: bytes, count: int, reason: str) -> None:
    with pytest.raises(InvalidRecords, match=reason):
        check_records(payload, count, keys=True)


def test_keys_are_asked_for_where_they_are_needed() -> None:
    rows = [(b"a", b"1", 0), (None, b"2", 0)]
    check_records(encode_records(rows), 2, keys=False)
    with pytest.raises(InvalidRecords, match="Compacted topic cannot accept message without key"):
        check_records(encode_records(rows), 2, keys=True)
