import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.protocol import primitives
from ballast.protocol.errors import DecodeError, EncodeError

UINT32 = st.integers(0, 2**32 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)


@given(UINT32, st.binary(max_size=3), st.binary(max_size=3))
def test_unsigned_varints_come_back(value: int, before: bytes, after: bytes) -> None:
    encoded = primitives.encode_unsigned_varint(value)
    buffer = before + encoded + after
    assert primitives.read_unsigned_varint(buffer, len(before)) == (
        value,
        len(before) + len(encoded),
    )


@given(INT64)
def test_varlongs_come_back(value: int) -> None:
    encoded = primitives.encode_varlong(value)
    assert primitives.read_varlong(encoded, 0) == (value, len(encoded))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (-1, "01"),
        (1, "02"),
        (63, "7e"),
        (-64, "7f"),
        (64, "8001"),
        (2**31, "8080808010"),
    ],
)
def test_signed_varints_are_zigzag(value: int, encoded: str) -> None:
    assert primitives.encode_varlong(value).hex() == encoded


@pytest.mark.parametrize(
    "encoded",
    [b"\x80" * 5 + b"\x00", b"\xff" * 10, b"\xff\xff\xff\xff\x10"],
    ids=["six bytes", "ten bytes", "over 32 bits"],
)
def test_overlong_varints_are_refused(encoded: bytes) -> None:
    with pytest.raises(DecodeError):
        primitives.read_unsigned_varint(encoded, 0)


def test_overlong_varlongs_are_refused() -> None:
    with pytest.raises(DecodeError):
        primitives.read_varlong(b"\xff" * 11, 0)
    with pytest.raises(DecodeError):
        primitives.read_varlong(b"\xff" * 9 + b"\x02", 0)


@pytest.mark.parametrize("length", [0, 126, 127, 4095, 4096, 2**21])
def test_compact_lengths_are_one_more(length: int) -> None:
    encoded = primitives.compact_length(length)
    assert primitives.read_unsigned_varint(encoded, 0) == (length + 1, len(encoded))


def test_long_strings_are_refused() -> None:
    most = primitives.MAX_STRING_BYTES
    assert len(primitives.string_bytes("é" * (most // 2))) == most - 1
    with pytest.raises(EncodeError):
        primitives.string_bytes("x" * (most + 1))
    length = primitives.encode_unsigned_varint(most + 2)
    with pytest.raises(DecodeError):
        primitives.long_string_length(length, 1)


def test_tags_are_skipped() -> None:
    tags = bytes((2, 0, 3, 1, 2, 3, 200, 1, 0))
    assert primitives.skip_tags(b"x" + tags + b"y", 1, len(tags) + 1) == len(tags) + 1


@pytest.mark.parametrize("tags", [bytes((2, 0, 0)), bytes((1, 0, 2, 1)), bytes((127, 0))])
def test_tags_beyond_the_end_are_refused(tags: bytes) -> None:
    with pytest.raises(DecodeError):
        primitives.skip_tags(tags, 0, len(tags))


@pytest.mark.parametrize("count", [-1, -5, 4, 2**31 - 1])
def test_unpack_many_never_reads_beyond_the_end(count: int) -> None:
    with pytest.raises(DecodeError):
        primitives.unpack_many(bytes(15), 0, 15, count, "i")
    assert primitives.unpack_many(bytes(15), 3, 15, 3, "i") == (0, 0, 0)
