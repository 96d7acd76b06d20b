"""The controller's ports: the metadata store and the channels to brokers.

Every method of `MetadataStore` may raise `StoreUnavailable`, every write `ControllerMoved`:
each write is one ZooKeeper multi that begins with a check of ``/controller_epoch``'s version.
A write whose outcome was lost with the connection is resolved by the adapter (it reads again).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ballast.controller.state.control_requests import Command
from ballast.model.brokers import Broker
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChanges:
    """Whose configs were written."""

    topics: frozenset[str] = frozenset()
    broker_defaults: bool = False
    """Whether those of all brokers (``<default>``) were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadershipWrites:
    """What became of conditional writes to state znodes."""

    written: Mapping[TopicPartition, LeaderAndIsr]
    """With the new ``zk_version``."""
    stale: frozenset[TopicPartition]
    """Refused because the znode's version had changed (or it exists already): read it again."""


class MetadataStore(Protocol):
    """The cluster's metadata, as one elected controller may read and write it."""

    async def read_brokers(self) -> Sequence[Broker]:
        """Return the registered brokers, each with its epoch; arms the watch for `BrokerChange`."""

    async def read_topic_names(self) -> frozenset[str]:
        """Return all topics; arms the watch for `TopicChange`."""

    async def read_topics(self, topics: Collection[str]) -> Mapping[str, TopicAssignment]:
        """Return the topics that exist; arms their watches for `PartitionModifications`."""

    async def read_leadership(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, LeaderAndIsr]:
        """Return the states of those partitions that have a state znode."""

    async def create_leadership(
        self, leadership: Mapping[TopicPartition, LeaderAndIsr]
    ) -> LeadershipWrites:
        """Create the state znodes (and their parents) of new partitions."""

    async def update_leadership(
        self, leadership: Mapping[TopicPartition, LeaderAndIsr]
    ) -> LeadershipWrites:
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
        """Return what was notified since the last call, at first all; arms `ConfigChange`."""

    async def read_topic_deletions(self) -> frozenset[str]:
        """Return the topics asked to be deleted; arms the watch for `TopicDeletion`."""

    async def create_topic_deletion(self, topic: str) -> None:
        """Ask for a topic's deletion, so that a later controller carries it out too."""

    async def remove_topic_deletions(self, topics: Collection[str]) -> None:
        """Forget requests for deletion that cannot be carried out."""

    async def read_reassignments(self) -> Mapping[TopicPartition, tuple[int, ...]]:
        """Return the content of /admin/reassign_partitions; arms `ZkPartitionReassignment`.

        Unreadable content counts as none.
        """

    async def write_reassignments(
        self, reassignments: Mapping[TopicPartition, tuple[int, ...]]
    ) -> None:
        """Rewrite /admin/reassign_partitions; delete it when nothing is left."""

    async def read_preferred_elections(self) -> frozenset[TopicPartition]:
        """Return /admin/preferred_replica_election; arms `ZkPreferredElection`."""

    async def delete_preferred_elections(self) -> None:
        """Delete /admin/preferred_replica_election."""

    async def read_isr_notifications(self) -> Mapping[str, frozenset[TopicPartition]]:
        """Return the partitions of each ISR notification; arms `IsrChangeNotification`."""

    async def delete_isr_notifications(self, names: Collection[str]) -> None:
        """Delete notifications that have been handled."""

    async def read_log_dir_events(self) -> Mapping[str, frozenset[int]]:
        """Return the brokers that each event names; arms `LogDirEventNotification`."""

    async def delete_log_dir_events(self, names: Collection[str]) -> None:
        """Delete events that have been handled."""


class BrokerChannels(Protocol):
    """One queue of commands per broker, delivered in order, retried until the broker is removed.

    Answers come back as events. Methods only queue; they never wait.
    """

    def add_broker(self, broker: Broker) -> None:
        """Open a queue to a broker that came up."""

    def remove_broker(self, broker_id: int) -> None:
        """Drop the queue of a broker that is gone, with what it holds."""

    def send(self, broker_id: int, command: Command) -> None:
        """Queue a command; a broker without a queue gets nothing."""
