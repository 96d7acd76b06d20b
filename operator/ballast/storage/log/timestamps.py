"""The first record at or after a time: time index, then headers, then one batch's records."""

from collections.abc import Iterator

from ballast.protocol.compression import decompress
from ballast.protocol.errors import DecodeError, RecordsError
from ballast.protocol.primitives import read_varint, read_varlong
from ballast.protocol.records import HEADER_SIZE, TIMESTAMP_TYPE_BIT, BatchHeader
from ballast.storage.log.segment import Segment
from ballast.storage.log.segments import Segments

_ATTRIBUTES_SIZE = 1


def find_timestamp(
    segments: Segments, timestamp_ms: int, log_start_offset: int
) -> tuple[int, int] | None:
    """Return (timestamp, offset) of the first record at or after both arguments, or None.

    First in the order of the log, not of timestamps (Log.fetchOffsetByTimestamp).
    """
    for segment in segments.following(log_start_offset):
        if segment.max_timestamp < timestamp_ms:
            continue
        segments.opened(segment)
        start = max(segment.time_index.offset_before(timestamp_ms), log_start_offset)
        for position, header in segment.scan(segment.position_of(start)):
            if header.max_timestamp >= timestamp_ms:
                found = _find_in_batch(segment, position, header, timestamp_ms, log_start_offset)
                if found is not None:
                    return found
    return None


def _find_in_batch(
    segment: Segment, position: int, header: BatchHeader, timestamp_ms: int, log_start_offset: int
) -> tuple[int, int] | None:
    if header.attributes & TIMESTAMP_TYPE_BIT:
        return header.max_timestamp, max(header.base_offset, log_start_offset)
    payload = segment.read_at(position + HEADER_SIZE, header.size - HEADER_SIZE)
    try:
        payload = decompress(header.compression, payload)
        for timestamp_delta, offset_delta in _record_deltas(payload, header.record_count):
            offset = header.base_offset + offset_delta
            timestamp = header.base_timestamp + timestamp_delta
            if timestamp >= timestamp_ms and offset >= log_start_offset:
                return timestamp, offset
    except (DecodeError, RecordsError, IndexError):
        # A producer may send a batch that cannot be decoded; its base offset is close enough.
        return header.base_timestamp, max(header.base_offset, log_start_offset)
    return None


def _record_deltas(payload: bytes, record_count: int) -> Iterator[tuple[int, int]]:
    position = 0
    for _ in range(record_count):
        length, start = read_varint(payload, position)
        timestamp_delta, after = read_varlong(payload, start + _ATTRIBUTES_SIZE)
        offset_delta, _ = read_varint(payload, after)
        yield timestamp_delta, offset_delta
        if length <= 0:
            raise DecodeError(f"record length {length}")
        position = start + length
