"""Acknowledgement: what acks=all may and may not promise."""

import asyncio

import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.produce import PartitionProduceResponse
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


def test_below_min_insync_replicas_nothing_is_appended() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        answer = await cluster.produce(1, P0, batch(b"a"), acks=-1)
        assert answer.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
        assert cluster.brokers[1].replicas.partitions[P0].log.log_end_offset == 0
        assert (await cluster.produce(1, P0, batch(b"a"), acks=1)).error_code == 0

    simulate(main, min_insync_replicas="2")


def test_isr_that_shrinks_after_the_append_is_told() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        cluster.kill(2)
        answer = await cluster.produce(1, P0, batch(b"b"), acks=-1)
        assert answer.error_code == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND

    simulate(main, min_insync_replicas="2")


def test_time_out_means_unknown() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        cluster.kill(2)
        answer = await cluster.produce(1, P0, batch(b"b"), acks=-1, timeout_ms=300)
        assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
        assert cluster.brokers[1].replicas.partitions[P0].log.log_end_offset == 2

    simulate(main)


@pytest.mark.parametrize("leader_again", [False, True])
def test_a_leader_that_stepped_down_acknowledges_nothing_of_before(leader_again: bool) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        cluster.zookeeper.cut("broker-1")
        cluster.kill(2)
        waiting: asyncio.Task[PartitionProduceResponse]
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(cluster.produce(1, P0, batch(b"b"), acks=-1))
            await asyncio.sleep(0.1)
            await cluster.lead(P0, 2, [1, 2], isr=[2], to=[1])
            if leader_again:
                await cluster.lead(P0, 1, [1], to=[1])
        assert waiting.result().error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER

    simulate(main)


def test_the_same_leader_in_a_new_epoch_still_acknowledges() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.lead(P0, 2, [1, 2], to=[2])  # 2 does not fetch for now
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(cluster.produce(1, P0, batch(b"b"), acks=-1))
            await asyncio.sleep(0.1)
            await cluster.lead(P0, 1, [1, 2])
        assert (waiting.result().error_code, waiting.result().base_offset) == (0, 0)

    simulate(main)


def test_later_requests_of_the_connection_do_not_wait() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        cluster.kill(2)
        log = cluster.brokers[1].replicas.partitions[P0].log
        async with asyncio.TaskGroup() as tasks:
            for _ in range(3):
                tasks.create_task(cluster.produce(1, P0, batch(b"b"), acks=-1, timeout_ms=500))
            await cluster.until(lambda: log.log_end_offset == 4, within_s=0.2)

    simulate(main)
