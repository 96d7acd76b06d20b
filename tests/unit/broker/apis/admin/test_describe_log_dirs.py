import pytest

from ballast.protocol.messages.admin.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from ballast.storage.errors import StorageError
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


@pytest.mark.parametrize("version", range(3))
def test_sizes_and_lags(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        for broker_id in (1, 2):
            answer = await cluster.ask(broker_id, DescribeLogDirsRequest(topics=None), version)
            (result,) = answer.results
            assert (result.error_code, result.log_dir) == (0, "/logs")
            (partition,) = result.topics[0].partitions
            assert partition.partition_size == len(batch(b"a"))
            assert (partition.offset_lag, partition.is_future_key) == (0, False)

    simulate(main)


def test_only_what_is_asked_for_and_is_here() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        for topic, partitions, expected in (
            ("orders", (0, 7), ["orders"]),
            ("orders", (7,), []),
            ("other", (0,), []),
        ):
            asked = DescribableLogDirTopic(topic=topic, partitions=partitions)
            answer = await cluster.ask(1, DescribeLogDirsRequest(topics=(asked,)), 2)
            assert [t.name for t in answer.results[0].topics] == expected

    simulate(main)


def test_a_directory_that_has_failed() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        cluster.brokers[1].replicas.log_dirs.take_offline("/logs", StorageError("gone"))
        answer = await cluster.ask(1, DescribeLogDirsRequest(topics=None), 2)
        assert (answer.results[0].error_code, answer.results[0].topics) == (56, ())

    simulate(main)
