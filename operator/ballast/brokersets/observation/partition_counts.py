"""Counting partitions and replicas, once per decision.

A replica that a reassignment is adding is in nobody's count of what is missing: it is on its way,
and neither its broker nor its partition is ill because of it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ballast.brokersets.observation.observation import Cluster, PendingChange
from ballast.brokersets.observation.shapes import Shape, shapes_of
from ballast.model.ids import TopicPartition


@dataclass(slots=True, kw_only=True)
class BrokerCount:
    """One broker's replicas."""

    leaders: int = 0
    replicas: int = 0
    behind: int = 0
    """Not in sync although their partition has a live leader, those being added left out."""
    under_replicated: int = 0
    """Not in sync, those being added left out."""


@dataclass(slots=True, kw_only=True)
class PartitionCounts:
    """All counts of a cluster."""

    total: int = 0
    leaderless: int = 0
    under_replicated: int = 0
    under_min_isr: int = 0
    at_min_isr: int = 0
    """Those that could do with one replica less and still have one are not counted: of a
    partition with no more replicas than its minimum, there is nothing to spare at the best."""
    reassigning: int = 0
    brokers: dict[int, BrokerCount] = field(default_factory=dict)
    holders: frozenset[int] = frozenset()
    """Brokers that hold a replica, or get one or lose one by a reassignment."""

    def of(self, broker_id: int) -> BrokerCount:
        """Return the count of one broker, zeros if it holds nothing."""
        return self.brokers.get(broker_id, BrokerCount())


def count_partitions(cluster: Cluster, shapes: Collection[Shape] | None = None) -> PartitionCounts:
    """Return the counts of a cluster; ``shapes`` are those of its partitions, where known."""
    counts = PartitionCounts(total=len(cluster.partitions), reassigning=len(cluster.pending))
    for shape in shapes_of(cluster) if shapes is None else shapes:
        _count(counts, cluster, shape)
    counts.holders = frozenset(
        broker_id for broker_id, count in counts.brokers.items() if count.replicas
    ) | _involved(cluster.pending)
    return counts


def _count(counts: PartitionCounts, cluster: Cluster, shape: Shape) -> None:
    partition, adding, number = shape.partition, shape.pending.adding, shape.count
    has_leader = partition.leader in cluster.live_brokers
    missing = [r for r in partition.replicas if r not in partition.isr and r not in adding]
    settled = len(partition.replicas) - len(adding)
    min_isr = min(shape.min_isr, max(settled, 1))
    in_sync = len(partition.isr)
    counts.leaderless += number * (not has_leader)
    counts.under_replicated += number * bool(missing)
    counts.under_min_isr += number * (in_sync < min_isr)
    counts.at_min_isr += number * (in_sync == min_isr < settled)
    for broker_id in partition.replicas:
        count = counts.brokers.setdefault(broker_id, BrokerCount())
        count.replicas += number
        count.leaders += number * (partition.leader == broker_id)
    for broker_id in missing:
        count = counts.brokers[broker_id]
        count.under_replicated += number
        count.behind += number * has_leader


def _involved(pending: Mapping[TopicPartition, PendingChange]) -> frozenset[int]:
    return frozenset(
        broker_id for change in pending.values() for broker_id in (*change.adding, *change.removing)
    )
