"""Single records of a batch.

Brokers open a batch for compaction and for look-ups by time only, never to append or fetch it.

A record, all integers zigzag varints: length, attributes (one byte), timestamp delta, offset
delta, key, value (length -1 for null), header count, and per header a key and a value.
"""

from typing import NamedTuple

from ballast.protocol.compression import decompress
from ballast.protocol.errors import CorruptRecords, DecodeError
from ballast.protocol.primitives import read_varint, read_varlong
from ballast.protocol.records import (
    HEADER_SIZE,
    LEAST_RECORD_SIZE,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
    Buffer,
    read_batch_header,
)


class Record(NamedTuple):
    """One record with its absolute offset and timestamp (ms since the epoch)."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def read_records(batch: Buffer, position: int = 0) -> list[Record]:
    """Return the records of the batch at ``position``.

    Raise `CorruptRecords` for a malformed batch, `InvalidRecords` for an unknown compression.
    """
    header = read_batch_header(batch, position)
    payload = bytes(memoryview(batch)[position + HEADER_SIZE : position + header.size])
    if len(payload) != header.size - HEADER_SIZE:
        raise CorruptRecords("the batch is cut off")
    payload = decompress(header.compression, payload)
    if header.record_count * LEAST_RECORD_SIZE > len(payload):
        raise CorruptRecords(f"{header.record_count} records cannot lie in {len(payload)} bytes")
    try:
        return _read_all(header, payload)
    except (DecodeError, UnicodeDecodeError) as error:
        raise CorruptRecords(f"malformed record: {error}") from error


def _read_all(header: BatchHeader, payload: bytes) -> list[Record]:
    records = []
    position = 0
    for _ in range(header.record_count):
        length, position = read_varint(payload, position)
        end = position + length
        if length < 0 or end > len(payload):
            raise DecodeError(f"record length {length}")
        records.append(_read_one(header, payload[position:end]))
        position = end
    if position != len(payload):
        raise DecodeError(f"{len(payload) - position} bytes follow the last record")
    return records


def _read_one(header: BatchHeader, payload: bytes) -> Record:
    timestamp_delta, position = read_varlong(payload, 1)
    offset_delta, position = read_varint(payload, position)
    key, position = _read_bytes(payload, position)
    value, position = _read_bytes(payload, position)
    count, position = read_varint(payload, position)
    headers = []
    for _ in range(count):
        name, position = _read_bytes(payload, position)
        content, position = _read_bytes(payload, position)
        headers.append(((name or b"").decode(), content))
    if position != len(payload):
        raise DecodeError(f"{len(payload) - position} bytes follow a record's headers")
    return Record(
        offset=header.base_offset + offset_delta,
        timestamp_ms=header.max_timestamp
        if header.attributes & TIMESTAMP_TYPE_BIT
        else header.base_timestamp + timestamp_delta,
        key=key,
        value=value,
        headers=tuple(headers),
    )


def _read_bytes(payload: bytes, position: int) -> tuple[bytes | None, int]:
    length, position = read_varint(payload, position)
    if length == -1:
        return None, position
    end = position + length
    if length < 0 or end > len(payload):
        raise DecodeError(f"length {length} exceeds the record")
    return payload[position:end], end
