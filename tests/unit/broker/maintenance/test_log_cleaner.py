import errno
from functools import partial

import pytest

from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.record_reader import read_records
from ballast.protocol.records import build_batch, iter_batches
from tests.unit.broker.broker_cluster import EPOCH_MS, P0, TOPIC, Cluster, batch, simulate

P1 = TopicPartition(TOPIC, 1)
COMPACTED = {
    "log_cleanup_policy": "compact",
    "log_segment_bytes": "285",
    "log_cleaner_backoff_ms": "1000",
    "log_cleaner_min_cleanable_ratio": "0.1",
}


async def put(cluster: Cluster, text: str, name: TopicPartition = P0, broker_id: int = 1) -> None:
    for word in text.split():
        records = build_batch([(word[:1].encode(), word[1:].encode(), EPOCH_MS)])
        produced = await cluster.produce(broker_id, name, records, acks=-1)
        assert produced.error_code == 0


def kept(cluster: Cluster, name: TopicPartition = P0, broker_id: int = 1) -> str:
    log = cluster.brokers[broker_id].replicas.partitions[name].log
    words = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        data = log.read(offset, max_bytes=1 << 20)
        for position, header in iter_batches(data):
            offset = header.next_offset
            words += [
                ((r.key or b"") + (r.value or b"-")).decode() for r in read_records(data, position)
            ]
    return " ".join(words)


def is_done(cluster: Cluster, broker_id: int) -> bool:
    """Whether the checkpoint says that all but the last record of nine is clean."""
    disk, path = cluster.disks[broker_id], "/logs/cleaner-offset-checkpoint"
    return disk.exists(path) and disk.content(path) == b"0\n1\norders 0 8\n"


def test_every_replica_is_compacted_and_remembers_up_to_where() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await put(cluster, "a1 a2 a3 b1 a4 a5 b2 c1 a6")
        for broker_id in (1, 2):
            await cluster.until(partial(is_done, cluster, broker_id))
            assert kept(cluster, broker_id=broker_id) == "a5 b2 c1 a6"

    simulate(main, 1, **COMPACTED)


def test_records_without_key_are_refused() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        answer = await cluster.produce(1, P0, batch(b"a"))
        assert answer.error_code == ErrorCode.INVALID_RECORD

    simulate(main, 1, **COMPACTED)


def is_after(cluster: Cluster, time_s: float) -> bool:
    return cluster.loop.now > time_s


def test_a_deleted_key_goes_in_time() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        gone = build_batch([(b"a", None, EPOCH_MS)])
        await put(cluster, "a1")
        assert (await cluster.produce(1, P0, gone)).error_code == 0
        await put(cluster, "b1 b2 c1")
        await cluster.until(lambda: kept(cluster) == "a- b2 c1")
        for number in range(3):
            end = cluster.loop.now + 20
            await cluster.until(partial(is_after, cluster, end), 100)
            await put(cluster, f"d{number} e1 e2 e3")
        await cluster.until(lambda: "a-" not in kept(cluster))

    simulate(main, 1, log_cleaner_delete_retention_ms="10000", **COMPACTED)


def test_the_dirtiest_log_comes_first_and_a_clean_one_never() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        for name in (P0, P1):
            await cluster.lead(name, 1, [1])
        dirs = cluster.brokers[1].replicas.log_dirs
        await put(cluster, "a1 a2 a3 a4 a5")
        await cluster.until(lambda: dirs.cleaner_offset(P0) == 4)
        await put(cluster, "b1 c1 d1 e1 f1")
        await put(cluster, "b1 c1 d1 e1 f1", P1)
        await cluster.until(lambda: dirs.cleaner_offset(P1) == 4)
        await cluster.until(lambda: dirs.cleaner_offset(P0) == 8)

    simulate(main, 1, **COMPACTED)


def test_a_damaged_log_is_left_alone_and_the_others_are_not() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        for name in (P0, P1):
            await cluster.lead(name, 1, [1])
        await put(cluster, "a1 a2 a3 a4 a5")
        path = f"/logs/orders-0/{0:020d}.log"
        data = bytearray(cluster.disks[1].content(path))
        data[61] = 3
        cluster.disks[1].replace_content(path, bytes(data))
        await put(cluster, "a1 a2 a3 a4 a5", P1)
        await cluster.until(lambda: kept(cluster, P1) == "a4 a5")
        assert cluster.disks[1].content(path) == bytes(data)
        assert cluster.brokers[1].failure is None
        cleaner = cluster.brokers[1].context.log_cleaner
        assert cleaner.uncleanable_count == 1
        await cluster.stop_replica(1, P0, 0, delete=True)
        await cluster.until(lambda: cleaner.uncleanable_count == 0)

    simulate(main, 1, **COMPACTED)


