"""A log directory fails: its replicas go offline, and the controller is notified."""

import asyncio
import errno

import pytest

from ballast.broker.following.replica_roles import ReplicaStop
from ballast.model.ids import EPOCH_DURING_DELETE, TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.znodes import log_dir_events
from tests.unit.broker.broker_cluster import P0, TOPIC, Cluster, batch, simulate

P1 = TopicPartition(TOPIC, 1)
DIRS = {"log_dirs": "/d1,/d2"}


async def two_partitions(cluster: Cluster) -> None:
    """Give broker 1 partition 0 in the first directory, partition 1 in the second."""
    await cluster.start(1, 2)
    for name in (P0, P1):
        await cluster.lead(name, 1, [1, 2])
        await cluster.produce(1, name, batch(b"a"), acks=-1)
    dirs = cluster.brokers[1].replicas.log_dirs
    assert (dirs.directory_of(P0), dirs.directory_of(P1)) == ("/d1", "/d2")


def fail(cluster: Cluster, operation: str, path: str = "/d1", code: int = errno.EIO) -> None:
    cluster.disks[1].fail = lambda done, at: (
        code if done == operation and at.startswith(path) else None
    )


def events(cluster: Cluster) -> list[str]:
    return cluster.zookeeper.children_of(log_dir_events.PATH)


@pytest.mark.parametrize("acks", [1, -1])
def test_an_append_that_fails(acks: int) -> None:
    async def main(cluster: Cluster) -> None:
        await two_partitions(cluster)
        fail(cluster, "write")
        produced = await cluster.produce(1, P0, batch(b"b"), acks=acks)
        assert produced.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        await cluster.until(lambda: len(events(cluster)) == 1)
        replicas = cluster.brokers[1].replicas
        assert list(replicas.log_dirs.offline_directories) == ["/d1"]
        assert (replicas.is_offline(P0), replicas.is_offline(P1)) == (True, False)
        for answer in (
            await cluster.produce(1, P0, batch(b"b")),
            await cluster.fetch(1, P0, 0),
        ):
            assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert (await cluster.produce(1, P1, batch(b"b"), acks=-1)).error_code == 0
        assert (await cluster.fetch(1, P1, 0)).error_code == 0
        assert cluster.brokers[1].failure is None

    simulate(main, 1, **DIRS)


def test_the_controllers_commands_are_answered_before_any_epoch() -> None:
    async def main(cluster: Cluster) -> None:
        await two_partitions(cluster)
        fail(cluster, "write")
        await cluster.produce(1, P0, batch(b"b"))
        answer = await cluster.ask(1, cluster.leader_and_isr(1, P0), 5)
        (error,) = answer.topics[0].partition_errors
        assert error.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        codes = await cluster.lead(P0, 2, [1, 2], isr=[2])
        assert codes == {1: ErrorCode.KAFKA_STORAGE_ERROR, 2: ErrorCode.NONE}
        for delete in (False, True):
            code = await cluster.stop_replica(1, P0, 9, delete=delete)
            assert code == ErrorCode.KAFKA_STORAGE_ERROR
        assert (await cluster.produce(2, P0, batch(b"b"))).error_code == 0

    simulate(main, 1, **DIRS)


def test_a_follower_whose_disk_fails_stops_to_follow() -> None:
    async def main(cluster: Cluster) -> None:
        await two_partitions(cluster)
        for name in (P0, P1):
            await cluster.lead(name, 2, [1, 2])
        fail(cluster, "write")
        for name in (P0, P1):
            await cluster.produce(2, name, batch(b"b"))
        await cluster.until(lambda: cluster.state(P0).isr == (2,))
        fetchers = cluster.brokers[1].context.fetchers
        assert (fetchers.is_followed(P0), fetchers.is_followed(P1)) == (False, True)
        assert cluster.state(P1).isr == (1, 2)

    simulate(main, 1, **DIRS)


def test_a_read_that_fails() -> None:
    async def main(cluster: Cluster) -> None:
        await two_partitions(cluster)
        fail(cluster, "read", "/d1/orders", errno.EMFILE)
        assert (await cluster.fetch(1, P0, 0)).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert not cluster.brokers[1].replicas.is_offline(P0)
        fail(cluster, "read", "/d1/orders")
        assert (await cluster.fetch(1, P0, 0)).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert cluster.brokers[1].replicas.is_offline(P0)

    simulate(main, 1, **DIRS)


