"""Opening a log: what was closed cleanly or flushed is trusted, everything else is checked.

After an unclean shutdown the batches from the recovery point on are read and their checksums
verified. The log ends before the first batch that is short or damaged; later segments are dropped
(LogLoader, LogSegment.recover). Only what lies after the recovery point is read.

What lies before the recovery point was durable. The crash did not damage it, so nothing is
truncated because of damage there: intact records may follow, on which another replica depends.
"""

import contextlib
import logging
from collections.abc import Iterator
from itertools import pairwise
from uuid import UUID

import crc32c

from ballast.model.ids import TopicPartition
from ballast.model.settings.values import INT_MAX
from ballast.protocol.errors import RecordsError
from ballast.protocol.records import (
    CHECKED_OFFSET,
    HEADER_SIZE,
    BatchHeader,
    read_batch_header,
)
from ballast.replication.leader_epochs import LeaderEpochCache
from ballast.replication.producer_state import ProducerStates
from ballast.storage.errors import CorruptCheckpoint, CorruptLog
from ballast.storage.files.checkpoints import decode_epochs, decode_partition_metadata
from ballast.storage.files.layout import (
    LEADER_EPOCHS,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    PARTITION_METADATA,
    RETIRED_SUFFIX,
    TIME_INDEX_SUFFIX,
    parse_segment_file,
)
from ballast.storage.files.ports import Files
from ballast.storage.log.config import LogConfig
from ballast.storage.log.durable_log import LogState
from ballast.storage.log.log import Log
from ballast.storage.log.producer_snapshots import SnapshotFiles
from ballast.storage.log.segment import Segment, mark_of
from ballast.storage.log.segment_swap import finish_swaps
from ballast.storage.log.segments import Segments

log = logging.getLogger(__name__)

CHUNK_BYTES = 1 << 20


def open_log(  # noqa: PLR0913 - what the checkpoints say comes in by name
    files: Files,
    directory: str,
    partition: TopicPartition,
    config: LogConfig,
    *,
    recovery_point: int = 0,
    log_start_offset: int = 0,
    clean: bool = False,
) -> Log:
    """Open the log in ``directory``, which exists; an empty one begins at ``log_start_offset``.

    ``clean`` says that it was closed cleanly; otherwise it is checked from ``recovery_point`` on.
    Raises `DiskError`, and `CorruptLog` if a part that was flushed cannot be decoded.
    """
    segments, log_end_offset = _open_segments(
        files, directory, config, log_start_offset, None if clean else recovery_point
    )
    if clean and recovery_point and log_end_offset != recovery_point:
        # A clean shutdown records where the log ends, and checksums do not cover offsets.
        segments.release()
        segments, log_end_offset = _open_segments(
            files, directory, config, log_start_offset, recovery_point
        )
        if log_end_offset < recovery_point:
            raise CorruptLog(f"{directory} ends at {log_end_offset}, not at {recovery_point}")
    log_start_offset = max(log_start_offset, segments.first.base_offset)
    recovery_point = log_end_offset if clean else min(recovery_point, log_end_offset)
    epochs, epochs_saved = _load_epochs(files, directory, segments, recovery_point)
    epochs.truncate_from_end(log_end_offset)
    epochs.truncate_from_start(log_start_offset)
    state = LogState(
        segments=segments,
        snapshots=SnapshotFiles(files, directory),
        epochs=epochs,
        epochs_saved=epochs_saved and clean,
        producers=ProducerStates(config.producer_id_expiration_ms),
        log_start_offset=log_start_offset,
        log_end_offset=log_end_offset,
        recovery_point=recovery_point,
        topic_id=_load_topic_id(files, directory),
    )
    opened = Log(files, directory, partition, config, state)
    if log_end_offset < log_start_offset:
        opened.truncate_fully_and_start_at(log_start_offset)
    opened.reload_producers()
    return opened


def recover_segment(segment: Segment, size: int, recovery_point: int) -> tuple[int, bool]:
    """Verify a segment after ``recovery_point``, truncate it at damage, complete its indexes.

    ``size`` is the file's. Return the offset after the last batch, and whether anything was
    truncated. Raises `CorruptLog` for damage before the recovery point that cannot be skipped.
    """
    segment.size = size
    segment.load_indexes(verify=True)
    segment.offset_index.keep_below(recovery_point, size)
    entry = segment.offset_index.last()
    if entry is not None:
        batches = _verified_batches(segment, entry.position, recovery_point)
        _, first, _ = next(batches, (0, None, False))
        if first is None or first.last_offset != entry.last_offset:
            segment.offset_index.file.keep(0)
            entry = None
    segment.time_index.keep_up_to(entry.last_offset if entry else segment.base_offset - 1)
    segment.begin_tail()
    end = entry.position if entry else 0
    before = next_offset = segment.base_offset
    was_durable = next_offset < recovery_point
    for position, header, is_sound in _verified_batches(segment, end, recovery_point):
        if not next_offset <= header.base_offset <= segment.base_offset + INT_MAX:
            # Checksums do not cover offsets: the batch before may be the wrong one.
            was_durable = before < recovery_point
            break
        segment.note(position, mark_of(header))
        before, next_offset = next_offset, header.next_offset
        end = position + header.size
        # A wrong length leads to an invalid position, and fails the checksum.
        was_durable = next_offset < recovery_point or not is_sound
    if end < size and was_durable:
        raise CorruptLog(f"{segment.path} at {end}: a header is damaged that was durable")
    segment.size = end
    if end < size:
        log.warning("%s: cut from %d to %d bytes by recovery", segment.path, size, end)
        segment.cut_file()
    return next_offset, end < size


