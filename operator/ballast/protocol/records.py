"""Record batches, format 2 (magic 2, KIP-98): headers, checks, offsets set in place, and a builder.

A batch on the wire and on disk, big-endian, 61 bytes before the records::

    0 base_offset i64 | 8 batch_length i32 (of what follows) | 12 partition_leader_epoch i32
    16 magic i8 | 17 crc u32 (CRC-32C of all from 21 on) | 21 attributes i16
    23 last_offset_delta i32 | 27 base_timestamp i64 | 35 max_timestamp i64
    43 producer_id i64 | 51 producer_epoch i16 | 53 base_sequence i32 | 57 record_count i32

Offset and leader epoch lie before what the checksum covers, so a leader sets both in place. Checks
look at headers and checksums only, never at single records, and open no compressed batch: a leader
does constant work per batch, and what a compressed batch holds is its producer's word.
"""

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import NamedTuple, TypeAlias

import crc32c

from ballast.protocol.errors import (
    BatchTooLarge,
    CorruptRecords,
    InvalidRecords,
    InvalidTimestamp,
    UnsupportedMagic,
)
from ballast.protocol.primitives import encode_varlong

HEADER_SIZE = 61
"""Bytes of a batch before its records."""

LEADER_EPOCH_OFFSET = 12
MAGIC_OFFSET = 16
CRC_OFFSET = 17
CHECKED_OFFSET = 21
"""Where the bytes begin that the checksum covers."""

MAX_TIMESTAMP_OFFSET = 35

SIZE_PREFIX = 12
"""Bytes of a batch that its ``batch_length`` does not count."""

MAGIC = 2
NO_PRODUCER_ID = -1
NO_SEQUENCE = -1

COMPRESSION_MASK = 0x07
TIMESTAMP_TYPE_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20

_BROKERS_BITS = TIMESTAMP_TYPE_BIT | TRANSACTIONAL_BIT | CONTROL_BIT

COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
"""Codec names; their place is the codec's number in the attributes."""

LEAST_RECORD_SIZE = 7
"""An empty record: length, attributes, two deltas, null key, null value, no headers."""

_HEADER = Struct(">qiibIhiqqqhii")
_OFFSET = Struct(">q")
_INT16 = Struct(">h")
_INT32 = Struct(">i")
_UINT32 = Struct(">I")

Buffer: TypeAlias = bytes | bytearray | memoryview


