"""Kafka's ``.snapshot`` files: the idempotent producers of a log as of the offset in the name.

    version int16 = 1 | crc-32c uint32 of all that follows | count int32 | entries of 42 bytes
    | and, unless it is empty, the batches before each producer's last:
    | count int32 | producer id int64, number of batches uint8, batches of 24 bytes

As ProducerStateManager.PidSnapshotMapSchema of 2.8; the fields of transactions stay empty. The last
part is Ballast's own: Kafka checks the CRC over the whole rest of the file and reads its entries
only. It is missing from a file that Kafka wrote.
A snapshot is written when a segment is rolled and at a clean close. A restart begins to replay at
the newest complete one at or below the end of the log.
"""

import struct
from collections.abc import Collection, Sequence

import crc32c

from ballast.replication.producer_state import AppendedBatch, ProducerSnapshot
from ballast.storage.errors import CorruptCheckpoint
from ballast.storage.files.layout import SNAPSHOT_SUFFIX, parse_segment_file, segment_file
from ballast.storage.files.ports import Files

_VERSION = 1
_PREFIX = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")
_EARLIER = struct.Struct(">qB")
_BATCH = struct.Struct(">iqiq")
_NO_COORDINATOR_EPOCH = -1
_NO_TRANSACTION = -1


class SnapshotFiles:
    """The snapshots of one log. Methods raise `DiskError`."""

    __slots__ = ("_files", "_offsets", "directory")

    def __init__(self, files: Files, directory: str) -> None:
        self._files = files
        self.directory = directory
        offsets = (parse_segment_file(name, SNAPSHOT_SUFFIX) for name in files.names(directory))
        self._offsets = [offset for offset in offsets if offset is not None]

    def latest(self, log_end_offset: int) -> tuple[int, list[ProducerSnapshot]] | None:
        """Return the newest complete snapshot at or below ``log_end_offset``; remove all above it.

        A snapshot that does not parse is removed too: a crash interrupted its writing.
        """
        while self._offsets:
            offset = self._offsets[-1]
            if offset <= log_end_offset:
                try:
                    return offset, decode_snapshot(self._files.read_whole(self._path(offset)))
                except CorruptCheckpoint:
                    pass
            self._files.remove(self._path(offset))
            self._offsets.pop()
        return None

    def take(
        self, offset: int, producers: Sequence[ProducerSnapshot], keep: Collection[int]
    ) -> None:
        """Write the snapshot of ``offset``; remove older ones whose offset is not in ``keep``."""
        path = self._path(offset)
        file = self._files.open(path, create=True)
        try:
            file.truncate(0)
            file.pwrite(encode_snapshot(producers), 0)
        finally:
            file.close()
        for old in self._offsets:
            if old not in keep and old != offset:
                self._files.remove(self._path(old))
        self._offsets = sorted({offset, *(old for old in self._offsets if old in keep)})

    def flush(self) -> None:
        """Return when the newest snapshot is durable."""
        if self._offsets:
            file = self._files.open(self._path(self._offsets[-1]))
            try:
                file.flush()
            finally:
                file.close()

    def clear(self) -> None:
        """Remove all snapshots."""
        while self._offsets:
            self._files.remove(self._path(self._offsets.pop()))

    def _path(self, offset: int) -> str:
        return f"{self.directory}/{segment_file(offset, SNAPSHOT_SUFFIX)}"


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
    with_earlier = [producer for producer in producers if producer.earlier]
    if with_earlier:
        parts.append(_COUNT.pack(len(with_earlier)))
    for producer in with_earlier:
        parts.append(_EARLIER.pack(producer.producer_id, len(producer.earlier)))
        parts += [_BATCH.pack(*batch) for batch in producer.earlier]
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
    end = _COUNT.size + count * _ENTRY.size
    if count < 0 or len(body) < end:
        raise CorruptCheckpoint("snapshot: wrong length")
    earlier = _decode_earlier(body[end:])
    return [
        ProducerSnapshot(
            producer_id=entry[0],
            producer_epoch=entry[1],
            last_sequence=entry[2],
            last_offset=entry[3],
            offset_delta=entry[4],
            timestamp_ms=entry[5],
            earlier=earlier.get(entry[0], ()),
        )
        for entry in _ENTRY.iter_unpack(body[_COUNT.size : end])
    ]


def _decode_earlier(data: memoryview) -> dict[int, tuple[AppendedBatch, ...]]:
    """Return the batches before the last by producer; raises `CorruptCheckpoint`."""
    found: dict[int, tuple[AppendedBatch, ...]] = {}
    if not data:
        return found
    try:
        (count,) = _COUNT.unpack_from(data)
        position = _COUNT.size
        for _ in range(count):
            producer_id, number = _EARLIER.unpack_from(data, position)
            position += _EARLIER.size
            end = position + number * _BATCH.size
            batches = _BATCH.iter_unpack(data[position:end])
            found[producer_id] = tuple(AppendedBatch(*batch) for batch in batches)
            position = end
    except struct.error as error:
        raise CorruptCheckpoint(f"snapshot: earlier batches: {error}") from error
    if position != len(data):
        raise CorruptCheckpoint("snapshot: wrong length")
    return found
