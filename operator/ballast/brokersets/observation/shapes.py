"""Groups equal partitions: what holds for one of a group holds for all.

A cluster of 200,000 partitions has some thousand combinations of leader, replicas and in-sync
replicas, so a decision per combination costs a fraction.
"""

from collections.abc import Collection
from dataclasses import dataclass

from ballast.brokersets.observation.observation import Cluster, PartitionMetadata, PendingChange
from ballast.model.ids import TopicPartition

_NOTHING_PENDING = PendingChange()


@dataclass(slots=True, kw_only=True)
class Shape:
    """Partitions with the same leader, replicas, in-sync replicas, minimum and reassignment."""

    first: TopicPartition
    """The first of them, in the cluster's order."""
    partition: PartitionMetadata
    min_isr: int
    """min.insync.replicas in force."""
    pending: PendingChange
    count: int = 0


def shapes_of(cluster: Cluster) -> Collection[Shape]:
    """Return the shapes of all partitions, in the order of the first of each."""
    shapes: dict[object, Shape] = {}
    known_min_isr, default_min_isr = cluster.min_isr_by_topic, cluster.default_min_isr
    pending = cluster.pending
    for tp, partition in cluster.partitions.items():
        min_isr = known_min_isr.get(tp.topic, default_min_isr)
        change = pending.get(tp, _NOTHING_PENDING) if pending else _NOTHING_PENDING
        key = (partition.leader, partition.replicas, partition.isr, min_isr, id(change))
        shape = shapes.get(key)
        if shape is None:
            shape = Shape(first=tp, partition=partition, min_isr=min_isr, pending=change)
            shapes[key] = shape
        shape.count += 1
    return shapes.values()
