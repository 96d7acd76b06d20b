"""Topics: creation, and what other tools write under /brokers/topics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    """One topic to be created."""

    topic: str
    topic_id: UUID
    """Drawn by the caller: cores know no chance."""
    num_partitions: int = -1
    """-1 = the cluster's default, and with ``assignment``."""
    replication_factor: int = -1
    """-1 = the cluster's default, and with ``assignment``."""
    assignment: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Replicas by partition when the client places them itself; else empty."""
    config: Mapping[str, str] = field(default_factory=dict)
    """Overrides; the caller has checked their names and values."""
    start_index: int = 0
    """Where placement begins, any number >= 0: random in production."""
    shift: int = 0
    """Distance between leader and first follower, any number >= 0: random in production."""
