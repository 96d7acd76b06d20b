import asyncio

from ballast.broker.groups.group_loading import CHUNK_BYTES, RETRY_S, load
from ballast.coordinator.records import offset_record
from ballast.model.ids import TopicPartition
from ballast.protocol.records import CONTROL_BIT, build_batch
from ballast.storage.errors import StorageError
from tests.unit.broker.broker_cluster import EPOCH_MS, P0, Cluster, simulate
from tests.unit.broker.group_requests import AT_ONCE, OFFSETS_P0
from tests.unit.coordinator.harness import offset

MANY = 400


def batch_of(number: int, padding: int = 0) -> memoryview:
    key, value = offset_record("g", P0, offset(number, metadata="x" * padding))
    return memoryview(bytearray(build_batch([(key, value, EPOCH_MS)])))


def test_the_whole_log_is_read_in_parts() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(OFFSETS_P0, 1, [1])
        partition = cluster.brokers[1].replicas.partitions[OFFSETS_P0]
        for number in range(MANY):
            partition.log.append_as_leader(batch_of(number, 4000), leader_epoch=0, now_ms=0)
        assert partition.log.size_bytes > 4 * CHUNK_BYTES
        replay = await load(partition)
        assert replay is not None
        (group,) = replay.groups()
        committed = group.offsets.get(P0)
        assert committed is not None
        assert committed.offset == MANY - 1

    simulate(main, **AT_ONCE)


def test_what_is_not_replicated_yet_counts_too() -> None:
    """It may have been acknowledged by the leader before, which alone knew that."""

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(OFFSETS_P0, 1, [1, 2])
        partition = cluster.brokers[1].replicas.partitions[OFFSETS_P0]
        partition.log.append_as_leader(batch_of(5), leader_epoch=0, now_ms=0)
        assert partition.high_watermark == 0
        replay = await load(partition)
        assert replay is not None
        assert len(replay.groups()) == 1

    simulate(main, **AT_ONCE)


def test_control_records_are_passed_over() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(OFFSETS_P0, 1, [1])
        partition = cluster.brokers[1].replicas.partitions[OFFSETS_P0]
        marker = build_batch(
            [(b"\0\0\0\0", b"", EPOCH_MS)],
            attributes=CONTROL_BIT,
            producer_id=1,
            producer_epoch=0,
        )
        partition.log.append_as_follower(memoryview(bytearray(marker)))
        partition.log.append_as_leader(batch_of(5), leader_epoch=0, now_ms=0)
        replay = await load(partition)
        assert replay is not None
        assert (len(replay.groups()), replay.unreadable_count) == (1, 0)

    simulate(main, **AT_ONCE)


def test_loading_ends_with_the_leadership() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(OFFSETS_P0, 1, [1, 2])
        partition = cluster.brokers[1].replicas.partitions[OFFSETS_P0]
        for number in range(MANY):
            partition.log.append_as_leader(batch_of(number, 4000), leader_epoch=0, now_ms=0)
        async with asyncio.TaskGroup() as tasks:
            loading = tasks.create_task(load(partition))
            await asyncio.sleep(0)
            partition.stop()
        assert loading.result() is None
        assert await load(partition) is None

    simulate(main, **AT_ONCE)


def test_a_log_that_cannot_be_read_is_tried_again() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        name = TopicPartition(OFFSETS_P0.topic, 1)
        await cluster.lead(name, 1, [1])
        partition = cluster.brokers[1].replicas.partitions[name]
        partition.log.append_as_leader(batch_of(5), leader_epoch=0, now_ms=0)
        whole = partition.log.read
        failures = [StorageError("broken"), StorageError("still")]

        def read(start: int, *, max_bytes: int) -> bytes | memoryview:
            if failures:
                raise failures.pop()
            return whole(start, max_bytes=max_bytes)

        partition.log.read = read  # type: ignore[method-assign,assignment]
        begin = cluster.loop.time()
        replay = await load(partition)
        assert replay is not None
        assert len(replay.groups()) == 1
        assert cluster.loop.time() - begin >= 2 * RETRY_S

    simulate(main, **AT_ONCE)
