"""The control requests to brokers: LeaderAndIsr, UpdateMetadata and StopReplica as values.

`net.control_messages` turns them into wire messages.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import msgspec

from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr


class LeaderAndIsrEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The leader and ISR of one partition, for one of its replicas."""

    topic_partition: TopicPartition
    leader_and_isr: LeaderAndIsr
    replicas: tuple[int, ...]
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()
    is_new: bool = False
    """The receiver holds no data of this partition yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderAndIsrControlRequest:
    """LeaderAndIsr (4): become leader or follower."""

    controller_id: int
    controller_epoch: int
    broker_epoch: int
    entries: tuple[LeaderAndIsrEntry, ...]
    live_leaders: tuple[RegisteredBroker, ...]
    topic_ids: Mapping[str, UUID]


class MetadataEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The metadata of one partition that brokers answer to clients."""

    topic_partition: TopicPartition
    leader_and_isr: LeaderAndIsr
    """``leader`` is `LEADER_DURING_DELETE` while the topic is being deleted."""
    replicas: tuple[int, ...]
    offline_replicas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateMetadataControlRequest:
    """UpdateMetadata (6): live brokers, and the metadata of some partitions."""

    controller_id: int
    controller_epoch: int
    broker_epoch: int
    entries: tuple[MetadataEntry, ...]
    live_brokers: tuple[RegisteredBroker, ...]
    topic_ids: Mapping[str, UUID]


class StopReplicaEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One replica to stop."""

    topic_partition: TopicPartition
    leader_epoch: int
    """The partition's epoch; `EPOCH_DURING_DELETE` when the topic is being deleted."""
    delete: bool
    """Whether its data is deleted too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopReplicaControlRequest:
    """StopReplica (5): stop following or leading, and delete where asked."""

    controller_id: int
    controller_epoch: int
    broker_epoch: int
    entries: tuple[StopReplicaEntry, ...]


ControlRequest = (
    LeaderAndIsrControlRequest | UpdateMetadataControlRequest | StopReplicaControlRequest
)
