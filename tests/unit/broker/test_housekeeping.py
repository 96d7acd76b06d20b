import asyncio

from ballast.broker.housekeeping import DELETE_PERIOD_S, every, flush_periodically
from ballast.model.ids import TopicPartition
from ballast.storage.errors import LogFailed
from tests.simulation.loop import SimulatedLoop, run
from tests.unit.broker.cluster import P0, Cluster, batch, simulate


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
