"""Reading: what consumers and followers may see, and how long they wait for it."""

import asyncio

from ballast.broker.replicas.fetch import FetchParams, read_partitions
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.fetch import FetchPartition
from tests.unit.broker.broker_cluster import P0, TOPIC, Cluster, batch, simulate

P1 = TopicPartition(TOPIC, 1)


def test_consumers_see_the_high_watermark_and_replicas_the_end() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        cluster.kill(2)
        await cluster.produce(1, P0, batch(b"b"), acks=1)
        consumer = await cluster.fetch(1, P0, 0)
        assert (consumer.high_watermark, len(consumer.records or b"")) == (1, len(batch(b"a")))
        assert (await cluster.fetch(1, P0, 1)).records == b""
        replica = await cluster.fetch(1, P0, 0, replica_id=2, last_fetched_epoch=-1)
        assert len(replica.records or b"") == len(batch(b"a")) + len(batch(b"b"))

    simulate(main)


def test_a_fetch_waits_for_records() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(cluster.fetch(1, P0, 0, max_wait_ms=5000))
            await asyncio.sleep(1)
            assert not waiting.done()
            await cluster.produce(1, P0, batch(b"a"))
            began = cluster.loop.now
        assert len(waiting.result().records or b"") == len(batch(b"a"))
        assert cluster.loop.now - began < 0.5

    simulate(main)


def test_a_fetch_of_nothing_ends_with_its_time() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        began = cluster.loop.now
        assert (await cluster.fetch(1, P0, 0, max_wait_ms=700)).records == b""
        assert 0.7 <= cluster.loop.now - began < 0.8

    simulate(main)


def test_min_bytes_are_waited_for() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        size = len(batch(b"a"))
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(
                cluster.fetch(1, P0, 0, max_wait_ms=60_000, min_bytes=2 * size)
            )
            await asyncio.sleep(0.1)
            await cluster.produce(1, P0, batch(b"a"))
            await asyncio.sleep(1)
            assert not waiting.done()
            await cluster.produce(1, P0, batch(b"b"))
        assert len(waiting.result().records or b"") == 2 * size

    simulate(main)


def test_a_change_of_leader_ends_the_wait() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(
                cluster.fetch(1, P0, 0, max_wait_ms=60_000, current_leader_epoch=0)
            )
            await asyncio.sleep(0.1)
            await cluster.lead(P0, 2, [1, 2], to=[])
            await cluster.ask(1, cluster.leader_and_isr(1, P0), 5)
        assert waiting.result().error_code == ErrorCode.FENCED_LEADER_EPOCH
        assert cluster.loop.now < 5

    simulate(main)


def test_at_least_one_batch_in_all_whatever_its_size() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        for name in (P0, P1):
            await cluster.lead(name, 1, [1])
            await cluster.produce(1, name, batch(bytes(5000)))
        asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=10)
        plan = FetchParams(
            replica_id=-1,
            version=12,
            min_bytes=1,
            max_bytes=10,
            partitions={P0: asked, P1: asked},
        )
        fetched = read_partitions(cluster.brokers[1].replicas, plan)
        sizes = [len(data.records or b"") for _, data in fetched.partitions]
        assert sizes == [len(batch(bytes(5000))), 0]

    simulate(main)


def test_a_follower_that_diverges_is_told_where_and_acknowledges_nothing() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        await cluster.produce(1, P0, batch(b"a"))
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        await cluster.produce(1, P0, batch(b"b"))
        data = await cluster.fetch(1, P0, 2, replica_id=2, last_fetched_epoch=0)
        assert (data.diverging_epoch.epoch, data.diverging_epoch.end_offset) == (0, 1)
        assert data.records == b""
        view = cluster.brokers[1].replicas.partitions[P0].view
        assert view is not None
        assert view.progress(2).log_end_offset == -1

    simulate(main)


def test_a_throttled_replica_that_is_not_in_sync_gets_nothing_over_the_rate() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        cluster.zookeeper.put(
            f"/config/topics/{P0.topic}",
            b'{"version":1,"config":{"leader.replication.throttled.replicas":"0:1"}}',
        )
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        cluster.brokers[1].replicas.throttles.leader.set_rate(1)
        await cluster.produce(1, P0, batch(b"a"))
        assert (await cluster.fetch(1, P0, 0, replica_id=2)).records != b""
        assert (await cluster.fetch(1, P0, 0, replica_id=2)).records == b""
        assert (await cluster.fetch(1, P0, 0)).records != b""

    simulate(main)


def test_a_leader_gives_throttled_replicas_no_more_than_one_usual_fetch_at_once() -> None:
    """However much they ask for: a throttle is no finer than one answer."""

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        cluster.zookeeper.put(
            f"/config/topics/{P0.topic}",
            b'{"version":1,"config":{"leader.replication.throttled.replicas":"0:1"}}',
        )
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        one = batch(bytes(1000))
        for _ in range(4):
            await cluster.produce(1, P0, one)
        assert len((await cluster.fetch(1, P0, 0, replica_id=2)).records or b"") == 2 * len(one)
        assert len((await cluster.fetch(1, P0, 0)).records or b"") == 4 * len(one)
        cluster.brokers[1].replicas.throttles.forget_topic(P0.topic)
        assert len((await cluster.fetch(1, P0, 0, replica_id=2)).records or b"") == 4 * len(one)

    simulate(main, replica_fetch_max_bytes="2500")
