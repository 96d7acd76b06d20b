"""The log of one partition: appends, reads, truncation.

A leader's append costs one header and checksum check per batch, two small writes into the received
buffer (offset and leader epoch, both outside the checksum) and one write to the file. Nothing is
fsynced on append: `flush` makes everything durable and moves `recovery_point`, up to which a
restart trusts the disk. Leader epochs reach their file at a flush too; recovery finds the later
ones in the batches. A write that fails fences the log until it is reopened through recovery.

`ballast.storage.log.recovery.open_log` makes the objects of this class.
"""

from collections.abc import Sequence

from ballast.model.ids import TopicPartition
from ballast.protocol.records import SIZE_PREFIX, BatchHeader, assign_offset, check_batches
from ballast.replication.leader_epochs import EpochEntry
from ballast.storage.errors import (
    AppendTooLarge,
    OffsetOutOfRange,
    StaleLeaderEpoch,
)
from ballast.storage.files.descriptors import Buffer
from ballast.storage.files.durability import run
from ballast.storage.files.ports import Files
from ballast.storage.log.append_validation import (
    AppendInfo,
    check_fetched,
    epochs_begun,
    find_duplicate,
    must_roll,
)
from ballast.storage.log.config import LogConfig
from ballast.storage.log.durable_log import DurableLog, LogState
from ballast.storage.log.preparation import changes_batches, prepare
from ballast.storage.log.segment import BatchMark, Segment, mark_of
from ballast.storage.log.segment_swap import swap_in
from ballast.storage.log.segments import LogPosition
from ballast.storage.log.timestamps import find_timestamp


