"""Positions of the records in a batch, and what compaction needs of each: key, and any value.

Other fields are not decoded, and no value is copied: a record is kept by keeping its bytes, which
stay valid as long as the batch keeps its base offset and base timestamp.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ballast.protocol.errors import CorruptRecords, DecodeError
from ballast.protocol.primitives import read_varint, read_varlong


class RecordSlice(NamedTuple):
    """One record of a batch's opened payload."""

    start: int
    end: int
    """The record is ``payload[start:end]``, its length included."""
    timestamp_delta: int
    offset_delta: int
    key: bytes | None
    has_value: bool


def slice_records(payload: bytes, record_count: int) -> Iterator[RecordSlice]:
    """Yield the records of a batch whose payload is opened; raises `CorruptRecords`."""
    position = 0
    try:
        for _ in range(record_count):
            found = _slice(payload, position)
            position = found.end
            yield found
    except (DecodeError, IndexError) as error:
        raise CorruptRecords(f"malformed record: {error}") from error
    if position != len(payload):
        raise CorruptRecords(f"{len(payload) - position} bytes follow the last record")


def _slice(payload: bytes, start: int) -> RecordSlice:
    length, body = read_varint(payload, start)
    end = body + length
    if length <= 0 or end > len(payload):
        raise DecodeError(f"record length {length}")
    timestamp_delta, position = read_varlong(payload, body + 1)
    offset_delta, position = read_varint(payload, position)
    key_length, position = read_varint(payload, position)
    key = None
    if key_length >= 0:
        key = payload[position : position + key_length]
        position += key_length
    value_length, position = read_varint(payload, position)
    if position + max(value_length, 0) > end:
        raise DecodeError("a key or value exceeds its record")
    return RecordSlice(start, end, timestamp_delta, offset_delta, key, value_length >= 0)