def test_a_disk_that_fails_goes_offline() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        cluster.disks[1].fail = lambda done, path: (
            errno.EIO if done == "rename" and path.startswith("/d1/orders") else None
        )
        await put(cluster, "a1 a2 a3 a4 a5")
        dirs = cluster.brokers[1].replicas.log_dirs
        await cluster.until(lambda: list(dirs.offline_directories) == ["/d1"])

    simulate(main, 1, log_dirs="/d1,/d2", **COMPACTED)


@pytest.mark.parametrize(("rate", "least_s"), [("1.7976931348623157E308", 0.0), ("100.0", 12.0)])
def test_it_reads_and_writes_no_faster_than_allowed(rate: str, least_s: float) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await put(cluster, "a1 a2 a3 b1 a4 a5 b2 c1 a6")
        await cluster.until(partial(is_done, cluster, 1))
        size_bytes = cluster.brokers[1].replicas.partitions[P0].log.size_bytes
        assert kept(cluster) == "a5 b2 c1 a6"
        # Eight batches of some 75 bytes are read twice, what stays of them is written.
        assert size_bytes < 400
        assert least_s <= cluster.loop.now < least_s + 8

    simulate(main, 1, **COMPACTED, log_cleaner_io_max_bytes_per_second=rate)


def test_a_replica_that_moves_is_not_compacted() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        cluster.brokers[1].context.log_dir_moves.begin(P0, "/d2")
        dirs = cluster.brokers[1].replicas.log_dirs
        await put(cluster, "a1 a2 a3 a4 a5")
        await cluster.until(lambda: dirs.directory_of(P0) == "/d2", 100)
        assert kept(cluster) == "a1 a2 a3 a4 a5"
        await cluster.until(lambda: kept(cluster) == "a4 a5")

    simulate(
        main,
        1,
        log_dirs="/d1,/d2",
        replica_alter_log_dirs_io_max_bytes_per_second="70",
        **COMPACTED,
    )


def test_a_topic_that_becomes_compacted_while_the_broker_runs() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await put(cluster, "a1 a2 a3 a4 a5")
        cluster.zookeeper.put(
            "/config/topics/orders", b'{"version":1,"config":{"cleanup.policy":"compact"}}'
        )
        cluster.zookeeper.put(
            "/config/changes/config_change_0000000000",
            b'{"version":2,"entity_path":"topics/orders"}',
        )
        await cluster.until(lambda: kept(cluster) == "a4 a5")

    simulate(main, 1, **{**COMPACTED, "log_cleanup_policy": "delete"})


def test_it_may_be_switched_off() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await put(cluster, "a1 a2 a3 a4 a5")
        until = cluster.loop.now + 10
        await cluster.until(lambda: cluster.loop.now > until)
        assert kept(cluster) == "a1 a2 a3 a4 a5"

    simulate(main, 1, log_cleaner_enable="false", **COMPACTED)


def test_a_broker_that_stops_meanwhile_leaves_no_file_and_touches_none_later() -> None:
    """Once the directories are unlocked, what has the same name may be another process's."""

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        disk = cluster.disks[1]
        folder = "/logs/orders-0"
        await cluster.lead(P0, 1, [1])
        await put(cluster, "a1 a2 a3 b1 a4 a5 b2 c1 a6")
        disk.pause_s = lambda: 0.01
        await cluster.until(lambda: any(n.endswith(".cleaned") for n in disk.names_now(folder)))
        disk.pause_s = lambda: 3600.0
        unlocked: list[str] = []

        def look(operation: str, path: str) -> None:
            if not disk.holds_lock("/logs/.lock"):
                unlocked.append(f"{operation} {path}")

        disk.fail = look
        await cluster.stop(1)
        assert unlocked == []
        assert [n for n in disk.names_now(folder) if n.endswith(".cleaned")] == []

    simulate(main, 1, **COMPACTED)
