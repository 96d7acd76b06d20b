"""Variable-length integers and the error paths that generated decoders share.

Unsigned varints are base 128, least group first; signed ones are zigzag (KIP-482, and the records
of KIP-98). Functions return the value and the position after it, and raise `DecodeError`.
"""

from struct import Struct, unpack_from
from typing import Any

from ballast.protocol.errors import DecodeError, EncodeError

MAX_STRING_BYTES = 32767
"""Kafka's limit for strings in every version, flexible ones too."""

MAX_TAGS = 1000
"""Tagged fields that one struct may have; Kafka's structs have at most a handful."""

_COUNT_TABLE_SIZE = 4096


def encode_unsigned_varint(value: int) -> bytes:
    """Return ``value`` (0 to 2^32 - 1) in one to five bytes."""
    if value < 0x80:
        return bytes((value,))
    groups = bytearray()
    while value > 0x7F:
        groups.append((value & 0x7F) | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def encode_varlong(value: int) -> bytes:
    """Return a signed ``value`` (64 bits) as a zigzag varint of one to ten bytes."""
    return encode_unsigned_varint((value << 1) ^ (value >> 63))


def read_unsigned_varint(buffer: Any, position: int, most_bytes: int = 5) -> tuple[int, int]:
    """Read an unsigned varint of at most ``most_bytes`` bytes."""
    value = 0
    try:
        for shift in range(0, 7 * most_bytes, 7):
            byte = buffer[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >> (32 if most_bytes == 5 else 64):
                    raise DecodeError(f"varint {value} does not fit its type")
                return value, position
    except IndexError:
        raise DecodeError("varint is cut off") from None
    raise DecodeError(f"varint is longer than {most_bytes} bytes")


def read_varint(buffer: Any, position: int) -> tuple[int, int]:
    """Read a signed 32-bit zigzag varint."""
    value, position = read_unsigned_varint(buffer, position)
    return (value >> 1) ^ -(value & 1), position


def read_varlong(buffer: Any, position: int) -> tuple[int, int]:
    """Read a signed 64-bit zigzag varint."""
    value, position = read_unsigned_varint(buffer, position, 10)
    return (value >> 1) ^ -(value & 1), position


def long_count(buffer: Any, position: int) -> tuple[int, int]:
    """Read again, and whole, a compact length whose first byte lies before ``position``."""
    return read_unsigned_varint(buffer, position - 1)


def long_string_length(buffer: Any, position: int) -> tuple[int, int]:
    """Do what `long_count` does for a string, whose length has a limit."""
    length, position = read_unsigned_varint(buffer, position - 1)
    if length > MAX_STRING_BYTES + 1:
        raise DecodeError(f"string of {length - 1} bytes is longer than {MAX_STRING_BYTES}")
    return length, position


def refused_length(length: int, room: int) -> DecodeError:
    """Return the error for a length or count that is negative, null or beyond the end."""
    if length == -1:
        return DecodeError("null in a field that is not nullable")
    if length < 0:
        return DecodeError(f"negative length {length}")
    return DecodeError(f"length {length} exceeds what {room} remaining bytes can hold")


def tag_count(buffer: Any, position: int) -> tuple[int, int]:
    """Read how many tagged fields a struct has, within `MAX_TAGS`."""
    count, position = read_unsigned_varint(buffer, position)
    if count > MAX_TAGS:
        raise DecodeError(f"{count} tagged fields exceed {MAX_TAGS}")
    return count, position


def skip_tags(buffer: Any, position: int, end: int) -> int:
    """Return the position after a struct's tagged fields, none of which is known."""
    count, position = tag_count(buffer, position)
    for _ in range(count):
        _, position = read_unsigned_varint(buffer, position)
        size, position = read_unsigned_varint(buffer, position)
        if size > end - position:
            raise refused_length(size, end - position)
        position += size
    return position


def unpack_many(buffer: Any, position: int, end: int, count: int, code: str) -> tuple[int, ...]:
    """Read ``count`` integers of `struct` format ``code`` at once."""
    size = 4 if code == "i" else 8
    if count < 0 or count * size > end - position:
        raise refused_length(count, end - position)
    return unpack_from(f">{count}{code}", buffer, position)


UNPACK_INT32S = tuple(Struct(f">{count}i").unpack_from for count in range(64))
"""Readers of the short arrays: what replica lists are."""

COMPACT = tuple(encode_unsigned_varint(length + 1) for length in range(_COUNT_TABLE_SIZE))
"""The compact form (length + 1) of small lengths; `compact_length` serves all."""


def compact_length(length: int) -> bytes:
    """Return a flexible version's form of a length or count."""
    if length < _COUNT_TABLE_SIZE:
        return COMPACT[length]
    return encode_unsigned_varint(length + 1)


def string_bytes(text: str) -> bytes:
    """Return the UTF-8 bytes of ``text``; raise `EncodeError` above Kafka's limit."""
    encoded = text.encode()
    if len(encoded) > MAX_STRING_BYTES:
        raise EncodeError(f"string of {len(encoded)} bytes is longer than {MAX_STRING_BYTES}")
    return encoded
