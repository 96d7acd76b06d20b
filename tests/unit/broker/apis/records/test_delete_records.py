import asyncio

import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


async def delete(
    cluster: Cluster, offset: int, *, version: int = 2, timeout_ms: int = 5000
) -> DeleteRecordsPartitionResult:
    partition = DeleteRecordsPartition(partition_index=0, offset=offset)
    request = DeleteRecordsRequest(
        topics=(DeleteRecordsTopic(name=P0.topic, partitions=(partition,)),),
        timeout_ms=timeout_ms,
    )
    (topic,) = (await cluster.ask(1, request, version)).topics
    assert topic.name == P0.topic
    (result,) = topic.partitions
    assert isinstance(result, DeleteRecordsPartitionResult)
    return result


async def fill(cluster: Cluster, *brokers: int) -> None:
    await cluster.start(*brokers)
    await cluster.lead(P0, 1, brokers)
    await cluster.produce(1, P0, batch(*[b"a"] * 10), acks=-1)


@pytest.mark.parametrize("version", range(3))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await fill(cluster, 1)
        result = await delete(cluster, 4, version=version)
        assert (result.partition_index, result.low_watermark, result.error_code) == (0, 4, 0)
        refused = await delete(cluster, 11, version=version)
        assert (refused.low_watermark, refused.error_code) == (-1, ErrorCode.OFFSET_OUT_OF_RANGE)

    simulate(main)


def test_answered_when_the_followers_have_deleted_too() -> None:
    async def main(cluster: Cluster) -> None:
        await fill(cluster, 1, 2, 3)
        result = await delete(cluster, 7)
        assert (result.low_watermark, result.error_code) == (7, ErrorCode.NONE)
        for broker in cluster.brokers.values():
            assert broker.replicas.partitions[P0].log.log_start_offset == 7

    simulate(main)


def test_a_follower_that_is_silent_is_waited_for_only_so_long() -> None:
    async def main(cluster: Cluster) -> None:
        await fill(cluster, 1, 2)
        cluster.kill(2)
        began = cluster.loop.time()
        result = await delete(cluster, 7, timeout_ms=1000)
        assert (result.low_watermark, result.error_code) == (0, ErrorCode.REQUEST_TIMED_OUT)
        assert 1.0 <= cluster.loop.time() - began < 1.1

    simulate(main)


def test_no_timeout_is_no_wait() -> None:
    async def main(cluster: Cluster) -> None:
        await fill(cluster, 1, 2)
        result = await delete(cluster, 7, timeout_ms=-1)
        assert result.error_code == ErrorCode.REQUEST_TIMED_OUT
        await asyncio.sleep(1)
        assert (await delete(cluster, 7)).low_watermark == 7

    simulate(main)
