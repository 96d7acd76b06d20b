from ballast.model.ids import TopicPartition
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


def values(cluster: Cluster, name: str) -> dict[tuple[str, ...], float]:
    """Return the samples of one metric of broker 1, by their labels."""
    registry = cluster.brokers[1].context.metrics.registry
    return {
        tuple(sample.labels.values()): sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.name == f"ballast_broker_{name}"
    }


def test_traffic_is_shown_per_topic_and_positions_per_partition() -> None:
    other = TopicPartition(P0.topic, 1)

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        for name in (P0, other):
            await cluster.lead(name, 1, [1])
            await cluster.produce(1, name, batch(b"a", b"b"))
        assert values(cluster, "topic_messages_in_total") == {(P0.topic,): 4}
        assert values(cluster, "log_end_offset") == {(P0.topic, "0"): 2, (P0.topic, "1"): 2}
        assert values(cluster, "log_start_offset") == {(P0.topic, "0"): 0, (P0.topic, "1"): 0}
        sizes = values(cluster, "log_size_bytes")
        assert values(cluster, "topic_bytes_in_total") == {(P0.topic,): sum(sizes.values())}

    simulate(main)


def test_a_total_does_not_fall_when_a_replica_leaves_and_ends_with_the_topic() -> None:
    other = TopicPartition(P0.topic, 1)

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        for name in (P0, other):
            await cluster.lead(name, 1, [1])
            await cluster.produce(1, name, batch(b"a"))
        await cluster.stop_replica(1, P0, 0, delete=True)
        assert values(cluster, "topic_messages_in_total") == {(P0.topic,): 2}
        assert values(cluster, "log_end_offset") == {(P0.topic, "1"): 1}
        await cluster.stop_replica(1, other, 0, delete=True)
        assert values(cluster, "topic_messages_in_total") == {}

    simulate(main)
