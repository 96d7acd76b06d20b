"""Replicas move between the directories of a broker while they are written, read and truncated."""

import errno
from collections.abc import Callable

import pytest

from ballast.broker.errors import PartitionError
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.storage.log.log import Log
from tests.unit.broker.broker_cluster import P0, TOPIC, Cluster, batch, simulate

DIRS = {"log_dirs": "/d1,/d2"}
P1 = TopicPartition(TOPIC, 1)
SLOW = {**DIRS, "replica_alter_log_dirs_io_max_bytes_per_second": "10000"}


def replicas_of(cluster: Cluster, broker_id: int = 1) -> ReplicaManager:
    return cluster.brokers[broker_id].replicas


def begin(cluster: Cluster, path: str, name: TopicPartition = P0, broker_id: int = 1) -> None:
    cluster.brokers[broker_id].context.log_dir_moves.begin(name, path)


def is_at(cluster: Cluster, path: str, name: TopicPartition = P0) -> Callable[[], bool]:
    return lambda: replicas_of(cluster).log_dirs.directory_of(name) == path


def values(log: Log) -> list[int]:
    """Return the sizes of what a log holds, batch by batch."""
    return [header.size for header in log.segments.batches_from(log.log_start_offset)]


async def fill(cluster: Cluster, count: int = 20, size: int = 100) -> None:
    for number in range(count):
        await cluster.produce(1, P0, batch(bytes([number % 256]) * size))


async def begin_slowly(cluster: Cluster, count: int, size: int, *, copied: int) -> None:
    """Begin a move of ``count`` batches; return when ``copied`` of them have been copied."""
    await cluster.start(1)
    await cluster.lead(P0, 1, [1])
    await fill(cluster, count, size)
    begin(cluster, "/d2")
    future = replicas_of(cluster).log_dirs.futures[P0]
    await cluster.until(lambda: future.log_end_offset >= copied)
    assert future.log_end_offset < count


def test_a_leader_moves_while_it_is_written() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await fill(cluster)
        partition = replicas_of(cluster).partitions[P0]
        before = partition.log
        begin(cluster, "/d2")
        assert cluster.brokers[1].context.log_dir_moves.is_moving(P0)
        await fill(cluster, 5)
        await cluster.until(is_at(cluster, "/d2"))
        assert partition.log is not before
        assert partition.log.log_end_offset == 25
        assert not cluster.brokers[1].context.log_dir_moves.is_moving(P0)
        produced = await cluster.produce(1, P0, batch(b"new"))
        assert (produced.error_code, produced.base_offset) == (0, 25)
        assert (await cluster.fetch(1, P0, 0)).error_code == 0
        assert partition.high_watermark == 26
        names = cluster.disks[1].names
        assert "orders-0" in names("/d2")
        assert "orders-0" not in names("/d1")

    simulate(main, 1, **DIRS)


def test_a_follower_moves_while_it_follows() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 2, [2, 1])
        for _ in range(5):
            await cluster.produce(2, P0, batch(b"a"), acks=-1)
        begin(cluster, "/d2")
        for _ in range(5):
            await cluster.produce(2, P0, batch(b"b"), acks=-1)
        await cluster.until(is_at(cluster, "/d2"))
        await cluster.produce(2, P0, batch(b"c"), acks=-1)
        assert replicas_of(cluster).partitions[P0].log.log_end_offset == 11
        assert cluster.state(P0).isr == (2, 1)

    simulate(main, 1, **DIRS)


def test_the_copy_is_cut_where_the_log_was_cut() -> None:
    async def main(cluster: Cluster) -> None:
        await begin_slowly(cluster, 10, 5000, copied=4)
        replicas = replicas_of(cluster)
        partition = replicas.partitions[P0]
        partition.truncate(2)
        partition.log.begin_leader_epoch(1)
        partition.leader_epoch = 1
        await cluster.produce(1, P0, batch(b"other" * 9))
        await cluster.until(is_at(cluster, "/d2"), 100)
        assert values(partition.log) == [
            len(batch(b"x" * 5000)),
            len(batch(b"x" * 5000)),
            len(batch(b"other" * 9)),
        ]

    simulate(main, 1, **SLOW)


def test_the_copy_begins_anew_where_the_log_began_anew() -> None:
    async def main(cluster: Cluster) -> None:
        await begin_slowly(cluster, 10, 5000, copied=2)
        replicas = replicas_of(cluster)
        partition = replicas.partitions[P0]
        partition.restart_at(100)
        partition.log.append_as_follower(memoryview(batch(b"a", base_offset=100, leader_epoch=0)))
        await cluster.until(is_at(cluster, "/d2"), 100)
        assert (partition.log.log_start_offset, partition.log.log_end_offset) == (100, 101)

    simulate(main, 1, **SLOW)


def test_deleted_records_are_not_copied() -> None:
    async def main(cluster: Cluster) -> None:
        await begin_slowly(cluster, 20, 5000, copied=2)
        replicas = replicas_of(cluster)
        replicas.partitions[P0].log.raise_log_start_offset(15)
        await cluster.until(is_at(cluster, "/d2"), 100)
        assert replicas.partitions[P0].log.log_start_offset == 15

    simulate(main, 1, **SLOW)


