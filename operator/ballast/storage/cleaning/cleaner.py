"""Cleaning one log: only the newest record of each key is kept (Kafka 2.8 ``Cleaner.doClean``).

1. Flush the log, so that recovery never reads before what cleaning writes.
2. Map the keys of the dirty part to their newest offsets, as many as the map holds.
3. Write the segments up to there again without superseded records, several small ones as one.
4. Swap each new segment in (`ballast.storage.log.segment_swap`).

Kept although superseded: the last batch of an active producer and the last batch of a segment, as a
header without records. The latter leaves no gap between segments, because recovery takes a gap for
lost data; Kafka does not keep it.

`clean` is a generator: between two steps of bounded work, other work gets its turn.
"""

import contextlib
from collections.abc import Generator

from ballast.protocol.compression import decompress
from ballast.protocol.record_slices import slice_records
from ballast.protocol.records import HEADER_SIZE, BatchHeader
from ballast.storage.cleaning.batch_cleaning import STEP_RECORDS, clean_batch
from ballast.storage.cleaning.compaction import Cleanable, delete_horizon_ms, grouped
from ballast.storage.cleaning.latest_offsets import LatestOffsets
from ballast.storage.errors import CleaningAborted, StorageError
from ballast.storage.files.layout import CLEANED_SUFFIX
from ballast.storage.files.ports import Flush
from ballast.storage.log.log import Log
from ballast.storage.log.segment import BatchMark, Segment

STEP_BYTES = 256 * 1024
"""Bytes read in one step, unless a single batch is larger."""

Step = int | Flush
"""The bytes read and written since the last step, or a flush that must be waited for."""

Steps = Generator[Step, None, None]


def clean(log: Log, cleanable: Cleanable, keys_max: int) -> Generator[Step, None, int]:
    """Clean a log; return the offset up to which it is clean now.

    Yields after each step how many bytes were read and written, and each flush, whose failure must
    be thrown into the generator. Raises `CleaningAborted` when the log is truncated meanwhile,
    `RecordsError` for a batch that cannot be decoded, `StorageError`. Segments that were swapped in
    before that stay.
    """
    cleaning = _Cleaning(log, cleanable, keys_max)
    yield from log.flushes()
    cleaning.check()
    if log.recovery_point < cleanable.first_uncleanable_offset:
        raise CleaningAborted(f"{log.partition} has changed while it was made durable")
    yield from cleaning.map_keys()
    end_offset = cleaning.keys.latest_offset + 1
    sealed = [s for s in log.segments if s.sealed and s.base_offset < end_offset]
    for group in grouped(sealed, log.config.segment_bytes):
        yield from cleaning.clean_group(group)
    return end_offset


