"""What opening a log found."""

from dataclasses import dataclass
from uuid import UUID

from ballast.replication.leader_epochs import LeaderEpochCache
from ballast.replication.producer_state import ProducerStates
from ballast.storage.log.producer_snapshots import SnapshotFiles
from ballast.storage.log.segments import Segments


@dataclass(slots=True, kw_only=True)
class LogState:
    """What opening a log found; `Log` takes it over."""

    segments: Segments
    snapshots: SnapshotFiles
    epochs: LeaderEpochCache
    epochs_saved: bool
    """Whether the file of leader epochs says what ``epochs`` does."""
    producers: ProducerStates
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    topic_id: UUID | None
