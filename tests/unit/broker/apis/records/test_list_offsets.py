import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ballast.protocol.records import build_batch
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


async def offset(
    cluster: Cluster,
    timestamp: int,
    *,
    version: int = 6,
    replica_id: int = -1,
    epoch: int = -1,
    partition: int = 0,
) -> ListOffsetsPartitionResponse:
    asked = ListOffsetsPartition(
        partition_index=partition, timestamp=timestamp, current_leader_epoch=epoch
    )
    request = ListOffsetsRequest(
        replica_id=replica_id, topics=(ListOffsetsTopic(name="orders", partitions=(asked,)),)
    )
    answer = (await cluster.ask(1, request, version)).topics[0].partitions[0]
    assert isinstance(answer, ListOffsetsPartitionResponse)
    return answer


@pytest.mark.parametrize("version", range(7))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a", b"b"))
        latest = await offset(cluster, -1, version=version)
        earliest = await offset(cluster, -2, version=version)
        if version == 0:
            assert (latest.old_style_offsets, earliest.old_style_offsets) == ((2,), (0,))
        else:
            assert (latest.offset, latest.timestamp, earliest.offset) == (2, -1, 0)
        if version >= 4:
            assert (latest.leader_epoch, earliest.leader_epoch) == (0, 0)

    simulate(main)


def test_the_first_record_at_or_after_a_time() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        for timestamp in (1000, 2000, 3000):
            await cluster.produce(1, P0, build_batch([(None, b"x", timestamp)]))
        found = await offset(cluster, 1500)
        assert (found.offset, found.timestamp) == (1, 2000)
        nothing = await offset(cluster, 9999)
        assert (nothing.error_code, nothing.offset, nothing.timestamp) == (0, -1, -1)

    simulate(main)


def test_consumers_see_the_high_watermark_and_replicas_the_end() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        cluster.kill(2)
        await cluster.produce(1, P0, build_batch([(None, b"x", 5)]))
        assert (await offset(cluster, -1)).offset == 1
        assert (await offset(cluster, -1, replica_id=2)).offset == 2
        await cluster.lead(P0, 1, [1, 2])
        assert (await offset(cluster, -1)).error_code == ErrorCode.OFFSET_NOT_AVAILABLE
        assert (await offset(cluster, -1, version=4)).error_code == ErrorCode.LEADER_NOT_AVAILABLE

    simulate(main)


def test_what_is_refused() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        assert (await offset(cluster, -1, epoch=9)).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
        assert (await offset(cluster, -1, partition=7)).error_code == 3
        assert (await offset(cluster, -7)).error_code == 43

    simulate(main)
