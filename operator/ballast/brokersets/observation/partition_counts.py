"""Counts partitions and replicas, once per decision.

A replica that a reassignment is adding does not count as missing: it is being copied, and its
broker and its partition are healthy.
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
    """Not in sync although the partition has a live leader; without replicas being added."""
    under_replicated: int = 0
    """Not in sync; without replicas being added."""


@dataclass(slots=True, kw_only=True)
class PartitionCounts:
    """All counts of a cluster."""

    total: int = 0
    leaderless: int = 0
    under_replicated: int = 0
    under_min_isr: int = 0
    at_min_isr: int = 0
    """Partitions with exactly the required in-sync replicas that could have more. A partition with
    no more replicas than its minimum is not counted: it never has one to spare."""
    reassigning: int = 0
    brokers: dict[int, BrokerCount] = field(default_factory=dict)
    holders: frozenset[int] = frozenset()
    """Brokers with a replica, or to or from which a reassignment moves one."""

    def of(self, broker_id: int) -> BrokerCount:
        """Return the count of one broker; zeros if it has no replicas."""
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
