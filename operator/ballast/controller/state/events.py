"""The events that a controller handles.

Events of watches say only that something changed: the handler reads the store when it runs. Those
of responses carry the error codes. So events may be merged, repeated or delayed without harm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ballast.model.ids import TopicPartition


@dataclass(frozen=True, slots=True)
class BrokerChange:
    """The children of /brokers/ids, or one broker's registration, changed."""


@dataclass(frozen=True, slots=True)
class TopicChange:
    """The children of /brokers/topics changed."""


@dataclass(frozen=True, slots=True)
class PartitionModifications:
    """The znode of one topic changed."""

    topic: str


@dataclass(frozen=True, slots=True)
class TopicDeletion:
    """The children of /admin/delete_topics changed."""


@dataclass(frozen=True, slots=True)
class ZkPartitionReassignment:
    """/admin/reassign_partitions was created."""


@dataclass(frozen=True, slots=True)
class ZkPreferredElection:
    """/admin/preferred_replica_election was created."""


@dataclass(frozen=True, slots=True)
class IsrChangeNotification:
    """The children of /isr_change_notification changed."""


@dataclass(frozen=True, slots=True)
class LogDirEventNotification:
    """The children of /log_dir_event_notification changed."""


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """The children of /config/changes changed."""


@dataclass(frozen=True, slots=True)
class AutoPreferredReplicaLeaderElection:
    """It is time to check the share of partitions that are not led by their preferred replica."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderAndIsrAnswered:
    """A broker answered LeaderAndIsr."""

    broker_id: int
    error: str
    """Name of the top-level error code; ``NONE`` if the broker accepted the request."""
    partition_errors: Mapping[TopicPartition, str]
    """Every partition of the request with the name of its error code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopReplicaAnswered:
    """A broker answered StopReplica."""

    broker_id: int
    error: str
    partition_errors: Mapping[TopicPartition, str]
    deleted: frozenset[TopicPartition]
    """The partitions that the request asked to delete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateMetadataAnswered:
    """A broker answered UpdateMetadata."""

    broker_id: int
    error: str
    partitions: Sequence[TopicPartition]


Event = (
    BrokerChange
    | TopicChange
    | PartitionModifications
    | TopicDeletion
    | ZkPartitionReassignment
    | ZkPreferredElection
    | IsrChangeNotification
    | LogDirEventNotification
    | ConfigChange
    | AutoPreferredReplicaLeaderElection
    | LeaderAndIsrAnswered
    | StopReplicaAnswered
    | UpdateMetadataAnswered
)
