"""What a leader's answers do to one followed partition."""

from collections.abc import Callable

import pytest
from msgspec import structs

from ballast.broker.following.followed_partition import LEADER_RETRY_MS, FollowedPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.fetch import EpochEndOffset, PartitionData
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate

BACKOFF_S = 0.2


def answer(records: bytes, high_watermark: int) -> PartitionData:
    return PartitionData(
        partition_index=0,
        error_code=0,
        high_watermark=high_watermark,
        log_start_offset=0,
        records=memoryview(records),
    )


def followed(test: Callable[[float, FollowedPartition], None]) -> None:
    """Run ``test`` with broker 2's replica, which holds offsets 0 to 2 and whose leader is away."""

    async def main(cluster: Cluster) -> None:
        await cluster.start(2)
        await cluster.lead(P0, 1, [1, 2])
        replicas = cluster.brokers[2].replicas
        partition = FollowedPartition(replicas, replicas.partitions[P0], leader_id=1)
        first = partition.take(answer(batch(b"a", b"b", b"c", leader_epoch=0), high_watermark=2))
        assert first is not None
        assert partition.append(first) == len(first.records)
        test(cluster.loop.time(), partition)

    simulate(main)


def test_records_are_appended_and_asked_for_from_there() -> None:
    def test(_: float, followed: FollowedPartition) -> None:
        assert followed.partition.log.log_end_offset == 3
        assert followed.partition.high_watermark == 2
        assert (followed.request.fetch_offset, followed.request.last_fetched_epoch) == (3, 0)
        assert followed.state.lag == 0

    followed(test)


def test_the_leaders_log_start_is_followed_and_confirmed() -> None:
    def test(_: float, followed: FollowedPartition) -> None:
        before = followed.state
        followed.take(structs.replace(answer(b"", high_watermark=3), log_start_offset=2))
        assert followed.partition.log.log_start_offset == 2
        assert followed.request.log_start_offset == 2
        assert followed.state.matches(before)

    followed(test)


def test_nothing_is_appended_before_it_is_told_to() -> None:
    def test(_: float, followed: FollowedPartition) -> None:
        more = followed.take(answer(batch(b"d", base_offset=3, leader_epoch=0), high_watermark=9))
        assert more is not None
        assert followed.partition.log.log_end_offset == 3
        assert followed.state == more.requested
        followed.append(more)
        assert followed.state == more.state_after()
        assert followed.state.lag == 5

    followed(test)


def test_damaged_records_wait_and_leave_the_log_alone() -> None:
    def test(now: float, followed: FollowedPartition) -> None:
        damaged = bytearray(batch(b"d", base_offset=3, leader_epoch=0))
        damaged[-1] ^= 1
        assert followed.take(answer(bytes(damaged), high_watermark=9)) is None
        assert followed.state.delayed_until == now + BACKOFF_S
        assert followed.partition.log.log_end_offset == 3

    followed(test)


def test_records_that_do_not_continue_the_log_wait() -> None:
    def test(now: float, followed: FollowedPartition) -> None:
        again = followed.take(answer(batch(b"c", base_offset=2, leader_epoch=0), high_watermark=9))
        assert again is not None
        assert followed.append(again) == 0
        assert not followed.state.ready(now)
        assert followed.request.fetch_offset == 3

    followed(test)


def test_a_divergence_cuts_the_log() -> None:
    def test(_: float, followed: FollowedPartition) -> None:
        more = followed.take(answer(batch(b"d", base_offset=3, leader_epoch=0), high_watermark=2))
        assert more is not None
        followed.append(more)
        diverging = PartitionData(
            partition_index=0,
            error_code=0,
            high_watermark=2,
            diverging_epoch=EpochEndOffset(epoch=0, end_offset=3),
        )
        assert followed.take(diverging) is None
        assert followed.partition.log.log_end_offset == 3
        assert followed.request.fetch_offset == 3

    followed(test)


@pytest.mark.parametrize("by_divergence", [True, False])
def test_what_is_cut_and_comes_again_is_to_be_compacted_again(by_divergence: bool) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(2)
        await cluster.lead(P0, 1, [1, 2])
        replicas = cluster.brokers[2].replicas
        partition = FollowedPartition(replicas, replicas.partitions[P0], leader_id=1)
        for offset in range(0, 9, 3):
            records = batch(b"a", b"b", b"c", base_offset=offset, leader_epoch=0)
            taken = partition.take(answer(records, high_watermark=2))
            assert taken is not None
            partition.append(taken)
            partition.partition.log.roll()
        log_dirs = replicas.log_dirs
        log_dirs.write_cleaner_offset(P0, 9)
        if by_divergence:
            cut = EpochEndOffset(epoch=0, end_offset=8)
            answered = answer(b"", high_watermark=2)
            partition.take(structs.replace(answered, diverging_epoch=cut))
        else:
            partition.take_range(0, 8)
        # The whole batch from 6 on has gone, so the segment's begin is where to clean from.
        assert partition.partition.log.log_end_offset == 6
        assert log_dirs.cleaner_offset(P0) == 6
        log_dirs.write_cleaner_offset(P0, 2)
        partition.take_range(0, 4)
        assert log_dirs.cleaner_offset(P0) == 2, "what lies below the cut stays as it is"

    simulate(main)


def test_a_refusal_waits_as_long_as_it_is_worth() -> None:
    def test(now: float, followed: FollowedPartition) -> None:
        followed.refused(ErrorCode.UNKNOWN_LEADER_EPOCH)
        assert followed.state.delayed_until == now + LEADER_RETRY_MS / 1000
        followed.refused(ErrorCode.KAFKA_STORAGE_ERROR)
        assert followed.state.delayed_until == now + BACKOFF_S

    followed(test)


def test_a_leader_that_begins_later_restarts_the_log_there() -> None:
    def test(now: float, followed: FollowedPartition) -> None:
        followed.take_range(10, 20)
        log = followed.partition.log
        assert (log.log_start_offset, log.log_end_offset) == (10, 10)
        assert followed.request.fetch_offset == 10
        assert followed.state.ready(now)

    followed(test)


def test_a_range_that_holds_the_offset_is_asked_again_after_a_while() -> None:
    def test(now: float, followed: FollowedPartition) -> None:
        followed.take_range(1, 20)
        assert followed.request.fetch_offset == 3
        assert followed.state.delayed_until == now + BACKOFF_S

    followed(test)
