"""A cluster at one moment, as placing replicas sees it: its brokers, and topics by columns.

The values are those of ``ballast-snapshot/v1``: one entry per broker, one per topic, partitions by
their number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ballast.model.ids import TopicPartition
from ballast.planner.errors import SnapshotRejected


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerPlace:
    """One broker."""

    broker_id: int
    rack: str | None = None
    is_cordoned: bool = False
    """Whether it must get no new replica: it is to go, or it is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPlacement:
    """One topic."""

    topic: str
    replicas: tuple[tuple[int, ...], ...]
    """By partition: brokers, the preferred leader first."""
    sizes: tuple[int, ...] | None = None
    """By partition: bytes of one replica; None = not known."""

    def __post_init__(self) -> None:
        if self.sizes is not None and len(self.sizes) != len(self.replicas):
            raise SnapshotRejected(f"topic {self.topic} has not one size for each partition")
        for partition, replicas in enumerate(self.replicas):
            if not replicas or len(set(replicas)) != len(replicas):
                raise SnapshotRejected(f"{self.topic}-{partition} is on {list(replicas)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPartition:
    """One partition."""

    topic_partition: TopicPartition
    replicas: tuple[int, ...]
    size: int
    """Bytes of one replica; 0 when not known."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The whole cluster. The order of brokers and topics means nothing."""

    brokers: tuple[BrokerPlace, ...]
    topics: tuple[TopicPlacement, ...]

    def __post_init__(self) -> None:
        if len({broker.broker_id for broker in self.brokers}) != len(self.brokers):
            raise SnapshotRejected("a broker is there twice")
        if len({topic.topic for topic in self.topics}) != len(self.topics):
            raise SnapshotRejected("a topic is there twice")

    @cached_property
    def racks(self) -> dict[int, str]:
        """Rack by broker; empty unless every broker has one: as in Kafka, none counts then."""
        racks = {b.broker_id: b.rack for b in self.brokers if b.rack is not None}
        return racks if len(racks) == len(self.brokers) else {}

    def partitions(self) -> Iterator[PlacedPartition]:
        """Yield the partitions, by topic and number."""
        for topic in sorted(self.topics, key=lambda topic: topic.topic):
            sizes = topic.sizes or (0,) * len(topic.replicas)
            for partition, (replicas, size) in enumerate(zip(topic.replicas, sizes, strict=True)):
                yield PlacedPartition(
                    topic_partition=TopicPartition(topic.topic, partition),
                    replicas=replicas,
                    size=size,
                )
