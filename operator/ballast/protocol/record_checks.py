"""What single records must satisfy in a batch that is opened when it is appended.

Most batches are never opened (`ballast.protocol.records`). Those of compacted topics, and those
that are compressed again, are. A consumer that cannot read them would never get past them, so
they are refused instead (LogValidator.validateRecord).
"""

from ballast.protocol.errors import DecodeError, InvalidRecords
from ballast.protocol.primitives import read_varint, read_varlong

_CONTINUED = 0x80


def check_records(payload: bytes, record_count: int, *, keys: bool) -> None:
    """Raise `InvalidRecords` unless the opened batch holds what its header says.

    There must be as many records as ``record_count``, with offset deltas that count up from 0 and
    nothing behind the last; with ``keys`` each must have a key: a compacted log could never drop
    one without.
    """
    try:
        end = _check(payload, record_count, keys=keys)
    except (DecodeError, IndexError) as error:
        raise InvalidRecords(f"malformed record: {error}") from error
    if end != len(payload):
        raise InvalidRecords(
            f"{len(payload) - end} bytes follow the last of {record_count} records"
        )


def _check(payload: bytes, record_count: int, *, keys: bool) -> int:
    """Return where the last record ends. Only what is before the value is looked at."""
    start, size = 0, len(payload)
    for number in range(record_count):
        length, body = read_varint(payload, start)
        start = body + length
        if length <= 0 or start > size:
            raise InvalidRecords(f"record {number} has a length of {length} bytes")
        # One byte of attributes; most timestamp deltas and offset deltas have one or two.
        position = body + 2
        if payload[body + 1] >= _CONTINUED:
            _, position = read_varlong(payload, body + 1)
        offset_delta, position = read_varint(payload, position)
        if offset_delta != number:
            raise InvalidRecords(f"record {number} has an offset delta of {offset_delta}")
        if keys:
            key_length, position = read_varint(payload, position)
            if key_length < 0:
                raise InvalidRecords("Compacted topic cannot accept message without key")
            position += key_length
        if position > start:
            raise InvalidRecords(f"the fields of record {number} exceed it")
    return start
