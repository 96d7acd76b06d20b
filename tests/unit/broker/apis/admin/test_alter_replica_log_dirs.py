import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from ballast.protocol.messages.admin.describe_log_dirs import DescribeLogDirsRequest
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


def asked(*dirs: tuple[str, str, tuple[int, ...]]) -> AlterReplicaLogDirsRequest:
    return AlterReplicaLogDirsRequest(
        dirs=tuple(
            AlterReplicaLogDir(
                path=path, topics=(AlterReplicaLogDirTopic(name=topic, partitions=partitions),)
            )
            for path, topic, partitions in dirs
        )
    )


@pytest.mark.parametrize("version", range(3))
def test_each_replica_has_its_answer(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        request = asked(("/d2", "orders", (0, 7)), ("/d9", "orders", (0,)), ("/d2", "other", (0,)))
        answer = await cluster.ask(1, request, version)
        assert [
            (topic.topic_name, [(p.partition_index, p.error_code) for p in topic.partitions])
            for topic in answer.results
        ] == [
            (
                "orders",
                [
                    (0, ErrorCode.NONE),
                    (7, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
                    (0, ErrorCode.LOG_DIR_NOT_FOUND),
                ],
            ),
            ("other", [(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]),
        ]
        dirs = cluster.brokers[1].replicas.log_dirs
        await cluster.until(lambda: dirs.directory_of(P0) == "/d2")

    simulate(main, log_dirs="/d1,/d2")


def test_a_replica_under_way_is_described_in_both_directories() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        for _ in range(10):
            await cluster.produce(1, P0, batch(b"a" * 5000))
        await cluster.ask(1, asked(("/d2", "orders", (0,))), 2)
        future = cluster.brokers[1].replicas.log_dirs.futures[P0]
        await cluster.until(lambda: future.log_end_offset >= 2)
        answer = await cluster.ask(1, DescribeLogDirsRequest(topics=None), 2)
        found = {
            result.log_dir: [
                (p.partition_size, p.offset_lag, p.is_future_key)
                for topic in result.topics
                for p in topic.partitions
            ]
            for result in answer.results
        }
        assert found == {
            "/d1": [(10 * len(batch(b"a" * 5000)), 0, False)],
            "/d2": [(future.size_bytes, 10 - future.log_end_offset, True)],
        }

    simulate(main, log_dirs="/d1,/d2", replica_alter_log_dirs_io_max_bytes_per_second="10000")
