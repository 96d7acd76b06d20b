"""Deleting records at the leader, and the wait for followers."""

import asyncio
from collections.abc import Sequence

import pytest

from ballast.broker.replicas.delete_records import DelayedDeleteRecords, Deletion, delete_before
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate

OFFSETS = TopicPartition("__consumer_offsets", 0)


async def filled(cluster: Cluster, *, isr: Sequence[int] = (1,)) -> None:
    """Have broker 1 lead ten records, of which the followers outside of ``isr`` have none."""
    await cluster.start(1)
    await cluster.lead(P0, 1, [1, 2, 3], isr=isr)
    for _ in range(10):
        await cluster.produce(1, P0, batch(b"a" * 20))


def delete(cluster: Cluster, offset: int, name: TopicPartition = P0) -> Deletion:
    return delete_before(cluster.brokers[1].replicas, name, offset)


@pytest.mark.parametrize(
    ("offset", "start", "segments"),
    [
        pytest.param(0, 0, 10, id="none"),
        pytest.param(7, 7, 3, id="some"),
        pytest.param(10, 10, 1, id="all: the last segment stays, as it takes appends"),
        pytest.param(-1, 10, 1, id="up to the high watermark"),
    ],
)
def test_the_log_begins_at_the_offset(offset: int, start: int, segments: int) -> None:
    async def main(cluster: Cluster) -> None:
        await filled(cluster)
        deletion = delete(cluster, offset)
        assert (deletion.error, deletion.low_watermark) == (ErrorCode.NONE, start)
        assert not deletion.is_waiting
        log = cluster.brokers[1].replicas.partitions[P0].log
        assert log.log_start_offset == start
        assert log.segment_count == segments

    simulate(main, log_segment_bytes="100")


def test_a_log_never_begins_earlier_again() -> None:
    async def main(cluster: Cluster) -> None:
        await filled(cluster)
        delete(cluster, 7)
        assert delete(cluster, 3).low_watermark == 7

    simulate(main)


@pytest.mark.parametrize("offset", [11, -2, 2**62])
def test_offsets_outside_are_refused(offset: int) -> None:
    async def main(cluster: Cluster) -> None:
        await filled(cluster)
        deletion = delete(cluster, offset)
        assert (deletion.error, deletion.low_watermark) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
        assert cluster.brokers[1].replicas.partitions[P0].log.log_start_offset == 0

    simulate(main)


def test_nothing_above_the_high_watermark_is_deleted() -> None:
    async def main(cluster: Cluster) -> None:
        await filled(cluster, isr=(1, 2))
        assert cluster.brokers[1].replicas.partitions[P0].high_watermark == 0
        assert delete(cluster, 1).error == ErrorCode.OFFSET_OUT_OF_RANGE
        assert delete(cluster, -1).low_watermark == 0

    simulate(main)


def test_what_is_refused_altogether() -> None:
    async def main(cluster: Cluster) -> None:
        await filled(cluster)
        await cluster.lead(TopicPartition("elsewhere", 0), 2, [2])
        for name, code in (
            (OFFSETS, ErrorCode.INVALID_TOPIC_EXCEPTION),
            (TopicPartition("nowhere", 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            (TopicPartition("elsewhere", 0), ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ):
            assert delete(cluster, 0, name).error == code
        parts = cluster.brokers[1].context
        parts.configs.set_topic(P0.topic, {"cleanup.policy": "compact"})
        parts.replicas.reconfigure([P0.topic])
        assert delete(cluster, 1).error == ErrorCode.POLICY_VIOLATION
        parts.configs.set_topic(P0.topic, {"cleanup.policy": "compact,delete"})
        parts.replicas.reconfigure([P0.topic])
        assert delete(cluster, 1).error == ErrorCode.NONE
        parts.identity.lost()
        assert delete(cluster, 2).error == ErrorCode.NOT_LEADER_OR_FOLLOWER

    simulate(main)


def test_a_disk_that_refuses_ends_the_broker() -> None:
    async def main(cluster: Cluster) -> None:
        await filled(cluster)
        cluster.disks[1].fail = lambda done, _: 5 if done == "rename" else None
        assert delete(cluster, 7).error == ErrorCode.KAFKA_STORAGE_ERROR
        assert cluster.brokers[1].failure is not None

    simulate(main, log_segment_bytes="100")


async def waiting(
    cluster: Cluster, timeout_ms: int = 5000
) -> tuple[asyncio.Future[list[Deletion]], DelayedDeleteRecords]:
    """Have a deletion to 7 wait for broker 2, which lives; broker 3 is dead."""
    await filled(cluster)
    await cluster.start(2)
    await cluster.tell_metadata()
    replicas = cluster.brokers[1].replicas
    answer: asyncio.Future[list[Deletion]] = asyncio.get_running_loop().create_future()
    deletion = delete(cluster, 7)
    assert deletion.is_waiting
    operation = DelayedDeleteRecords(timeout_ms, replicas, [deletion], answer.set_result)
    replicas.purgatories.wait_for_log_starts(operation, operation.waited_for)
    assert not answer.done()
    return answer, operation


def test_a_live_follower_is_waited_for() -> None:
    async def main(cluster: Cluster) -> None:
        answer, _ = await waiting(cluster)
        await cluster.fetch(1, P0, 10, replica_id=2, log_start_offset=6)
        assert not answer.done()
        await cluster.fetch(1, P0, 10, replica_id=2, log_start_offset=8)
        (deletion,) = answer.result()
        # The smallest start is the leader's own.
        assert (deletion.error, deletion.low_watermark) == (ErrorCode.NONE, 7)

    simulate(main)


def test_time_runs_out() -> None:
    async def main(cluster: Cluster) -> None:
        answer, _ = await waiting(cluster, timeout_ms=300)
        await cluster.fetch(1, P0, 10, replica_id=2, log_start_offset=3)
        (deletion,) = await answer
        assert (deletion.error, deletion.low_watermark) == (ErrorCode.REQUEST_TIMED_OUT, 3)

    simulate(main)


def test_a_leader_that_is_deposed_says_so() -> None:
    async def main(cluster: Cluster) -> None:
        answer, _ = await waiting(cluster)
        await cluster.lead(P0, 2, [1, 2, 3])
        (deletion,) = answer.result()
        assert deletion.error == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert deletion.low_watermark == -1

    simulate(main)
