"""What a segment must know of a batch that is appended to it."""

from typing import NamedTuple

from ballast.protocol.records import BatchHeader


class BatchMark(NamedTuple):
    """One batch among the bytes that are appended."""

    position: int
    """Relative to the bytes that are appended."""
    size: int
    last_offset: int
    max_timestamp: int


def mark_of(header: BatchHeader, position: int = 0) -> BatchMark:
    """Return the mark of a batch whose header holds its final offset."""
    return BatchMark(position, header.size, header.last_offset, header.max_timestamp)
