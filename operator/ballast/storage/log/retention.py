"""Which segments a log drops: by age, by size, and below the log start offset.

Rules (Kafka 2.8 ``Log.deleteOldSegments``). Segments are dropped from the oldest on, and only

* if all of a segment is below the high watermark, so that nothing is dropped that may still be lost
  or that a follower's leader may still truncate (KAFKA-5634);
* and it lies below the log start offset, or, under ``cleanup.policy=delete``, the log without it is
  still at least ``retention.bytes`` long, or its newest record is older than ``retention.ms``.

A segment without timestamps is as old as its file (LogSegment.largestTimestamp). The last segment
is dropped too if it holds records and all of them may go: an empty one replaces it.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ballast.storage.log.config import LogConfig
from ballast.storage.log.index import NO_TIMESTAMP
from ballast.storage.log.log import Log


class SegmentFacts(NamedTuple):
    """The properties of a segment that decide whether it is dropped."""

    end_offset: int
    """The offset after its last record."""
    size_bytes: int
    max_timestamp: int
    """Of its records, or of its file without timestamps, in ms; -1 for an empty segment."""


def start_of_what_stays(
    segments: Iterable[SegmentFacts],
    config: LogConfig,
    *,
    log_start_offset: int,
    high_watermark: int,
    now_ms: int,
) -> int:
    """Return the start of the log after the ``segments`` (oldest first) that may go are dropped.

    ``now_ms`` is on the clock of the records' timestamps.
    """
    segments = list(segments)
    bytes_too_many = _bytes_too_many(segments, config)
    start = log_start_offset
    for number, segment in enumerate(segments, 1):
        is_empty_end = number == len(segments) and not segment.size_bytes
        if is_empty_end or segment.end_offset > high_watermark:
            break
        is_below = number < len(segments) and segment.end_offset <= log_start_offset
        is_too_much = bytes_too_many >= segment.size_bytes
        if not (is_below or is_too_much or _is_too_old(segment, config, now_ms)):
            break
        bytes_too_many -= segment.size_bytes
        start = max(start, segment.end_offset)
    return start


def _bytes_too_many(segments: Iterable[SegmentFacts], config: LogConfig) -> int:
    """Return by how much the log exceeds its size; -1 without a limit."""
    if not config.is_deleted or config.retention_bytes < 0:
        return -1
    return max(-1, sum(segment.size_bytes for segment in segments) - config.retention_bytes)


def _is_too_old(segment: SegmentFacts, config: LogConfig, now_ms: int) -> bool:
    return (
        config.is_deleted
        and config.retention_ms >= 0
        and segment.max_timestamp > NO_TIMESTAMP
        and now_ms - segment.max_timestamp > config.retention_ms
    )


def apply_retention(log: Log, high_watermark: int, now_ms: int) -> bool:
    """Drop the segments of ``log`` that may go; return whether there were any.

    The log start offset moves up with them. Raises `LogFailed`.
    """
    segments = log.segments
    start = start_of_what_stays(
        (
            SegmentFacts(
                log.log_end_offset if segment.end_offset is None else segment.end_offset,
                segment.size,
                segment.largest_timestamp() if segment.size else NO_TIMESTAMP,
            )
            for segment in segments
        ),
        log.config,
        log_start_offset=log.log_start_offset,
        high_watermark=high_watermark,
        now_ms=now_ms,
    )
    if start >= log.log_end_offset:
        log.roll()
    before = len(segments)
    log.raise_log_start_offset(start)
    log.drop_hidden_segments()
    return len(segments) < before