def test_no_faster_than_allowed_and_the_limit_may_be_changed() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await fill(cluster, 30, 10_000)
        started = cluster.loop.now
        begin(cluster, "/d2")
        future = replicas_of(cluster).log_dirs.futures[P0]
        await cluster.until(lambda: future.size_bytes >= 100_000, 100)
        assert 8 <= cluster.loop.now - started <= 12
        cluster.zookeeper.put(
            "/config/brokers/1",
            b'{"version":1,"config":'
            b'{"replica.alter.log.dirs.io.max.bytes.per.second":"100000000"}}',
        )
        cluster.zookeeper.put(
            "/config/changes/config_change_0000000000",
            b'{"version":2,"entity_path":"brokers/1"}',
        )
        await cluster.until(is_at(cluster, "/d2"), 3)

    simulate(main, 1, **SLOW)


def test_a_move_goes_on_after_a_restart() -> None:
    async def main(cluster: Cluster) -> None:
        await begin_slowly(cluster, 20, 10_000, copied=5)
        cluster.kill(1)
        await cluster.start(1)
        assert replicas_of(cluster).log_dirs.futures[P0].log_end_offset >= 5
        await cluster.lead(P0, 1, [1])
        await cluster.until(is_at(cluster, "/d2"), 100)
        assert replicas_of(cluster).partitions[P0].log.log_end_offset == 20

    simulate(main, 1, **SLOW)


def test_another_target_takes_the_place_of_the_first() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await fill(cluster, 20, 10_000)
        dirs = replicas_of(cluster).log_dirs
        begin(cluster, "/d2")
        begin(cluster, "/d3")
        assert dirs.future_directory_of(P0) == "/d3"
        begin(cluster, "/d1")
        assert dirs.future_directory_of(P0) is None
        begin(cluster, "/d2")
        begin(cluster, "/d2")
        assert dirs.future_directory_of(P0) == "/d2"

    simulate(main, 1, **(SLOW | {"log_dirs": "/d1,/d2,/d3"}))


@pytest.mark.parametrize("delete", [True, False])
def test_a_replica_that_is_stopped(*, delete: bool) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await fill(cluster, 20, 10_000)
        begin(cluster, "/d2")
        await cluster.stop_replica(1, P0, 0, delete=delete)
        dirs = replicas_of(cluster).log_dirs
        assert (P0 in dirs.futures) == (not delete)
        begun = cluster.brokers[1].context.log_dir_moves
        await cluster.until(lambda: begun.is_moving(P0) == (not delete))

    simulate(main, 1, **SLOW)


def refusal(cluster: Cluster, name: TopicPartition, path: str) -> ErrorCode:
    with pytest.raises(PartitionError) as refused:
        begin(cluster, path, name)
    return refused.value.code


def test_refusals() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1])
        await cluster.lead(P1, 2, [2])
        assert refusal(cluster, P0, "/d9") == ErrorCode.LOG_DIR_NOT_FOUND
        assert refusal(cluster, P1, "/d2") == ErrorCode.REPLICA_NOT_AVAILABLE
        unknown = TopicPartition("unknown", 0)
        assert refusal(cluster, unknown, "/d2") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        bad = TopicPartition("no/name", 0)
        assert refusal(cluster, bad, "/d2") == ErrorCode.INVALID_TOPIC_EXCEPTION
        long = TopicPartition("l" * 240, 0)
        await cluster.lead(long, 1, [1])
        assert refusal(cluster, long, "/d1" if is_at(cluster, "/d2", long)() else "/d2") == (
            ErrorCode.INVALID_TOPIC_EXCEPTION
        )
        cluster.disks[1].fail = lambda done, path: (
            errno.EIO if done == "mkdir" and path.startswith("/d2") else None
        )
        moved = P0 if is_at(cluster, "/d1")() else long
        assert refusal(cluster, moved, "/d2") == ErrorCode.KAFKA_STORAGE_ERROR
        assert refusal(cluster, moved, "/d2") == ErrorCode.KAFKA_STORAGE_ERROR

    simulate(main, 1, **DIRS)


def test_a_replica_that_comes_later_is_made_where_it_was_wanted() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 2, [2])
        assert refusal(cluster, P0, "/d2") == ErrorCode.REPLICA_NOT_AVAILABLE
        await cluster.lead(P0, 2, [2, 1], isr=[2])
        assert is_at(cluster, "/d2")()

    simulate(main, 1, **DIRS)


@pytest.mark.parametrize("failing", ["/d1", "/d2"])
def test_a_disk_that_fails_amid_a_move(failing: str) -> None:
    async def main(cluster: Cluster) -> None:
        await begin_slowly(cluster, 20, 10_000, copied=5)
        dirs = replicas_of(cluster).log_dirs
        refused = "read" if failing == "/d1" else "write"
        cluster.disks[1].fail = lambda done, path: (
            errno.EIO if done == refused and path.startswith(f"{failing}/orders") else None
        )
        await cluster.until(lambda: list(dirs.offline_directories) == [failing])
        cluster.disks[1].fail = None
        assert cluster.brokers[1].failure is None
        code = (await cluster.produce(1, P0, batch(b"a"))).error_code
        assert code == (ErrorCode.KAFKA_STORAGE_ERROR if failing == "/d1" else ErrorCode.NONE)

    simulate(main, 1, **SLOW)


def test_much_is_copied_in_turns_and_flushed_in_between() -> None:
    done: list[str] = []

    def note(operation: str, path: str) -> None:
        if path.startswith("/d2/") and path.endswith(".log"):
            done.append(operation)

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await fill(cluster, 20, 900_000)
        cluster.disks[1].fail = note
        begin(cluster, "/d2")
        await cluster.until(is_at(cluster, "/d2"))

    simulate(main, 1, **DIRS)
    assert done.count("write") == 20
    assert done.index("fsync") < len(done) - 1 - done[::-1].index("write")