class BatchHeader(NamedTuple):
    """The fixed part of one batch, in wire order."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return SIZE_PREFIX + self.batch_length

    @property
    def last_offset(self) -> int:
        """Offset of the last record."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """Offset that follows the batch."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def compression(self) -> int:
        """The codec's number, an index of `COMPRESSIONS`."""
        return self.attributes & COMPRESSION_MASK

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        """Whether the batch holds control records, which only brokers write."""
        return bool(self.attributes & CONTROL_BIT)

    @property
    def last_sequence(self) -> int:
        """Sequence number of the last record; sequences wrap from 2^31 - 1 to 0."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & 0x7FFFFFFF


def read_batch_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """Return the header at ``position``, coherent in itself.

    The batch may reach beyond the buffer's end. Raise `UnsupportedMagic` for formats 0 and 1 and
    `CorruptRecords` for a short or incoherent header.
    """
    if position < 0 or len(buffer) - position <= MAGIC_OFFSET:
        raise CorruptRecords(f"{len(buffer) - position} bytes are too few for a batch")
    magic = buffer[position + MAGIC_OFFSET]
    if magic != MAGIC:
        if magic in (0, 1):
            raise UnsupportedMagic(f"records of format {magic} are not served")
        raise CorruptRecords(f"no record format has magic {magic}")
    if len(buffer) - position < HEADER_SIZE:
        raise CorruptRecords(f"{len(buffer) - position} bytes are too few for a batch")
    header = tuple.__new__(BatchHeader, _HEADER.unpack_from(buffer, position))
    if header.batch_length < HEADER_SIZE - SIZE_PREFIX:
        raise CorruptRecords(f"batch length {header.batch_length} is less than a header")
    if header.base_offset < 0 or header.last_offset_delta < 0 or header.record_count < 0:
        raise CorruptRecords("a batch has a negative offset, offset delta or record count")
    return header


def check_batches(
    records: Buffer, max_batch_bytes: int, *, from_producer: bool = True
) -> list[tuple[int, BatchHeader]]:
    """Return position and header of every batch in ``records``, checked.

    ``from_producer`` adds what holds before compaction only (offsets without gaps, at least one
    record); a follower passes False. Raise `CorruptRecords`, `BatchTooLarge`, `UnsupportedMagic`
    or `InvalidRecords`, in that order of precedence within a batch.
    """
    view = memoryview(records)
    end = len(view)
    batches = []
    position = 0
    while position < end:
        header = read_batch_header(view, position)
        _check_whole(view, position, header, max_batch_bytes)
        _check_claims(header, from_producer=from_producer)
        batches.append((position, header))
        position += SIZE_PREFIX + header.batch_length
    if from_producer and not batches:
        raise InvalidRecords("there is no batch to append")
    return batches


def _check_whole(
    view: memoryview, position: int, header: BatchHeader, max_batch_bytes: int
) -> None:
    """Check size and checksum of the batch at ``position``."""
    size = SIZE_PREFIX + header.batch_length
    end = position + size
    if end > len(view):
        raise CorruptRecords(f"a batch of {size} bytes has {len(view) - position} only")
    if size > max_batch_bytes:
        raise BatchTooLarge(f"a batch of {size} bytes exceeds {max_batch_bytes}")
    crc = crc32c.crc32c(view[position + CHECKED_OFFSET : end])
    if crc != header.crc:
        raise CorruptRecords(f"checksum is {crc:#010x}, the batch says {header.crc:#010x}")


def _check_claims(header: BatchHeader, *, from_producer: bool) -> None:
    """Check the header's numbers against one another (``LogValidator.validateBatch``)."""
    count, offsets = header.record_count, header.last_offset_delta + 1
    if from_producer and count != offsets:
        raise InvalidRecords(f"{count} records have a last offset delta of {offsets - 1}")
    if count > offsets:
        raise InvalidRecords(f"{count} records do not fit into {offsets} offsets")
    compression = header.attributes & COMPRESSION_MASK
    if compression >= len(COMPRESSIONS):
        raise InvalidRecords(f"there is no compression {compression}")
    room = SIZE_PREFIX + header.batch_length - HEADER_SIZE
    if compression == 0 and count * LEAST_RECORD_SIZE > room:
        raise InvalidRecords(f"{count} records cannot lie in {room} bytes")
    producer_id = header.producer_id
    if producer_id < NO_PRODUCER_ID:
        raise InvalidRecords(f"negative producer id {producer_id}")
    if (
        producer_id > NO_PRODUCER_ID
        and not header.is_control
        and (header.base_sequence < 0 or header.producer_epoch < 0)
    ):
        raise InvalidRecords("an idempotent producer gave a negative sequence or epoch")


def check_client_attributes(header: BatchHeader, *, transactions: bool = False) -> None:
    """Raise `InvalidRecords` for bits that a client may not set.

    Control batches come from brokers only; transactional ones are refused unless ``transactions``.
    """
    if not header.attributes & _BROKERS_BITS:
        return
    if header.is_control:
        raise InvalidRecords("clients may not write control records")
    if header.is_transactional and not transactions:
        raise InvalidRecords("transactional records are not served")
    if header.attributes & TIMESTAMP_TYPE_BIT:
        raise InvalidTimestamp("Producer should not set timestamp type to LogAppendTime.")