class Log(DurableLog):
    """One partition's log. Methods raise `StorageError`; appends also the records' own errors."""

    def __init__(
        self,
        files: Files,
        directory: str,
        partition: TopicPartition,
        config: LogConfig,
        state: LogState,
    ) -> None:
        super().__init__(files, directory, partition, state)
        self._config = config
        self._prepares = changes_batches(config)

    @property
    def config(self) -> LogConfig:
        """The settings, which may be replaced at any time."""
        return self._config

    @config.setter
    def config(self, config: LogConfig) -> None:
        self._config = config
        self._prepares = changes_batches(config)
        self.segments.active.index_interval_bytes = config.index_interval_bytes

    @property
    def size_bytes(self) -> int:
        """Bytes of all batches."""
        return self.segments.size_bytes

    @property
    def segment_count(self) -> int:
        """Number of segments."""
        return len(self.segments)

    def append_as_leader(
        self, records: memoryview, *, leader_epoch: int, now_ms: int
    ) -> AppendInfo:
        """Append the batches of a producer, under new offsets.

        ``records`` is patched in place if it is writable, otherwise copied. Raises the errors of
        `ballast.protocol.errors.RecordsError` and of `ballast.replication.producer_state`,
        `AppendTooLarge`, `StaleLeaderEpoch` and `LogFailed`; nothing is appended then.
        """
        self._check_usable()
        latest_epoch = self.leader_epochs.latest_epoch
        if leader_epoch < latest_epoch:
            raise StaleLeaderEpoch(f"epoch {leader_epoch} is older than {latest_epoch}")
        batches = check_batches(records, self._config.max_message_bytes)
        duplicate = find_duplicate(batches, self.producers, now_ms)
        if duplicate is not None:
            return AppendInfo(*duplicate, self.log_start_offset, True, 0, 0)
        if self._prepares:
            records, batches = prepare(records, batches, self._config, now_ms)
        if len(records) > self._config.segment_bytes:
            raise AppendTooLarge(f"{len(records)} bytes exceed segment.bytes")
        if leader_epoch > latest_epoch:
            self.begin_leader_epoch(leader_epoch)
        if records.readonly:
            records = memoryview(bytearray(records))
        offset = self.log_end_offset
        marks = []
        for position, header in batches:
            assign_offset(records, position, offset, leader_epoch)
            last_offset = offset + header.last_offset_delta
            size = SIZE_PREFIX + header.batch_length
            marks.append(BatchMark(position, size, last_offset, header.max_timestamp))
            offset = last_offset + 1
        info = self._write(records, marks, now_ms)
        for mark, (_, header) in zip(marks, batches, strict=True):
            if header.producer_id >= 0:
                base_offset = mark.last_offset - header.last_offset_delta
                self.producers.record(header, base_offset, now_ms)
        return info

    def append_as_follower(
        self,
        records: memoryview,
        *,
        batches: Sequence[tuple[int, BatchHeader]] | None = None,
        now_ms: int | None = None,
    ) -> AppendInfo:
        """Append batches of the leader's log with their offsets and epochs.

        The batches must continue at the end of the log. ``batches`` is what `check_fetched`
        returned for ``records``, if it was called. ``now_ms`` is the time of the last activity of
        the producers. Raises `RecordsError`, `UnexpectedOffset`, `StaleLeaderEpoch` and
        `LogFailed`; nothing is appended then.
        """
        self._check_usable()
        if batches is None:
            batches = check_fetched(records)
        if not batches:
            end = self.log_end_offset
            return AppendInfo(end, end - 1, -1, self.log_start_offset, False, 0, 0)
        for epoch, offset in epochs_begun(batches, self.log_end_offset, self.leader_epochs):
            self._epoch_file.changed(self.leader_epochs.assign(epoch, offset))
        marks = [mark_of(header, position) for position, header in batches]
        info = self._write(records, marks, now_ms)
        for _, header in batches:
            if header.producer_id >= 0 and not header.is_control:
                self.producers.record(header, header.base_offset, now_ms)
        return info

    def begin_leader_epoch(self, epoch: int) -> None:
        """Record that ``epoch`` begins at the end of the log; a new leader calls it first."""
        self._check_usable()
        self._epoch_file.changed(self.leader_epochs.assign(epoch, self.log_end_offset))

    def read(
        self,
        offset: int,
        *,
        max_bytes: int,
        upper_offset: int | None = None,
        at_least_one_batch: bool = True,
    ) -> bytes | memoryview:
        """Return whole batches from the one that holds ``offset`` on, as they are in the file.

        At most ``max_bytes``, unless the first batch alone is larger and ``at_least_one_batch``; no
        batch with an offset at or above ``upper_offset``; never beyond the end of a segment. A
        large result is a view of the file, for sending (`File.view`). Raises `OffsetOutOfRange`
        outside the log, `CorruptLog` for headers that cannot be decoded.
        """
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise OffsetOutOfRange(offset, self.log_start_offset, self.log_end_offset)
        if upper_offset is None or upper_offset > self.log_end_offset:
            upper_offset = self.log_end_offset
        if offset >= upper_offset:
            return b""
        return self.segments.read(
            offset, upper_offset, max_bytes, at_least_one_batch=at_least_one_batch
        )

    def position_of(self, offset: int) -> LogPosition:
        """Return where the records from ``offset`` on begin, without reading them.

        Valid until the log is truncated or the segment is compacted. Raises `OffsetOutOfRange`
        outside the log, `CorruptLog` for headers that cannot be decoded, `DiskError`.
        """
        if offset == self.log_end_offset:
            active = self.segments.active
            return LogPosition(active.base_offset, active.size)
        if not self.log_start_offset <= offset < self.log_end_offset:
            raise OffsetOutOfRange(offset, self.log_start_offset, self.log_end_offset)
        return self.segments.position_of(offset)

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """Return (epoch, end offset) for OffsetForLeaderEpoch."""
        return self.leader_epochs.end_offset_for(epoch, self.log_end_offset)

    def offset_for_timestamp(self, timestamp_ms: int) -> tuple[int, int] | None:
        """Return (timestamp, offset) of the first record at or after ``timestamp_ms``.

        For a batch that cannot be decoded it is the batch's first offset.
        """
        return find_timestamp(self.segments, timestamp_ms, self.log_start_offset)

    def truncate_to(self, offset: int) -> None:
        """Truncate every batch with an offset at or above ``offset``, durably.

        A batch that begins below is removed whole: `log_end_offset` may end up below ``offset``.
        """
        self._check_usable()
        if offset >= self.log_end_offset:
            # A leader that appended nothing may have left an epoch at the end (Log.truncateTo).
            self._epoch_file.changed(self.leader_epochs.truncate_from_end(offset))
            return
        if offset <= self.segments.first.base_offset:
            self.truncate_fully_and_start_at(max(offset, 0))
            return
        with self._fenced("truncate"):
            self._lower_recovery_point(offset)
            self.log_end_offset = self.segments.truncate(offset)
            self._lower_recovery_point(self.log_end_offset)
            self.log_start_offset = min(self.log_start_offset, self.log_end_offset)
            self.reload_producers()
        self._epoch_file.changed(self.leader_epochs.truncate_from_end(self.log_end_offset))

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Remove all records, durably; the next append is at ``offset``."""
        self._check_usable()
        with self._fenced("truncate"):
            self._lower_recovery_point(min(offset, self.log_start_offset))
            self.segments.restart_at(offset)
            self._snapshots.clear()
            self._epoch_file.changed(self.leader_epochs.clear())
            run(self._epoch_flushes())
        self.producers.clear()
        self.log_start_offset = self.log_end_offset = self.recovery_point = offset

    def take_epochs(self, entries: Sequence[EpochEntry]) -> None:
        """Take over the leader epochs of the log that this one copies, empty ones included."""
        self._epoch_file.changed(self.leader_epochs.replace(entries))

    def relocate(self, directory: str) -> None:
        """Continue in a directory that was renamed to ``directory``."""
        self.directory = directory
        self.segments.relocate(directory)
        self._snapshots.directory = directory

    def raise_log_start_offset(self, offset: int) -> None:
        """Remove records below ``offset``: whole segments are dropped, the rest is hidden."""
        self._check_usable()
        if offset <= self.log_start_offset:
            return
        if offset > self.log_end_offset:
            raise OffsetOutOfRange(offset, self.log_start_offset, self.log_end_offset)
        self.log_start_offset = offset
        self._epoch_file.changed(self.leader_epochs.truncate_from_start(offset))
        self.drop_hidden_segments()

    def drop_hidden_segments(self) -> None:
        """Drop the segments below the log start offset."""
        with self._fenced("remove segments"):
            self.segments.retire_below(self.log_start_offset)

    def replace_segments(self, old: Sequence[Segment], new: Segment) -> None:
        """Replace ``old`` by ``new``, which compaction made of them."""
        with self._fenced("compaction"):
            swap_in(self.segments, old, new)

    def roll(self) -> None:
        """Begin a new segment, unless the last one is empty."""
        self._check_usable()
        if self.segments.active.size:
            with self._fenced("roll"):
                self._roll(self.segments.make_next(self.log_end_offset))

    def _roll(self, following: Segment) -> None:
        self.segments.roll(following, self._config.preallocated_bytes)
        self._take_snapshot()

    def reload_producers(self) -> None:
        """Rebuild the producer states: newest snapshot, then the headers after it."""
        latest = self._snapshots.latest(self.log_end_offset)
        offset, producers = latest or (self.log_start_offset, [])
        self.producers.load(producers)
        if offset < self.log_end_offset:
            for header in self.segments.batches_from(offset):
                if header.producer_id >= 0 and not header.is_control:
                    self.producers.record(header, header.base_offset)

    def _write(self, records: Buffer, marks: Sequence[BatchMark], now_ms: int | None) -> AppendInfo:
        size_bytes = len(records)
        first_offset = self.log_end_offset
        with self._fenced_unless_passing("append"):
            rolls = must_roll(self.segments.active, size_bytes, marks, self._config, now_ms)
            following = self.segments.make_next(self.log_end_offset) if rolls else None
            self.segments.active.open()
        with self._fenced("append"):
            if following is not None:
                self._roll(following)
            self.segments.active.append(records, marks)
        last_offset = marks[-1].last_offset
        self.log_end_offset = last_offset + 1
        if self.log_end_offset - self.recovery_point >= self._config.flush_messages:
            with self._fenced("append"):
                self.flush()
        return AppendInfo(
            first_offset,
            last_offset,
            max([mark.max_timestamp for mark in marks]),
            self.log_start_offset,
            False,
            len(marks),
            size_bytes,
        )