class _Cleaning:
    """One pass over one log."""

    def __init__(self, log: Log, cleanable: Cleanable, keys_max: int) -> None:
        self.keys = LatestOffsets(keys_max)
        self._log = log
        self._cleanable = cleanable
        self._cuts = log.segments.cuts
        self._horizon_ms = delete_horizon_ms(log, cleanable.first_dirty_offset)
        self._keeps_tombstones = True

    def map_keys(self) -> Steps:
        """Read the dirty part until its end or until the map is full."""
        start = self._cleanable.first_dirty_offset
        end = self._cleanable.first_uncleanable_offset
        for segment in self._log.segments.following(start):
            if segment.base_offset >= end:
                break
            position = self._log.segments.opened(segment).position_of(start)
            while position < segment.size:
                begin = position
                batches, position = self._read(segment, begin)
                for header, data in batches:
                    is_mapped = yield from self._map_batch(header, data, start)
                    if not is_mapped:
                        return
                yield position - begin
                self.check()
            assert segment.end_offset is not None
            self.keys.reach(segment.end_offset - 1)

    def _map_batch(
        self, header: BatchHeader, data: bytes, start: int
    ) -> Generator[int, None, bool]:
        """Return whether all keys of a batch are in the map."""
        if not header.is_control:
            payload = decompress(header.compression, data[HEADER_SIZE:])
            for number, record in enumerate(slice_records(payload, header.record_count)):
                if number % STEP_RECORDS == STEP_RECORDS - 1:
                    yield 0
                offset = header.base_offset + record.offset_delta
                if record.key is None or offset < start:
                    continue
                if not self.keys.put(record.key, offset):
                    return False
        if header.last_offset >= start:
            self.keys.reach(header.last_offset)
        return True

    def clean_group(self, group: list[Segment]) -> Steps:
        """Write the segments of a group as one new segment, and swap it in."""
        log = self._log
        cleaned = Segment(
            log.files,
            log.directory,
            group[0].base_offset,
            log.config.index_interval_bytes,
            CLEANED_SUFFIX,
        )
        is_used = False
        try:
            cleaned.create()
            changed = len(group) > 1
            for segment in group:
                self._keeps_tombstones = segment.modified_ms() > self._horizon_ms
                is_same = yield from self._copy(segment, cleaned, is_last=segment is group[-1])
                changed = changed or not is_same
            if changed:
                assert group[-1].end_offset is not None
                cleaned.seal(group[-1].end_offset)
                yield from cleaned.flushes()
                # The directory may have been renamed meanwhile, and another log may have its name.
                self.check()
                yield log.files.begin_flush_directory(log.directory)
                self.check()
                # The age of a tombstone is counted from this time.
                cleaned.set_modified_ms(group[-1].modified_ms())
                is_used = True
                log.replace_segments(group, cleaned)
        finally:
            if not is_used:
                with contextlib.suppress(StorageError):
                    cleaned.remove()

    def _copy(
        self, source: Segment, target: Segment, *, is_last: bool
    ) -> Generator[int, None, bool]:
        """Copy the kept part of a segment; return whether that was all of it.

        Yields after each step how many bytes were read and written.
        """
        position = 0
        is_same = True
        active = {p.producer_id: p.last_offset for p in self._log.producers.snapshot()}
        while position < source.size:
            begin = position
            batches, position = self._read(source, begin)
            kept = bytearray()
            marks = []
            for header, data in batches:
                is_end = is_last and header.next_offset == source.end_offset
                is_producers = active.get(header.producer_id) == header.last_offset
                keep_empty = is_end or is_producers
                rest = yield from clean_batch(data, header, self._keeps, keep_empty=keep_empty)
                is_same = is_same and rest is data
                if rest is not None:
                    marks.append(_mark(rest, len(kept), header))
                    kept += rest
            if marks:
                target.append(kept, marks)
            yield position - begin + len(kept)
            self.check()
        return is_same

    def _keeps(self, offset: int, key: bytes | None, has_value: bool) -> bool:
        if offset > self.keys.latest_offset:
            return True
        if key is None or self.keys.is_superseded(key, offset):
            return False
        return has_value or self._keeps_tombstones

    def _read(self, segment: Segment, position: int) -> tuple[list[tuple[BatchHeader, bytes]], int]:
        """Return the next few batches, and the position behind them."""
        self._log.segments.opened(segment)
        found = []
        size = records = 0
        for at, header in segment.scan(position):
            found.append((header, segment.read_at(at, header.size)))
            position = at + header.size
            size += header.size
            records += header.record_count
            if size >= STEP_BYTES or records >= STEP_RECORDS:
                break
        return found, position

    def check(self) -> None:
        """Raise `CleaningAborted` if the log has changed since the cleaning began."""
        log = self._log
        if log.segments.cuts != self._cuts or log.is_closed or log.failure is not None:
            raise CleaningAborted(f"{log.partition} has changed while it was cleaned")


def _mark(data: bytes, position: int, header: BatchHeader) -> BatchMark:
    max_timestamp = int.from_bytes(data[35:43], "big", signed=True)
    return BatchMark(position, len(data), header.last_offset, max_timestamp)
