import asyncio
import errno

from ballast.broker.maintenance.housekeeping import (
    DELETE_PERIOD_S,
    RETIRED_PERIOD_S,
    every,
    flush_periodically,
    retain_periodically,
)
from ballast.broker.replicas.delete_records import delete_before
from ballast.model.ids import TopicPartition
from ballast.protocol.records import build_batch
from ballast.storage.errors import LogFailed
from tests.simulation.loop import SimulatedLoop, run
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


def test_an_action_is_repeated() -> None:
    async def main(loop: SimulatedLoop) -> list[float]:
        times: list[float] = []
        async with asyncio.TaskGroup() as tasks:
            repeated = tasks.create_task(every(2.0, lambda: times.append(loop.now)))
            await asyncio.sleep(7)
            repeated.cancel()
        return times

    assert run(1, main)[0] == [2.0, 4.0, 6.0]


def test_logs_are_flushed_from_time_to_time() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a"))
        log = cluster.brokers[1].replicas.partitions[P0].log
        assert log.recovery_point == 0
        await cluster.until(lambda: log.recovery_point == 1)

    simulate(main, log_flush_offset_checkpoint_interval_ms="1000")


def test_starts_of_logs_are_saved_sooner_than_logs_are_flushed() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        for value in (b"a", b"b"):
            await cluster.produce(1, P0, batch(value))
        log = cluster.brokers[1].replicas.partitions[P0].log
        delete_before(cluster.brokers[1].replicas, P0, 1)
        saved, content = "/logs/log-start-offset-checkpoint", cluster.disks[1].content
        await cluster.until(lambda: cluster.disks[1].exists(saved), within_s=3)
        await cluster.until(lambda: b"orders 0 1" in content(saved), within_s=3)
        assert log.recovery_point == 0

    simulate(main, log_flush_start_offset_checkpoint_interval_ms="1000")


def test_a_flush_that_fails_ends_the_broker() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a"))
        log = cluster.brokers[1].replicas.partitions[P0].log
        log.failure = LogFailed("gone")
        await cluster.until(cluster.brokers[1].failed.is_set)

    simulate(main, log_flush_offset_checkpoint_interval_ms="1000")


def test_deleted_logs_are_removed_later() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.stop_replica(1, P0, 0, delete=True)
        names = cluster.disks[1].names
        assert any(name.endswith("-delete") for name in names("/logs"))
        await asyncio.sleep(DELETE_PERIOD_S + 1)
        assert not any(name.startswith("orders") for name in names("/logs"))

    simulate(main)


def test_a_replica_that_is_deleted_amid_a_flush_is_no_failure() -> None:
    other = TopicPartition(P0.topic, 1)

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        for name in (P0, other):
            await cluster.lead(name, 1, [1])
            await cluster.produce(1, name, batch(b"a"))
        broker = cluster.brokers[1]
        replicas = broker.replicas
        async with asyncio.TaskGroup() as tasks:
            flushing = tasks.create_task(flush_periodically(replicas, 0.5))
            await asyncio.sleep(0)
            # One step after the flush has begun with the first log.
            cluster.loop.call_later(0.5, cluster.loop.call_soon, replicas.log_dirs.delete, other)
            await asyncio.sleep(1)
            flushing.cancel()
        assert list(replicas.log_dirs.logs) == [P0]
        assert broker.failure is None

    simulate(main)


FLUSHES_PER_TURN = 4
"""Of 5 ms each they are a turn of 20 ms: others wait for no longer."""


def test_no_turn_of_the_loop_waits_for_many_flushes() -> None:
    names = [TopicPartition(P0.topic, number) for number in range(40)]
    most = [0]

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        for name in names:
            await cluster.lead(name, 1, [1])
        disk = cluster.disks[1]

        def look() -> None:
            most[0] = max(most[0], disk.flushes_in_turn)
            disk.flushes_in_turn = 0

        disk.flushes_in_turn = 0
        cluster.loop.after_step = look
        for _ in range(8):
            for name in names:
                await cluster.produce(1, name, build_batch([(b"key", b"value", 1000)]))
            await asyncio.sleep(1)
        log_dirs = cluster.brokers[1].replicas.log_dirs
        await asyncio.sleep(2)
        logs = list(log_dirs.logs.values())
        assert [log.recovery_point for log in logs] == [8] * len(names)
        assert all(log_dirs.cleaner_offset(name) for name in names), "all are compacted"

    simulate(
        main,
        log_flush_offset_checkpoint_interval_ms="500",
        replica_high_watermark_checkpoint_interval_ms="300",
        log_cleanup_policy="compact",
        log_cleaner_backoff_ms="100",
        log_cleaner_min_cleanable_ratio="0.01",
        log_segment_bytes="300",
    )
    assert 0 < most[0] <= FLUSHES_PER_TURN


SMALL_SEGMENTS = {"log_segment_bytes": "100", "log_retention_check_interval_ms": "1000"}


