import pytest

from ballast.protocol.errors import CorruptRecords
from ballast.protocol.primitives import encode_varlong
from ballast.protocol.record_slices import slice_records
from ballast.protocol.records import encode_records

RECORDS = [(b"k" * 100, b"v", 1000), (b"", None, 900), (None, b"", 1200)]


def test_what_compaction_asks_of_records() -> None:
    payload = encode_records(RECORDS)
    found = list(slice_records(payload, 3))
    assert [(r.offset_delta, r.timestamp_delta, r.key, r.has_value) for r in found] == [
        (0, 0, b"k" * 100, True),
        (1, -100, b"", False),
        (2, 200, None, True),
    ]
    assert b"".join(payload[r.start : r.end] for r in found) == payload


@pytest.mark.parametrize(
    ("payload", "count"),
    [
        pytest.param(encode_records(RECORDS), 2, id="one too many"),
        pytest.param(encode_records(RECORDS), 4, id="one too few"),
        pytest.param(encode_records(RECORDS)[:-1], 3, id="cut off"),
        pytest.param(b"\x00", 1, id="no length"),
        pytest.param(encode_varlong(-1), 1, id="negative length"),
        pytest.param(encode_varlong(5) + b"\0\0\0" + encode_varlong(90) + b"k", 1, id="long key"),
        pytest.param(
            encode_varlong(6) + b"\0\0\0\x01" + encode_varlong(90) + b"v", 1, id="long value"
        ),
    ],
)
def test_what_is_no_record(payload: bytes, count: int) -> None:
    with pytest.raises(CorruptRecords):
        list(slice_records(payload, count))