def iter_batches(buffer: Buffer, position: int = 0) -> Iterator[tuple[int, BatchHeader]]:
    """Yield position and header of the whole batches from ``position`` on; stop at a partial tail.

    Checksums are not verified. Raise `CorruptRecords` or `UnsupportedMagic` for a header that is
    all there and makes no sense.
    """
    end = len(buffer)
    while end - position >= HEADER_SIZE:
        header = read_batch_header(buffer, position)
        if header.size > end - position:
            return
        yield position, header
        position += header.size


def assign_offset(
    buffer: bytearray | memoryview, position: int, base_offset: int, leader_epoch: int
) -> None:
    """Set offset and leader epoch of the batch at ``position``; its checksum stays right."""
    _OFFSET.pack_into(buffer, position, base_offset)
    _INT32.pack_into(buffer, position + LEADER_EPOCH_OFFSET, leader_epoch)


def set_append_time(
    buffer: bytearray | memoryview, position: int, header: BatchHeader, time_ms: int
) -> BatchHeader:
    """Have all records of the batch at ``position`` bear one time; return its new header.

    Kafka's ``DefaultRecordBatch.setMaxTimestamp`` with LogAppendTime: single records stay as they
    are. ``time_ms`` is in ms since the epoch.
    """
    attributes = header.attributes | TIMESTAMP_TYPE_BIT
    _INT16.pack_into(buffer, position + CHECKED_OFFSET, attributes)
    _OFFSET.pack_into(buffer, position + MAX_TIMESTAMP_OFFSET, time_ms)
    view = memoryview(buffer)[position + CHECKED_OFFSET : position + header.size]
    crc = crc32c.crc32c(view)
    _UINT32.pack_into(buffer, position + CRC_OFFSET, crc)
    return header._replace(attributes=attributes, max_timestamp=time_ms, crc=crc)


def pack_batch(header: BatchHeader, payload: bytes) -> bytes:
    """Return a batch of ``header`` and ``payload`` with the length and checksum set right."""
    length = HEADER_SIZE - SIZE_PREFIX + len(payload)
    batch = bytearray(_HEADER.pack(*header._replace(batch_length=length, crc=0)) + payload)
    crc = crc32c.crc32c(memoryview(batch)[CHECKED_OFFSET:])
    batch[CRC_OFFSET:CHECKED_OFFSET] = crc.to_bytes(4, "big")
    return bytes(batch)


def build_batch(  # noqa: PLR0913 - each is a field of the batch, and all but one have defaults
    records: Sequence[tuple[bytes | None, bytes | None, int]],
    *,
    base_offset: int = 0,
    leader_epoch: int = -1,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = -1,
    base_sequence: int = NO_SEQUENCE,
    attributes: int = 0,
    compressed: bytes | None = None,
) -> bytes:
    """Return one batch of ``records``, each (key, value, timestamp in ms since the epoch).

    For a compressed batch, ``attributes`` names the codec and ``compressed`` is what it made of
    `encode_records`. Raise `InvalidRecords` for no records.
    """
    if not records:
        raise InvalidRecords("a batch holds at least one record")
    base_timestamp = records[0][2]
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,
        partition_leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=attributes,
        last_offset_delta=len(records) - 1,
        base_timestamp=base_timestamp,
        max_timestamp=max(timestamp for _, _, timestamp in records),
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )
    return pack_batch(header, encode_records(records) if compressed is None else compressed)


def encode_records(records: Sequence[tuple[bytes | None, bytes | None, int]]) -> bytes:
    """Return the uncompressed body of a batch: records without KIP-82 headers."""
    base_timestamp = records[0][2]
    out = bytearray()
    for offset_delta, (key, value, timestamp) in enumerate(records):
        body = b"\0" + encode_varlong(timestamp - base_timestamp) + encode_varlong(offset_delta)
        body += _encode_bytes(key) + _encode_bytes(value) + b"\0"
        out += encode_varlong(len(body)) + body
    return bytes(out)


def _encode_bytes(value: bytes | None) -> bytes:
    return b"\x01" if value is None else encode_varlong(len(value)) + value