@pytest.mark.parametrize("operation", ["fsync", "write"])
def test_checkpoints_and_flushes_that_fail(operation: str) -> None:
    async def main(cluster: Cluster) -> None:
        await two_partitions(cluster)
        fail(cluster, operation)
        await cluster.until(lambda: cluster.brokers[1].replicas.is_offline(P0))
        assert cluster.brokers[1].failure is None
        assert (await cluster.produce(1, P1, batch(b"b"), acks=-1)).error_code == 0

    simulate(main, 1, log_flush_offset_checkpoint_interval_ms="1000", **DIRS)


def test_the_last_directory_takes_the_broker_with_it() -> None:
    async def main(cluster: Cluster) -> None:
        await two_partitions(cluster)
        for path, name in (("/d1", P0), ("/d2", P1)):
            assert not cluster.brokers[1].failed.is_set()
            fail(cluster, "write", path)
            await cluster.produce(1, name, batch(b"b"))
        assert cluster.brokers[1].failed.is_set()

    simulate(main, 1, **DIRS)


def test_a_replica_that_may_be_on_a_lost_disk_is_not_made_anew() -> None:
    async def main(cluster: Cluster) -> None:
        await two_partitions(cluster)
        cluster.kill(1)
        fail(cluster, "list")
        await cluster.start(1)
        codes = await cluster.lead(P0, 1, [1, 2], to=[1])
        assert codes == {1: ErrorCode.KAFKA_STORAGE_ERROR}
        assert (await cluster.lead(P1, 1, [1, 2], to=[1])) == {1: ErrorCode.NONE}
        new = TopicPartition(TOPIC, 2)
        assert (await cluster.lead(new, 1, [1], to=[1])) == {1: ErrorCode.NONE}
        assert cluster.brokers[1].replicas.log_dirs.directory_of(new) == "/d2"

    simulate(main, 1, **DIRS)


def test_a_replica_that_the_disk_does_not_let_go_is_not_told_to_be_deleted() -> None:
    async def main(cluster: Cluster) -> None:
        await two_partitions(cluster)
        fail(cluster, "rename")
        stop = ReplicaStop(name=P0, leader_epoch=EPOCH_DURING_DELETE, delete=True)
        handler = cluster.brokers[1].context.replica_roles
        for _ in range(2):
            assert handler.stop_replicas([stop]) == {P0: ErrorCode.KAFKA_STORAGE_ERROR}
        assert cluster.brokers[1].replicas.is_offline(P0)

    simulate(main, 1, **DIRS)


def test_a_repaired_disk_is_taken_up_by_a_restart() -> None:
    async def main(cluster: Cluster) -> None:
        await two_partitions(cluster)
        fail(cluster, "write")
        await cluster.produce(1, P0, batch(b"b"))
        cluster.disks[1].fail = None
        await cluster.stop(1)
        await cluster.start(1)
        assert (await cluster.lead(P0, 1, [1, 2], to=[1])) == {1: ErrorCode.NONE}
        assert cluster.brokers[1].replicas.partitions[P0].log.log_end_offset == 1

    simulate(main, 1, **DIRS)


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE])
def test_descriptors_that_run_out_take_no_directory_down(code: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        for _ in range(10):
            fail(cluster, "open", "/logs", code)
            produced = await cluster.produce(1, P0, batch(b"x" * 5000))
            cluster.disks[1].fail = None
            if produced.error_code:
                break
        assert produced.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        replicas = cluster.brokers[1].replicas
        fail(cluster, "open", "/logs", code)
        for _ in range(3):
            await asyncio.sleep(30)
        cluster.disks[1].fail = None
        assert (replicas.log_dirs.offline_directories, replicas.offline_count) == ({}, 0)
        assert (await cluster.produce(1, P0, batch(b"b"))).error_code == 0
        assert cluster.brokers[1].failure is None

    simulate(main, 1, log_segment_bytes="20000", log_flush_offset_checkpoint_interval_ms="1000")
