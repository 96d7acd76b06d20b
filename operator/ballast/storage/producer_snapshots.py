"""Kafka's ``.snapshot`` files: the idempotent producers of a log as of the offset in the name.

    version int16 = 1 | crc-32c uint32 of all that follows | count int32 | entries of 42 bytes

As ProducerStateManager.PidSnapshotMapSchema of 2.8; the fields of transactions stay empty.
"""

import struct
from collections.abc import Sequence

import crc32c

from ballast.replication.producer_state import ProducerSnapshot
from ballast.storage.errors import CorruptCheckpoint

_VERSION = 1
_PREFIX = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")
_NO_COORDINATOR_EPOCH = -1
_NO_TRANSACTION = -1


def encode_snapshot(producers: Sequence[ProducerSnapshot]) -> bytes:
    """Return the content of a snapshot file."""
    parts = [_COUNT.pack(len(producers))]
    parts += [
        _ENTRY.pack(
            producer.producer_id,
            producer.producer_epoch,
            producer.last_sequence,
            producer.last_offset,
            producer.offset_delta,
            producer.timestamp_ms,
            _NO_COORDINATOR_EPOCH,
            _NO_TRANSACTION,
        )
        for producer in producers
    ]
    body = b"".join(parts)
    return _PREFIX.pack(_VERSION, crc32c.crc32c(body)) + body


def decode_snapshot(data: bytes) -> list[ProducerSnapshot]:
    """Return the producers of a snapshot file; raises `CorruptCheckpoint`."""
    body = memoryview(data)[_PREFIX.size :]
    if len(body) < _COUNT.size:
        raise CorruptCheckpoint("snapshot: too short")
    version, checksum = _PREFIX.unpack_from(data)
    if version != _VERSION or checksum != crc32c.crc32c(body):
        raise CorruptCheckpoint("snapshot: wrong version or checksum")
    (count,) = _COUNT.unpack_from(body)
    if len(body) != _COUNT.size + count * _ENTRY.size:
        raise CorruptCheckpoint("snapshot: wrong length")
    return [
        ProducerSnapshot(
            producer_id=entry[0],
            producer_epoch=entry[1],
            last_sequence=entry[2],
            last_offset=entry[3],
            offset_delta=entry[4],
            timestamp_ms=entry[5],
        )
        for entry in _ENTRY.iter_unpack(body[_COUNT.size :])
    ]
