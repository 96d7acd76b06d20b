"""The states of partitions and replicas, and the tables of valid previous states.

Partition (Kafka's ``PartitionState``)::

    NonExistentPartition ─► NewPartition ─► OnlinePartition ◄─► OfflinePartition ─► NonExistent
                                 └──────────────► OfflinePartition

- *NonExistent*: never created, or created and then deleted.
- *New*: replicas are assigned; no leader and no ISR yet.
- *Online*: a leader has been elected.
- *Offline*: the leader failed, or the topic is being deleted.

Replica (Kafka's ``ReplicaState``)::

    NonExistentReplica ─► NewReplica ─► OnlineReplica ◄─► OfflineReplica ─► DeletionStarted
                                                              ▲                 │      │
                              (retry) DeletionIneligible ─────┘ ◄───────────────┘      ▼
                                                           NonExistent ◄── DeletionSuccessful

- *New*: created for a new topic or a reassignment; may only follow.
- *Online*: started, and part of the assignment: may lead or follow.
- *Offline*: its broker failed, or it was stopped.
- *DeletionStarted*: StopReplica with delete was sent. *DeletionSuccessful*: the broker has deleted
  the data. *DeletionIneligible*: the broker or its disk failed; deletion is retried.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from ballast.model.ids import TopicPartition


class Replica(msgspec.Struct, frozen=True, order=True, gc=False):
    """One partition's copy on one broker; ordered by topic, partition, broker."""

    topic_partition: TopicPartition
    broker_id: int

    def __str__(self) -> str:
        return f"{self.topic_partition} on {self.broker_id}"


class PartitionState(StrEnum):
    """States of a partition."""

    NON_EXISTENT = "NonExistentPartition"
    NEW = "NewPartition"
    ONLINE = "OnlinePartition"
    OFFLINE = "OfflinePartition"


class ReplicaState(StrEnum):
    """States of a replica."""

    NON_EXISTENT = "NonExistentReplica"
    NEW = "NewReplica"
    ONLINE = "OnlineReplica"
    OFFLINE = "OfflineReplica"
    DELETION_STARTED = "ReplicaDeletionStarted"
    DELETION_SUCCESSFUL = "ReplicaDeletionSuccessful"
    DELETION_INELIGIBLE = "ReplicaDeletionIneligible"


_P = PartitionState
_R = ReplicaState

VALID_PREVIOUS_PARTITION_STATES: Mapping[PartitionState, frozenset[PartitionState]] = {
    _P.NEW: frozenset({_P.NON_EXISTENT}),
    _P.ONLINE: frozenset({_P.NEW, _P.ONLINE, _P.OFFLINE}),
    _P.OFFLINE: frozenset({_P.NEW, _P.ONLINE, _P.OFFLINE}),
    _P.NON_EXISTENT: frozenset({_P.OFFLINE}),
}

VALID_PREVIOUS_REPLICA_STATES: Mapping[ReplicaState, frozenset[ReplicaState]] = {
    _R.NEW: frozenset({_R.NON_EXISTENT}),
    _R.ONLINE: frozenset({_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE}),
    _R.OFFLINE: frozenset({_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE}),
    _R.DELETION_STARTED: frozenset({_R.OFFLINE}),
    _R.DELETION_SUCCESSFUL: frozenset({_R.DELETION_STARTED}),
    _R.DELETION_INELIGIBLE: frozenset({_R.OFFLINE, _R.DELETION_STARTED}),
    _R.NON_EXISTENT: frozenset({_R.DELETION_SUCCESSFUL}),
}
