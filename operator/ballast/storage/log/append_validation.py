"""The conditions of an append, and its result: decisions from batch headers, no I/O."""

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from ballast.model.settings.values import INT_MAX
from ballast.protocol.errors import InvalidRecords
from ballast.protocol.records import (
    BatchHeader,
    check_batches,
    check_client_attributes,
)
from ballast.replication.leader_epochs import LeaderEpochCache
from ballast.replication.producer_state import Duplicate, ProducerStates
from ballast.storage.errors import StaleLeaderEpoch, UnexpectedOffset
from ballast.storage.log.config import LogConfig
from ballast.storage.log.index import OFFSET_ENTRY_BYTES, TIME_ENTRY_BYTES
from ballast.storage.log.segment import BatchMark, Segment

PositionedHeader = tuple[int, BatchHeader]


class AppendInfo(NamedTuple):
    """The result of an append."""

    first_offset: int
    last_offset: int
    """``first_offset`` - 1 if nothing was appended."""
    max_timestamp: int
    """Largest timestamp of the batches, in ms."""
    log_start_offset: int
    duplicate: bool
    """The batch was in the log already, at these offsets; nothing was written."""
    batches: int
    size_bytes: int


def find_duplicate(
    batches: Sequence[PositionedHeader], producers: ProducerStates, now_ms: int
) -> Duplicate | None:
    """Return where the log already has a producer's batch; raises if the sequence is not allowed.

    An idempotent producer sends one batch at a time (ProduceRequest.validateRecords).
    """
    for _, header in batches:
        check_client_attributes(header)
        if header.producer_id >= 0:
            if len(batches) > 1:
                raise InvalidRecords("an idempotent producer sends one batch at a time")
            verdict = producers.check(header, now_ms)
            if isinstance(verdict, Duplicate):
                return verdict
    return None


def check_fetched(records: memoryview) -> list[PositionedHeader]:
    """Return position and header of every batch that a leader sent; raises `RecordsError`."""
    return check_batches(records, INT_MAX, from_producer=False)


def epochs_begun(
    batches: Sequence[PositionedHeader], log_end_offset: int, epochs: LeaderEpochCache
) -> list[tuple[int, int]]:
    """Return the (epoch, start offset) of epochs that begin in the batches of a leader.

    Raises `UnexpectedOffset` where offsets go back, `StaleLeaderEpoch` where epochs decrease (P6:
    in a log they never do). Offsets may have gaps: the leader's log may be compacted.
    """
    expected = log_end_offset
    # An epoch that begins at the log end belongs to a leader that appended nothing.
    previous = epochs.epoch_at(expected - 1)
    known = epochs.latest_epoch
    begun = []
    for _, header in batches:
        if header.base_offset < expected:
            raise UnexpectedOffset(f"offset {header.base_offset} came, {expected} was expected")
        epoch = header.partition_leader_epoch
        if epoch < previous:
            raise StaleLeaderEpoch(f"epoch {epoch} at offset {expected} follows {previous}")
        if epoch != known and epoch >= 0:
            begun.append((epoch, header.base_offset))
            known = epoch
        previous = epoch
        expected = header.base_offset + header.last_offset_delta + 1
    return begun


def must_roll(
    segment: Segment,
    size_bytes: int,
    marks: Sequence[BatchMark],
    config: LogConfig,
    now_ms: int | None,
) -> bool:
    """Whether the batches belong in a new segment (LogSegment.shouldRoll).

    Age is the difference of batch timestamps; without timestamps it is the time on the clock of
    ``now_ms`` since the first append in this process.
    """
    if not segment.size:
        return False
    if segment.size + size_bytes > config.segment_bytes:
        return True
    if marks[-1].last_offset - segment.base_offset > INT_MAX:
        return True
    # A roll adds one more entry to the time index.
    most_index_bytes = config.segment_index_bytes
    if (
        OFFSET_ENTRY_BYTES * segment.offset_index.file.count >= most_index_bytes
        or TIME_ENTRY_BYTES * (segment.time_index.file.count + 1) >= most_index_bytes
    ):
        return True
    waited_ms = segment.waited_ms(marks[-1].max_timestamp, now_ms)
    if config.segment_jitter_ms:
        waited_ms += _jitter_ms(segment, config)
    return waited_ms > config.max_segment_ms


def _jitter_ms(segment: Segment, config: LogConfig) -> int:
    """Return by how much earlier a segment rolls, so that segments do not all roll at once.

    The number is derived from the segment and is the same after a restart (Kafka draws one at
    random for each segment that it opens; LogConfig.randomSegmentJitter).
    """
    return crc32(segment.path.encode()) % min(config.segment_jitter_ms, config.max_segment_ms)
