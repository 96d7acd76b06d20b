"""What a leader changes in a producer's batches before it appends them, where a topic requires it.

A topic with the default settings requires nothing: `changes_batches` returns that once per setting,
and its batches are appended as they were received. Otherwise, batch by batch (Kafka's
LogValidator):

* ``message.timestamp.type=LogAppendTime`` sets the batch's type and time, and its checksum. Single
  records keep their timestamps, which clients ignore then.
* ``message.timestamp.difference.max.ms`` refuses times that are too far from the broker's. Kafka
  compares each record's; here it is the first record's and the largest, which are in the header. A
  batch in which only a record in between is too old is accepted.
* ``compression.type`` other than ``producer``: a batch of another codec is compressed with the
  topic's. Its producer, sequence numbers and offsets stay.
* A compacted topic refuses records without a key.

Batches that are decompressed for one of these reasons are also checked inside
(`ballast.protocol.record_checks`).
"""

from collections.abc import Sequence

from ballast.protocol.compression import compress, decompress
from ballast.protocol.errors import BatchTooLarge, InvalidTimestamp
from ballast.protocol.record_checks import check_records
from ballast.protocol.records import (
    COMPRESSION_MASK,
    COMPRESSIONS,
    HEADER_SIZE,
    BatchHeader,
    check_batches,
    pack_batch,
    set_append_time,
)
from ballast.storage.log.config import PRODUCER, UNCOMPRESSED, LogConfig

PositionedHeader = tuple[int, BatchHeader]


def changes_batches(config: LogConfig) -> bool:
    """Whether `prepare` has anything to do under these settings."""
    return (
        config.is_compacted
        or config.has_append_time
        or config.compression_type != PRODUCER
        or config.limits_timestamps
    )


def prepare(
    records: memoryview, batches: Sequence[PositionedHeader], config: LogConfig, now_ms: int
) -> tuple[memoryview, list[PositionedHeader]]:
    """Return the batches to append; ``records`` is changed in place where possible.

    Raises `RecordsError`; nothing must be appended then.
    """
    if config.limits_timestamps and not config.has_append_time:
        for _, header in batches:
            _check_times(header, config.timestamp_difference_max_ms, now_ms)
    codec = _codec(config.compression_type)
    if config.is_compacted or any(_differs(header, codec) for _, header in batches):
        records, batches = _opened(records, batches, codec, config)
    if config.has_append_time:
        if records.readonly:
            records = memoryview(bytearray(records))
        batches = [
            (position, set_append_time(records, position, header, now_ms))
            for position, header in batches
        ]
    return records, list(batches)


def _check_times(header: BatchHeader, difference_max_ms: int, now_ms: int) -> None:
    for timestamp_ms in (header.base_timestamp, header.max_timestamp):
        if timestamp_ms >= 0 and abs(timestamp_ms - now_ms) > difference_max_ms:
            raise InvalidTimestamp(
                f"Timestamp {timestamp_ms} of a batch is out of range. The timestamp should be "
                f"within [{now_ms - difference_max_ms}, {now_ms + difference_max_ms}]"
            )


def _codec(compression_type: str) -> int | None:
    """Return the number of the topic's codec, None if producers choose."""
    if compression_type == PRODUCER:
        return None
    return 0 if compression_type == UNCOMPRESSED else COMPRESSIONS.index(compression_type)


def _differs(header: BatchHeader, codec: int | None) -> bool:
    return codec is not None and header.compression != codec


def _opened(
    records: memoryview,
    batches: Sequence[PositionedHeader],
    codec: int | None,
    config: LogConfig,
) -> tuple[memoryview, list[PositionedHeader]]:
    """Decode and check batches; compress those of another codec with the topic's."""
    parts: list[bytes | memoryview] = []
    is_changed = False
    for position, header in batches:
        batch = records[position : position + header.size]
        differs = _differs(header, codec)
        if not (differs or config.is_compacted):
            parts.append(batch)
            continue
        payload = decompress(header.compression, batch[HEADER_SIZE:])
        check_records(payload, header.record_count, keys=config.is_compacted)
        if codec is not None and differs:
            attributes = header.attributes & ~COMPRESSION_MASK | codec
            packed = pack_batch(header._replace(attributes=attributes), compress(codec, payload))
            if len(packed) > config.max_message_bytes:
                raise BatchTooLarge(
                    f"a batch of {len(packed)} bytes exceeds {config.max_message_bytes}"
                )
            is_changed = True
            parts.append(packed)
        else:
            parts.append(batch)
    if not is_changed:
        return records, list(batches)
    changed = memoryview(bytearray().join(parts))
    return changed, check_batches(changed, config.max_message_bytes)
