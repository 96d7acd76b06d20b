"""What of a log is durable: its recovery point, and the flushes that move it.

Nothing is fsynced on append. `DurableLog.flush` makes everything durable that was appended before
and then raises `DurableLog.recovery_point`, up to which a restart trusts the disk and above which
it reads and checks every batch. Leader epochs reach their file at a flush too; recovery finds
later ones in the batches. A truncation lowers the recovery point first: other records may be
appended in the place of those that were cut.
"""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from ballast.model.ids import TopicPartition
from ballast.replication.leader_epochs import LeaderEpochCache
from ballast.replication.producer_state import ProducerStates
from ballast.storage.files.checkpoints import encode_partition_metadata
from ballast.storage.files.durability import Flushes, run
from ballast.storage.files.layout import PARTITION_METADATA
from ballast.storage.files.ports import Files
from ballast.storage.log.epoch_file import EpochFile
from ballast.storage.log.log_fence import LogFence
from ballast.storage.log.producer_snapshots import SnapshotFiles
from ballast.storage.log.segments import Segments


@dataclass(slots=True, kw_only=True)
class LogState:
    """The state of a log on disk, as `ballast.storage.log.recovery.open_log` reads it."""

    segments: Segments
    snapshots: SnapshotFiles
    epochs: LeaderEpochCache
    epochs_saved: bool
    """Whether the file of leader epochs holds the same entries as ``epochs``."""
    producers: ProducerStates
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    topic_id: UUID | None


class DurableLog(LogFence):
    """The segments and files of one log. Methods raise `StorageError`."""

    def __init__(
        self, files: Files, directory: str, partition: TopicPartition, state: LogState
    ) -> None:
        super().__init__(partition)
        self.directory = directory
        self.leader_epochs = state.epochs
        """For reading; only the methods of the log change it."""
        self.producers = state.producers
        self.log_start_offset = state.log_start_offset
        self.log_end_offset = state.log_end_offset
        self.recovery_point = state.recovery_point
        """Everything below this offset is durable."""
        self.topic_id = state.topic_id
        self.on_recovery_point_lowered: Callable[[], None] = _ignore
        """Called by a truncation, before anything is appended in the place of what was cut."""
        self.segments = state.segments
        """For the other modules of this package."""
        self.files = files
        """For the other modules of this package."""
        self._snapshots = state.snapshots
        self._epoch_file = EpochFile(files, state.epochs, is_saved=state.epochs_saved)

    def assign_topic_id(self, topic_id: UUID) -> None:
        """Store, durably, the id of the topic that this log belongs to."""
        self._check_usable()
        if self.topic_id != topic_id:
            path = f"{self.directory}/{PARTITION_METADATA}"
            self.files.write_whole(path, encode_partition_metadata(topic_id))
            self.topic_id = topic_id

    def flush(self) -> None:
        """Return when everything appended is durable; raises what `flushes` raises."""
        run(self.flushes())

    def flushes(self) -> Flushes:
        """Make everything durable that was appended before; a failure fences the log.

        It is never retried: after a failed fsync the kernel drops what it could not write. What is
        appended in between is left for the next flush. If the end of the log is truncated in
        between, the recovery point stays where the truncation put it, because other records may be
        in that place. It also stays if leader epochs have changed in between: it covers those as
        well.
        """
        self._check_usable()
        end_offset, cuts = self.log_end_offset, self.segments.tail_cuts
        with self._fenced_unless_passing("flush"):
            if self.recovery_point < end_offset or self.segments.names_changed:
                for flush in self.segments.flushes(self.recovery_point, end_offset):
                    yield flush
                    if self._closed:
                        return
            yield from self._epoch_flushes()
        if self.segments.tail_cuts == cuts and self._epoch_file.is_saved and not self._closed:
            self.recovery_point = max(self.recovery_point, end_offset)

    def close(self, *, clean: bool) -> None:
        """Close the files; ``clean`` flushes first, so that opening needs no recovery."""
        if self._closed:
            return
        try:
            if clean and self.failure is None:
                self.segments.trim()
                if self.log_end_offset:
                    # An empty log has no producers to remember, and there may be thousands.
                    self._take_snapshot()
                    self._snapshots.flush()
                    self.segments.names_changed = True
                self.flush()
        finally:
            self._closed = True
            self.segments.release()

    def _epoch_flushes(self) -> Flushes:
        directory = self.directory
        return self._epoch_file.flushes(
            directory, lambda: not self._closed and self.directory == directory
        )

    def _take_snapshot(self) -> None:
        bases = {segment.base_offset for segment in self.segments}
        self._snapshots.take(self.log_end_offset, self.producers.snapshot(), bases)

    def _lower_recovery_point(self, offset: int) -> None:
        if offset < self.recovery_point:
            self.recovery_point = offset
            self.on_recovery_point_lowered()


def _ignore() -> None:
    """Do nothing: the default of a callback that is not set."""