async def fill(cluster: Cluster, count: int = 10) -> None:
    """Give brokers 1 and 2 a partition with one record per segment."""
    await cluster.start(1, 2)
    await cluster.lead(P0, 1, [1, 2])
    for _ in range(count):
        await cluster.produce(1, P0, batch(b"a" * 20), acks=-1)


def starts(cluster: Cluster) -> list[int]:
    return [b.replicas.partitions[P0].log.log_start_offset for b in cluster.brokers.values()]


def test_old_records_go_from_all_replicas() -> None:
    async def main(cluster: Cluster) -> None:
        await fill(cluster)
        assert starts(cluster) == [0, 0]
        await cluster.until(lambda: starts(cluster) == [10, 10])
        assert (await cluster.fetch(1, P0, 9)).error_code == 1
        answer = await cluster.fetch(1, P0, 10)
        assert (answer.error_code, answer.log_start_offset) == (0, 10)
        produced = await cluster.produce(1, P0, batch(b"b"), acks=-1)
        assert (produced.base_offset, produced.log_start_offset) == (10, 10)

    simulate(main, 1, **SMALL_SEGMENTS, log_retention_ms="5000")


def test_a_followers_start_follows_its_leaders() -> None:
    """Only the leader has the limit, and the follower still has no older records."""

    async def main(cluster: Cluster) -> None:
        await fill(cluster)
        parts = cluster.brokers[1].context
        parts.configs.set_topic(P0.topic, {"retention.bytes": "250"})
        parts.replicas.reconfigure([P0.topic])
        await cluster.until(lambda: starts(cluster) == [7, 7])

    simulate(main, 1, **SMALL_SEGMENTS)


def test_a_limit_set_on_a_topic_takes_effect_while_the_broker_runs() -> None:
    async def main(cluster: Cluster) -> None:
        await fill(cluster)
        await asyncio.sleep(5)
        assert starts(cluster) == [0, 0]
        path = "/config/topics/orders"
        cluster.zookeeper.put(path, b'{"version":1,"config":{"retention.bytes":"250"}}')
        change = b'{"version":2,"entity_path":"topics/orders"}'
        cluster.zookeeper.put("/config/changes/config_change_0000000000", change)
        await cluster.until(lambda: starts(cluster) == [7, 7])

    simulate(main, 1, **SMALL_SEGMENTS)


def test_files_go_when_their_delay_is_over() -> None:
    async def main(cluster: Cluster) -> None:
        await fill(cluster)
        await cluster.until(lambda: starts(cluster) == [7, 7])

        def waiting() -> int:
            return sum(n.endswith(".deleted") for n in cluster.disks[1].names("/logs/orders-0"))

        assert waiting() == 21
        await asyncio.sleep(20)
        assert waiting() == 21
        await asyncio.sleep(2 * RETIRED_PERIOD_S)
        assert waiting() == 0

    simulate(
        main, 1, **SMALL_SEGMENTS, log_retention_bytes="250", log_segment_delete_delay_ms="20000"
    )


def test_the_log_start_survives_a_restart() -> None:
    async def main(cluster: Cluster) -> None:
        await fill(cluster)
        await cluster.until(lambda: starts(cluster) == [7, 7])
        await cluster.stop(1)
        disk = cluster.disks[1]
        assert disk.content("/logs/log-start-offset-checkpoint") == b"0\n1\norders 0 7\n"
        await cluster.start(1)
        log = cluster.brokers[1].replicas.log_dirs.get(P0)
        assert log is not None
        assert (log.log_start_offset, log.log_end_offset) == (7, 10)

    simulate(main, 1, **SMALL_SEGMENTS, log_retention_bytes="250")


def test_a_disk_that_refuses_to_drop_segments_ends_the_broker() -> None:
    async def main(cluster: Cluster) -> None:
        await fill(cluster)
        cluster.disks[1].fail = lambda done, _: errno.EIO if done == "rename" else None
        await cluster.until(cluster.brokers[1].failed.is_set)

    simulate(main, 1, **SMALL_SEGMENTS, log_retention_bytes="250")


def test_a_replica_that_goes_while_others_are_looked_through_is_no_failure() -> None:
    other = TopicPartition(P0.topic, 1)

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        for name in (P0, other):
            await cluster.lead(name, 1, [1])
            for _ in range(5):
                await cluster.produce(1, name, batch(b"a" * 20))
        broker = cluster.brokers[1]
        async with asyncio.TaskGroup() as tasks:
            retaining = tasks.create_task(retain_periodically(broker.replicas, 0.5))
            await asyncio.sleep(0)
            cluster.loop.call_later(0.5, cluster.loop.call_soon, broker.replicas.forget, other)
            cluster.loop.call_later(
                0.5, cluster.loop.call_soon, broker.replicas.log_dirs.delete, other
            )
            await asyncio.sleep(1)
            retaining.cancel()
        assert broker.replicas.partitions[P0].log.log_start_offset == 5
        assert broker.failure is None

    simulate(main, log_segment_bytes="100", log_retention_bytes="0")
