import asyncio

from ballast.model.ids import TopicPartition
from ballast.storage.log.log import Log
from tests.unit.broker.broker_cluster import P0, TOPIC, Cluster, batch, simulate


def log_of(cluster: Cluster, name: TopicPartition = P0) -> Log:
    return cluster.brokers[1].replicas.partitions[name].log


async def dirty_for(cluster: Cluster) -> float:
    """Append, and return how long it takes until that is flushed, in seconds."""
    await cluster.produce(1, P0, batch(b"x"))
    since = cluster.loop.now
    await cluster.until(lambda: log_of(cluster).recovery_point == log_of(cluster).log_end_offset)
    return cluster.loop.now - since


def test_a_topics_records_are_flushed_when_they_are_old_enough() -> None:
    async def main(cluster: Cluster) -> None:
        cluster.zookeeper.put(f"/config/topics/{TOPIC}", b'{"config":{"flush.ms":"400"}}')
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await asyncio.sleep(2)
        for _ in range(3):
            assert await dirty_for(cluster) <= 0.6

    simulate(main)


def test_the_brokers_default_holds_for_topics_without_their_own() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        assert 1.0 <= await dirty_for(cluster) <= 2.0

    simulate(main, log_flush_interval_ms="1000", log_flush_scheduler_interval_ms="500")


def test_no_log_is_flushed_for_its_age_by_default() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"x"))
        await asyncio.sleep(50)
        assert log_of(cluster).recovery_point == 0

    simulate(main)
