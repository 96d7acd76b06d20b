"""Checks whether stored batches are still what was written.

Bytes on a disk may change (bit rot). The checksum of a batch covers what follows it; the base
offset, the length, the leader epoch and the magic byte before it are compared with the neighbours
of the batch. Kafka's brokers check checksums of appends only; its clients have to detect damage.
"""

import struct
from typing import Final, NamedTuple

import crc32c

from ballast.protocol.records import CHECKED_OFFSET, HEADER_SIZE
from ballast.storage.files.descriptors import Buffer

_HEAD: Final = struct.Struct(">qiiBI2xi")
"""Base offset, length, leader epoch, magic, checksum, last offset delta."""
_LENGTH_COUNTS_FROM: Final = 12
_MAGIC: Final = 2


class Sound(NamedTuple):
    """The sound part of stored batches."""

    size_bytes: int
    """Of the whole batches before the first damage."""
    flaw: str | None
    """The damage behind them; None if there is none."""


def check_stored(batches: Buffer, *, end_offset: int, latest_epoch: int) -> Sound:
    """Check whole batches that were read from a log.

    All their offsets are below ``end_offset``; ``latest_epoch`` is the newest leader epoch of the
    log. Offsets may have gaps, because the log may be or have been compacted.
    """
    view = memoryview(batches)
    size = len(view)
    position = 0
    next_offset = epoch = -1
    while position < size:
        if size - position < HEADER_SIZE:
            return Sound(position, "a batch is cut off")
        base, length, batch_epoch, magic, crc, delta = _HEAD.unpack_from(view, position)
        end = position + _LENGTH_COUNTS_FROM + length
        if magic != _MAGIC or length < HEADER_SIZE - _LENGTH_COUNTS_FROM or end > size:
            return Sound(position, f"magic {magic} or length {length} at offset {base} is wrong")
        if crc32c.crc32c(view[position + CHECKED_OFFSET : end]) != crc:
            return Sound(position, f"the checksum of the batch at offset {base} is wrong")
        if base < next_offset or base + delta >= end_offset:
            return Sound(position, f"a batch at offset {base} cannot be at this place")
        if not epoch <= batch_epoch <= latest_epoch:
            return Sound(position, f"the batch at offset {base} cannot have epoch {batch_epoch}")
        next_offset, epoch = base + delta + 1, batch_epoch
        position = end
    return Sound(size, None)
