"""What compaction keeps of one batch (Kafka 2.8 ``MemoryRecords.filterTo``).

Offsets do not change: a batch keeps its base offset, its last offset and its sequence numbers, so
that the last sequence number of a producer is found even where no record is left. The base
timestamp stays too (Kafka takes that of the first kept record): the bytes of kept records need no
change.
"""

from collections.abc import Callable, Generator

import crc32c

from ballast.protocol.compression import compress, decompress
from ballast.protocol.errors import CorruptRecords
from ballast.protocol.record_slices import slice_records
from ballast.protocol.records import (
    CHECKED_OFFSET,
    COMPRESSION_MASK,
    HEADER_SIZE,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
    pack_batch,
)

KeepsRecord = Callable[[int, bytes | None, bool], bool]
"""Whether a record is kept, given its offset, its key, and whether it has a value."""


STEP_RECORDS = 1000
"""Records per step."""


def clean_batch(
    data: bytes, header: BatchHeader, keeps: KeepsRecord, *, keep_empty: bool
) -> Generator[int, None, bytes | None]:
    """Return the kept part of a batch, ``data`` itself if all is kept, None if nothing is.

    Yields 0 after every thousand records, so that other work gets its turn. ``keep_empty`` keeps
    the header if no record is kept. Raises `RecordsError` for a batch that cannot be decoded:
    writing it again would hide the damage.
    """
    if header.is_control:
        return data
    if not header.record_count:
        return data if keep_empty else None
    payload = decompress(header.compression, data[HEADER_SIZE:])
    kept = []
    for number, record in enumerate(slice_records(payload, header.record_count), 1):
        if keeps(header.base_offset + record.offset_delta, record.key, record.has_value):
            kept.append(record)
        if number % STEP_RECORDS == 0:
            yield 0
    if len(kept) == header.record_count:
        return data
    if crc32c.crc32c(memoryview(data)[CHECKED_OFFSET:]) != header.crc:
        raise CorruptRecords(f"the checksum of the batch at {header.base_offset} is wrong")
    if not kept:
        return _empty(header) if keep_empty else None
    max_timestamp = header.max_timestamp
    if not header.attributes & TIMESTAMP_TYPE_BIT:
        max_timestamp = header.base_timestamp + max(record.timestamp_delta for record in kept)
    body = b"".join(payload[record.start : record.end] for record in kept)
    return pack_batch(
        header._replace(record_count=len(kept), max_timestamp=max_timestamp),
        compress(header.compression, body),
    )


def _empty(header: BatchHeader) -> bytes:
    return pack_batch(
        header._replace(
            attributes=header.attributes & ~COMPRESSION_MASK,
            record_count=0,
            base_timestamp=header.max_timestamp,
        ),
        b"",
    )
