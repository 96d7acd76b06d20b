"""The controller's ports: the metadata store and the channels to brokers.

Every method of `MetadataStore` may raise `StoreUnavailable`, every write `ControllerMoved`:
each write is one ZooKeeper multi that begins with a check of ``/controller_epoch``'s version.
If the reply to a write is lost, the adapter reads again to find out whether it was applied.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ballast.controller.state.control_requests import ControlRequest
from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChanges:
    """The entities whose configs have changed."""

    topics: frozenset[str] = frozenset()
    broker_defaults: bool = False
    """Whether the config of all brokers (``<default>``) has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateZnodeWrites:
    """The outcome of conditional writes to state znodes."""

    written: Mapping[TopicPartition, LeaderAndIsr]
    """With the new ``zk_version``."""
    stale: frozenset[TopicPartition]
    """Refused because the znode's version had changed (or it exists already): read it again."""


class MetadataStore(Protocol):
    """The cluster's metadata, as one elected controller may read and write it."""

    async def read_brokers(self) -> Sequence[RegisteredBroker]:
        """Return the registered brokers, each with its epoch; sets the watch of `BrokerChange`."""

    async def read_topic_names(self) -> frozenset[str]:
        """Return all topics; sets the watch of `TopicChange`."""

    async def read_topics(self, topics: Collection[str]) -> Mapping[str, TopicAssignment]:
        """Return the topics that exist; sets their watches of `PartitionModifications`."""

    async def read_leadership(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, LeaderAndIsr]:
        """Return the states of those partitions that have a state znode."""

    async def create_leadership(
        self, leadership: Mapping[TopicPartition, LeaderAndIsr]
    ) -> StateZnodeWrites:
        """Create the state znodes (and their parents) of new partitions."""

    async def update_leadership(
        self, leadership: Mapping[TopicPartition, LeaderAndIsr]
    ) -> StateZnodeWrites:
        """Write states, each on condition of its own ``zk_version``."""

    async def write_topics(self, topics: Collection[TopicAssignment]) -> None:
        """Write the assignments of existing topics, unconditionally but for the fence.

        Raises `StateChangeFailed` when one is larger than the store takes.
        """

    async def create_topic(self, topic: TopicAssignment, config: Mapping[str, str]) -> bool:
        """Write config, then assignment of a new topic; return False if it exists already."""

    async def delete_topic(self, topic: str) -> None:
        """Delete states, partitions, topic, config and the request for deletion, in this order."""

    async def read_topic_configs(self, topics: Collection[str]) -> Mapping[str, Mapping[str, str]]:
        """Return the config overrides of topics; a topic without any is left out."""

    async def read_broker_defaults(self) -> Mapping[str, str]:
        """Return the config overrides of all brokers (``<default>``)."""

    async def read_config_changes(self) -> ConfigChanges:
        """Return the changes since the last call, at first all; sets their watch."""

    async def read_topic_deletions(self) -> frozenset[str]:
        """Return the topics in /admin/delete_topics; sets the watch of `TopicDeletion`."""

    async def create_topic_deletion(self, topic: str) -> None:
        """Store the request to delete a topic, so that a later controller continues it."""

    async def remove_topic_deletions(self, topics: Collection[str]) -> None:
        """Remove requests for deletion that cannot be served."""

    async def read_reassignments(self) -> Mapping[TopicPartition, tuple[int, ...]]:
        """Return /admin/reassign_partitions; sets the watch of `ZkPartitionReassignment`.

        Unreadable content counts as none.
        """

    async def write_reassignments(
        self, reassignments: Mapping[TopicPartition, tuple[int, ...]]
    ) -> None:
        """Rewrite /admin/reassign_partitions; delete it when nothing is left."""

    async def read_preferred_elections(self) -> frozenset[TopicPartition]:
        """Return /admin/preferred_replica_election; sets the watch of `ZkPreferredElection`."""

    async def delete_preferred_elections(self) -> None:
        """Delete /admin/preferred_replica_election."""

    async def read_isr_notifications(self) -> Mapping[str, frozenset[TopicPartition]]:
        """Return the partitions of each notification; sets their watch."""

    async def delete_isr_notifications(self, names: Collection[str]) -> None:
        """Delete notifications that have been handled."""

    async def read_log_dir_events(self) -> Mapping[str, frozenset[int]]:
        """Return the brokers of each event; sets the watch of `LogDirEventNotification`."""

    async def delete_log_dir_events(self, names: Collection[str]) -> None:
        """Delete events that have been handled."""


class BrokerChannels(Protocol):
    """One queue of control requests per broker, delivered in order until the broker is removed.

    Responses are delivered as events. Methods only queue and never wait.
    """

    def add_broker(self, broker: RegisteredBroker) -> None:
        """Open a queue for a broker that has started."""

    def remove_broker(self, broker_id: int) -> None:
        """Drop the queue of a broker that has failed, with its content."""

    def send(self, broker_id: int, request: ControlRequest) -> None:
        """Queue a control request; a broker without a queue gets nothing."""
