"""What waiting fetches compare, and when they read."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from ballast.model.ids import TopicPartition
from ballast.protocol.messages.records.fetch import FetchPartition, FetchRequest, FetchTopic
from ballast.storage.log.log import Log
from tests.unit.broker.broker_cluster import P0, TOPIC, Cluster, batch, simulate

P1 = TopicPartition(TOPIC, 1)


def consumer(min_bytes: int, *offsets: int) -> FetchRequest:
    """Return a fetch that waits, of one partition for each offset."""
    return FetchRequest(
        max_wait_ms=60_000,
        min_bytes=min_bytes,
        max_bytes=1 << 20,
        topics=(
            FetchTopic(
                topic=TOPIC,
                partitions=tuple(
                    FetchPartition(
                        partition=number, fetch_offset=offset, partition_max_bytes=1 << 20
                    )
                    for number, offset in enumerate(offsets)
                ),
            ),
        ),
    )


def test_appends_are_counted_and_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: Counter[TopicPartition] = Counter()
    read = Log.read

    def counted(log: Log, offset: int, **limits: Any) -> bytes | memoryview:
        reads[log.partition] += 1
        return read(log, offset, **limits)

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        for name in (P0, P1):
            await cluster.lead(name, 1, [1])
        size = len(batch(b"a"))
        monkeypatch.setattr(Log, "read", counted)
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(cluster.ask(1, consumer(5 * size, 0, 0), 12))
            await asyncio.sleep(0.1)
            for name in (P0, P1, P0, P1):
                await cluster.produce(1, name, batch(b"a"))
                await asyncio.sleep(0.1)
            assert not waiting.done()
            assert not reads
            await cluster.produce(1, P0, batch(b"a"))
        (topic,) = waiting.result().responses
        assert [len(data.records) for data in topic.partitions] == [3 * size, 2 * size]
        assert reads == {P0: 1, P1: 1}

    simulate(main)


def test_a_partition_that_has_begun_a_new_segment_is_answered_at_once() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a"))
        log = cluster.brokers[1].replicas.partitions[P0].log
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(cluster.ask(1, consumer(1 << 20, 0), 12))
            await asyncio.sleep(0.1)
            log.roll()
            await cluster.produce(1, P0, batch(b"b"))
        assert len(waiting.result().responses[0].partitions[0].records) == len(batch(b"a"))
        assert cluster.loop.now < 10

    simulate(main)


def test_a_fetch_below_where_the_log_begins_by_now_is_answered_at_once() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a"))
        log = cluster.brokers[1].replicas.partitions[P0].log
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(cluster.ask(1, consumer(1 << 20, 0), 12))
            await asyncio.sleep(0.1)
            log.raise_log_start_offset(1)
            await cluster.produce(1, P0, batch(b"b"))
        assert waiting.result().responses[0].partitions[0].error_code == 1
        assert cluster.loop.now < 10

    simulate(main)
