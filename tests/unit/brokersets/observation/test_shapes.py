"""Partitions that are alike are one shape."""

from ballast.brokersets.observation.observation import Cluster, PartitionState, PendingChange
from ballast.brokersets.observation.shapes import shapes_of
from ballast.model.ids import TopicPartition

WELL = PartitionState(leader=0, replicas=(0, 1, 2), isr=(0, 1, 2))
BEHIND = PartitionState(leader=0, replicas=(0, 1, 2), isr=(0, 1))


def test_partitions_that_are_alike_are_counted_together() -> None:
    partitions = {
        TopicPartition("a", 0): WELL,
        TopicPartition("a", 1): BEHIND,
        TopicPartition("b", 0): PartitionState(leader=0, replicas=(0, 1, 2), isr=(0, 1, 2)),
    }
    shapes = list(shapes_of(Cluster(live_brokers=frozenset({0, 1, 2}), partitions=partitions)))
    assert [(shape.first, shape.partition, shape.count) for shape in shapes] == [
        (TopicPartition("a", 0), WELL, 2),
        (TopicPartition("a", 1), BEHIND, 1),
    ]


def test_what_a_topic_needs_and_what_is_pending_tell_partitions_apart() -> None:
    topics = ("a", "b", "c", "d")
    partitions = {TopicPartition(topic, 0): WELL for topic in topics}
    cluster = Cluster(
        live_brokers=frozenset({0, 1, 2}),
        partitions=partitions,
        pending={TopicPartition("c", 0): PendingChange(adding=(2,))},
        default_min_isr=1,
        min_isr_by_topic={"b": 2},
    )
    found = [
        (shape.first.topic, shape.min_isr, shape.pending.adding, shape.count)
        for shape in shapes_of(cluster)
    ]
    assert found == [("a", 1, (), 2), ("b", 2, (), 1), ("c", 1, (2,), 1)]