def _open_segments(
    files: Files,
    directory: str,
    config: LogConfig,
    log_start_offset: int,
    recovery_point: int | None,
) -> tuple[Segments, int]:
    found = [
        Segment(files, directory, base_offset, config.index_interval_bytes)
        for base_offset in _base_offsets(files, directory)
    ]
    if not found:
        segment = Segment(files, directory, log_start_offset, config.index_interval_bytes)
        segment.create()
        if config.preallocate:
            segment.reserve(config.segment_bytes)
        segments = Segments(files, directory, [segment])
        segments.names_changed = True
        return segments, log_start_offset
    unverified = len(found) - 1
    if recovery_point is not None:
        below = sum(segment.base_offset <= recovery_point for segment in found)
        unverified = max(0, below - 1)
    for segment, following in pairwise(found[: unverified + 1]):
        segment.open_sealed(following.base_offset)
    if recovery_point is None:
        return Segments(files, directory, found), found[-1].open_active()
    return _recover_from(files, directory, found, unverified, recovery_point)


def _recover_from(
    files: Files, directory: str, found: list[Segment], number: int, recovery_point: int
) -> tuple[Segments, int]:
    next_offset = found[number].base_offset
    good = number
    damaged = False
    while good < len(found) and not damaged and found[good].base_offset == next_offset:
        segment = found[good]
        if good > number:
            found[good - 1].seal(next_offset)
            found[good - 1].release()
        next_offset, damaged = recover_segment(segment, files.size(segment.path), recovery_point)
        good += 1
    for lost in reversed(found[good:]):
        lost.remove()
    segments = Segments(files, directory, found[:good])
    segments.names_changed = True
    segments.flush_names()
    return segments, next_offset


def _verified_batches(
    segment: Segment, position: int, recovery_point: int
) -> Iterator[tuple[int, BatchHeader, bool]]:
    """Yield position, header and whether the checksum is right, until the first damage.

    A wrong checksum does not end batches before ``recovery_point``.
    """
    chunk = memoryview(b"")
    chunk_position = position
    while position < segment.size:
        start = position - chunk_position
        if len(chunk) - start < HEADER_SIZE:
            chunk = memoryview(segment.read_at(position, CHUNK_BYTES))
            chunk_position, start = position, 0
        try:
            header = read_batch_header(chunk, start)
        except RecordsError:
            return
        if position + header.size > segment.size:
            return
        if len(chunk) - start < header.size:
            chunk = memoryview(segment.read_at(position, max(CHUNK_BYTES, header.size)))
            chunk_position, start = position, 0
        is_sound = crc32c.crc32c(chunk[start + CHECKED_OFFSET : start + header.size]) == header.crc
        if not is_sound and header.next_offset > recovery_point:
            return
        yield position, header, is_sound
        position += header.size


def _base_offsets(files: Files, directory: str) -> list[int]:
    finish_swaps(files, directory)
    names = files.names(directory)
    found = {
        base_offset
        for name in names
        if (base_offset := parse_segment_file(name, LOG_SUFFIX)) is not None
    }
    for name in names:
        if name.endswith(RETIRED_SUFFIX):
            files.remove(f"{directory}/{name}")
            continue
        for suffix in (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX):
            base_offset = parse_segment_file(name, suffix)
            if base_offset is not None and base_offset not in found:
                files.remove(f"{directory}/{name}")
    return sorted(found)


def _load_epochs(
    files: Files, directory: str, segments: Segments, recovery_point: int
) -> tuple[LeaderEpochCache, bool]:
    """Return the leader epochs, and whether their file could be read.

    The file is right up to the recovery point. After it, and everywhere if the file is missing or
    damaged, the batches contain the epochs under which they were written.
    """
    path = f"{directory}/{LEADER_EPOCHS}"
    entries = None
    if files.exists(path):
        with contextlib.suppress(CorruptCheckpoint):
            entries = decode_epochs(files.read_whole(path))
    start = segments.first.base_offset if entries is None else recovery_point
    epochs = LeaderEpochCache(entries or ())
    epochs.truncate_from_end(start)
    for header in segments.batches_from(start):
        if header.partition_leader_epoch >= 0 and header.base_offset >= start:
            epochs.assign(header.partition_leader_epoch, header.base_offset)
    return epochs, entries is not None


def _load_topic_id(files: Files, directory: str) -> UUID | None:
    path = f"{directory}/{PARTITION_METADATA}"
    return decode_partition_metadata(files.read_whole(path)) if files.exists(path) else None
