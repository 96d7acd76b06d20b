import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


async def end_of(
    cluster: Cluster, leader_epoch: int, *, version: int = 4, current: int = -1, partition: int = 0
) -> EpochEndOffset:
    asked = OffsetForLeaderPartition(
        partition=partition, leader_epoch=leader_epoch, current_leader_epoch=current
    )
    request = OffsetForLeaderEpochRequest(
        topics=(OffsetForLeaderTopic(topic="orders", partitions=(asked,)),)
    )
    answer = (await cluster.ask(1, request, version)).topics[0].partitions[0]
    assert isinstance(answer, EpochEndOffset)
    return answer


@pytest.mark.parametrize("version", range(5))
def test_where_epochs_end(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        for _ in range(2):
            await cluster.lead(P0, 1, [1])
            await cluster.produce(1, P0, batch(b"a", b"b"))
        ends = [(await end_of(cluster, epoch, version=version)).end_offset for epoch in (0, 1, 2)]
        assert ends == [2, 4, -1]
        if version >= 1:
            assert (await end_of(cluster, 0, version=version)).leader_epoch == 0

    simulate(main)


def test_what_is_refused() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.lead(P0, 1, [1])
        assert (await end_of(cluster, 0, current=0)).error_code == ErrorCode.FENCED_LEADER_EPOCH
        assert (await end_of(cluster, 0, current=2)).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
        unknown = await end_of(cluster, 0, partition=9)
        assert (unknown.error_code, unknown.end_offset) == (3, -1)

    simulate(main)
