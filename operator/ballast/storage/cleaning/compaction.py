"""Which part of a compacted log is dirty, whether cleaning is due, and how segments are grouped.

Rules (Kafka 2.8 ``LogCleanerManager``, ``Cleaner``):

* The dirty part begins at the cleaner's checkpoint and ends at the first of: the high watermark,
  the last segment, a segment with a record younger than ``min.compaction.lag.ms``; whole segments
  only.
* A checkpoint outside the log counts as the log's start.
* A log is cleaned when more than ``min.cleanable.dirty.ratio`` of what can be cleaned is dirty, or
  when its oldest dirty batch is older than ``max.compaction.lag.ms``.
* A tombstone is removed from a segment that was last modified ``delete.retention.ms`` before the
  last clean one: never in the pass that first cleans it, so that consumers read it in time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ballast.model.settings.values import INT_MAX
from ballast.storage.log.log import Log
from ballast.storage.log.segment import Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanable:
    """The part of one log that could be cleaned now."""

    first_dirty_offset: int
    first_uncleanable_offset: int
    """The end: the base offset of a segment, or the first dirty offset if it is empty."""
    clean_bytes: int
    dirty_bytes: int
    is_overdue: bool
    """Whether its oldest batch is older than ``max.compaction.lag.ms``."""
    checkpoint_is_wrong: bool
    """Whether the checkpoint lies outside the log."""

    @property
    def dirty_ratio(self) -> float:
        """The dirty fraction of what would be read."""
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    def is_due(self, min_dirty_ratio: float) -> bool:
        """Whether the log is to be cleaned."""
        if not self.dirty_bytes:
            return False
        return self.is_overdue or self.dirty_ratio > min_dirty_ratio


def find_cleanable(
    log: Log, checkpoint: int | None, *, high_watermark: int, now_ms: int
) -> Cleanable:
    """Return the cleanable part of ``log``; raises `StorageError`.

    ``checkpoint`` is where the last cleaning ended; ``now_ms`` is on the clock of the timestamps.
    """
    is_wrong = checkpoint is not None and not (
        log.log_start_offset <= checkpoint <= log.log_end_offset
    )
    first_dirty = log.log_start_offset if checkpoint is None or is_wrong else checkpoint
    sealed = [segment for segment in log.segments if segment.sealed]
    dirty = [segment for segment in sealed if _end(segment) > first_dirty]
    limit = min(high_watermark, log.segments.active.base_offset)
    young_ms = now_ms - log.config.min_compaction_lag_ms
    cleanable = []
    for segment in dirty:
        if _end(segment) > limit:
            break
        if log.config.min_compaction_lag_ms > 0 and segment.largest_timestamp() > young_ms:
            break
        cleanable.append(segment)
    return Cleanable(
        first_dirty_offset=first_dirty,
        first_uncleanable_offset=_end(cleanable[-1]) if cleanable else first_dirty,
        clean_bytes=sum(segment.size for segment in sealed if segment.base_offset < first_dirty),
        dirty_bytes=sum(s.size for s in cleanable if s.base_offset >= first_dirty)
        + _rest_of(log, cleanable, first_dirty),
        is_overdue=_is_overdue(log, dirty, now_ms),
        checkpoint_is_wrong=is_wrong,
    )


def _rest_of(log: Log, cleanable: Sequence[Segment], first_dirty: int) -> int:
    """Return the dirty bytes of a segment within which an earlier cleaning ended."""
    if not cleanable or cleanable[0].base_offset >= first_dirty:
        return 0
    segment = log.segments.opened(cleanable[0])
    return segment.size - segment.position_of(first_dirty)


def _is_overdue(log: Log, dirty: Iterable[Segment], now_ms: int) -> bool:
    oldest = now_ms - log.config.max_compaction_lag_ms
    if oldest <= 0:
        return False
    return any(0 < log.segments.opened(s).first_timestamp() < oldest for s in dirty)


def delete_horizon_ms(log: Log, first_dirty_offset: int) -> int:
    """Return the newest modification time of segments whose tombstones may be removed."""
    clean = [s for s in log.segments if s.base_offset < first_dirty_offset]
    return clean[-1].modified_ms() - log.config.delete_retention_ms if clean else 0


def grouped(segments: Iterable[Segment], segment_bytes: int) -> list[list[Segment]]:
    """Return segments, oldest first, in groups that fit into one segment each."""
    groups: list[list[Segment]] = []
    size = 0
    for segment in segments:
        fits = groups and (
            size + segment.size <= segment_bytes
            and _end(segment) - 1 - groups[-1][0].base_offset <= INT_MAX
        )
        if fits:
            groups[-1].append(segment)
            size += segment.size
        else:
            groups.append([segment])
            size = segment.size
    return groups


def _end(segment: Segment) -> int:
    assert segment.end_offset is not None, "the last segment is never cleaned"
    return segment.end_offset
