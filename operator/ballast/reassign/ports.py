"""The ports of a reassignment: the cluster through Kafka's admin protocol, the state store, time.

`ClusterAdmin` is Kafka's own admin API, so that the same procedure works with Apache Kafka.
"""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.model.load_samples import LoadSample


class ClusterUnavailable(Exception):
    """The cluster (or its controller) did not answer in time; the outcome is unknown."""


class BrokerUnavailable(ClusterUnavailable):
    """One broker did not answer."""


class LoadHistoryTooLarge(Exception):
    """There are more load samples than may be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionView:
    """One partition as Metadata shows it."""

    topic_partition: TopicPartition
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...] = ()
    """Replicas whose broker is down, or whose log directory has failed (Metadata v5 and later)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """Live brokers and partitions at one moment."""

    cluster_id: str
    controller_id: int
    brokers: Sequence[RegisteredBroker]
    """Only live ones; ``broker_epoch`` is unknown (-1)."""
    partitions: Mapping[TopicPartition, PartitionView]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSize:
    """One replica's log on one broker."""

    size_bytes: int
    offset_lag: int
    log_dir: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaLogDirs:
    """The log directory of one replica on its broker, and the one that it moves to."""

    current: str | None
    """None if no working directory has it."""
    future: str | None
    """None if it does not move."""
    future_bytes: int = 0
    """Bytes of the copy in ``future`` so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestError:
    """Kafka's error for one partition or resource: name of the code and the broker's message."""

    error: str
    message: str


class ClusterAdmin(Protocol):
    """Kafka's admin API. Every method may raise `ClusterUnavailable`."""

    async def describe_cluster(self, topics: Collection[str] | None = None) -> ClusterView:
        """Metadata (3): the given topics, or all; a topic that does not exist is left out."""

    async def list_reassignments(self) -> Mapping[TopicPartition, ReplicaAssignment]:
        """ListPartitionReassignments (46): all that are pending."""

    async def alter_reassignments(
        self, targets: Mapping[TopicPartition, tuple[int, ...] | None]
    ) -> Mapping[TopicPartition, RequestError]:
        """AlterPartitionReassignments (45); None cancels. Returns the refused partitions."""

    async def topic_configs(
        self, topics: Collection[str], names: Collection[str]
    ) -> Mapping[str, Mapping[str, str]]:
        """DescribeConfigs (32): those names that are set *on the topic* (not inherited)."""

    async def effective_topic_configs(
        self, topics: Collection[str], names: Collection[str]
    ) -> Mapping[str, Mapping[str, str]]:
        """DescribeConfigs (32): the effective values of topics, wherever they are set.

        That is: on the topic, dynamically on one broker or on all, in the properties of the broker
        that answers, or Kafka's default.
        """

    async def broker_configs(self, broker_id: int, names: Collection[str]) -> Mapping[str, str]:
        """DescribeConfigs (32): those names set dynamically on the broker itself.

        Raises `BrokerUnavailable` when that broker is down.
        """

    async def alter_topic_configs(
        self, changes: Mapping[str, Mapping[str, str | None]]
    ) -> Mapping[str, RequestError]:
        """IncrementalAlterConfigs (44): set, or delete where the value is None."""

    async def alter_broker_configs(
        self, broker_id: int, changes: Mapping[str, str | None]
    ) -> RequestError | None:
        """IncrementalAlterConfigs (44) on one broker; raises `BrokerUnavailable`."""

    async def replica_sizes(
        self, broker_id: int, topics: Mapping[str, Collection[int]]
    ) -> Mapping[TopicPartition, ReplicaSize]:
        """DescribeLogDirs (35) of one broker; raises `BrokerUnavailable`."""

    async def replica_log_dirs(
        self, broker_id: int, topics: Mapping[str, Collection[int]]
    ) -> Mapping[TopicPartition, ReplicaLogDirs]:
        """DescribeLogDirs (35) of one broker: those found. Raises `BrokerUnavailable`."""

    async def broker_log_dirs(self, broker_id: int) -> Collection[str]:
        """DescribeLogDirs (35) of one broker: its working directories.

        Raises `BrokerUnavailable`.
        """

    async def alter_replica_log_dirs(
        self, broker_id: int, targets: Mapping[TopicPartition, str]
    ) -> Mapping[TopicPartition, RequestError]:
        """AlterReplicaLogDirs (34) of one broker; returns the refused.

        Raises `BrokerUnavailable`.
        """

    async def elect_preferred_leaders(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, RequestError]:
        """ElectLeaders (43), preferred; returns the refused, without ELECTION_NOT_NEEDED."""

    def load_samples(self, *, since_ms: int, max_bytes: int) -> AsyncGenerator[LoadSample, None]:
        """Fetch (1) from ``__ballast_load``: the samples that end after a moment.

        None of a cluster that has no such topic. Raises `LoadHistoryTooLarge` when there are more
        than ``max_bytes``, compressed.
        """


class StateStore(Protocol):
    """Stores the state of one reassignment as a JSON object; durable when `save` returns."""

    async def load(self) -> Mapping[str, object] | None:
        """Return the last saved document, or None."""

    async def save(self, document: Mapping[str, object]) -> None:
        """Replace the document atomically and durably."""


class Clock(Protocol):
    """The reconciler's time."""

    def now(self) -> float:
        """Return seconds of a monotonic clock."""

    def wall_ms(self) -> int:
        """Return milliseconds since 1970 UTC."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""
