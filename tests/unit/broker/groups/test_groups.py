"""Coordinators that move with their partition, and what is never lost by that."""

import asyncio

from ballast.coordinator.states import GroupState
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.heartbeat import HeartbeatRequest
from tests.unit.broker.broker_cluster import P0, Cluster, simulate
from tests.unit.broker.group_requests import (
    AT_ONCE,
    GROUP,
    OFFSETS_P0,
    commit,
    coordinate,
    fetch_offset,
    join,
    join_request,
    loaded,
    stable,
)


def heartbeat(member_id: str, generation_id: int = 1) -> HeartbeatRequest:
    return HeartbeatRequest(group_id=GROUP, generation_id=generation_id, member_id=member_id)


def test_what_was_acknowledged_is_known_after_the_coordinators_death() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2, 3)
        for offset in range(5):
            assert await commit(cluster, 1, offset) == 0
        cluster.kill(1)
        await cluster.lead(OFFSETS_P0, 2, [1, 2, 3], isr=[2, 3])
        await loaded(cluster, 2)
        assert await fetch_offset(cluster, 2) == (0, 4)

    simulate(main, **AT_ONCE)


def test_a_group_goes_on_under_the_next_coordinator() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        joined = await stable(cluster)
        await cluster.lead(OFFSETS_P0, 2, [1, 2])
        gone = await cluster.ask(1, heartbeat(joined.member_id), 4)
        assert gone.error_code == ErrorCode.NOT_COORDINATOR
        await loaded(cluster, 2)
        alive = await cluster.ask(2, heartbeat(joined.member_id), 4)
        assert alive.error_code == 0
        group = cluster.brokers[2].context.groups.coordinator.group(GROUP)
        assert group is not None
        assert group.state is GroupState.STABLE
        # The old coordinator has no group left.
        assert cluster.brokers[1].context.groups.coordinator.groups == ()

    simulate(main, **AT_ONCE)


def test_a_coordinator_that_comes_back_reads_what_the_other_has_written() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        assert await commit(cluster, 1, 1) == 0
        await cluster.lead(OFFSETS_P0, 2, [1, 2])
        await loaded(cluster, 2)
        assert await commit(cluster, 2, 2) == 0
        await cluster.lead(OFFSETS_P0, 1, [1, 2])
        await loaded(cluster, 1)
        assert await fetch_offset(cluster, 1) == (0, 2)

    simulate(main, **AT_ONCE)


def test_leading_on_in_a_newer_epoch_disturbs_nobody() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        joined = await stable(cluster)
        coordinator = cluster.brokers[1].context.groups.coordinator
        before = coordinator.group(GROUP)
        await cluster.lead(OFFSETS_P0, 1, [1, 2])
        assert coordinator.group(GROUP) is before
        assert (await cluster.ask(1, heartbeat(joined.member_id), 4)).error_code == 0

    simulate(main, **AT_ONCE)


def test_a_broker_without_a_session_tells_no_offsets() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        assert await commit(cluster, 1, 3) == 0
        cluster.brokers[1].context.identity.lost()
        assert await fetch_offset(cluster, 1) == (ErrorCode.NOT_COORDINATOR, -1)

    simulate(main, **AT_ONCE)


def test_a_restarted_coordinator_knows_what_was_committed() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        assert await commit(cluster, 1, 7) == 0
        await cluster.stop(1)
        await cluster.start(1)
        await cluster.lead(OFFSETS_P0, 1, [1])
        await loaded(cluster, 1)
        assert await fetch_offset(cluster, 1) == (0, 7)

    simulate(main, **AT_ONCE)


def test_other_topics_have_no_groups() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        assert not cluster.brokers[1].context.groups.coordinator.is_loading

    simulate(main, **AT_ONCE)


def test_a_deleted_partition_has_no_groups() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        await commit(cluster, 1, 1)
        await cluster.stop_replica(1, OFFSETS_P0, 5, delete=True)
        assert cluster.brokers[1].context.groups.coordinator.groups == ()
        assert (await fetch_offset(cluster, 1))[0] == ErrorCode.NOT_COORDINATOR

    simulate(main, **AT_ONCE)


def test_whoever_waits_is_answered_when_the_broker_stops() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        await stable(cluster)
        pending = await cluster.ask(1, join_request(), 7)
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(cluster.ask(1, join_request(pending.member_id), 7))
            group = cluster.brokers[1].context.groups.coordinator.group(GROUP)
            assert group is not None
            await cluster.until(lambda: pending.member_id in group.members)
            await cluster.stop(1)
        assert waiting.result().error_code == ErrorCode.NOT_COORDINATOR

    simulate(main, controlled_shutdown_enable="false", **AT_ONCE)


def test_offsets_expire_by_themselves() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        await commit(cluster, 1, 1)
        await asyncio.sleep(50)
        assert await fetch_offset(cluster, 1) == (0, 1)
        await asyncio.sleep(30)
        assert await fetch_offset(cluster, 1) == (0, -1)
        assert cluster.brokers[1].context.groups.coordinator.groups == ()

    simulate(
        main,
        offsets_retention_minutes="1",
        offsets_retention_check_interval_ms="10000",
        **AT_ONCE,
    )


def test_member_ids_of_one_cluster_are_never_the_same() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        ids = {(await join(cluster, group_id=f"g{n}")).member_id for n in range(5)}
        assert len(ids) == 5

    simulate(main, **AT_ONCE)


def test_each_group_goes_with_its_partition() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        await cluster.lead(TopicPartition(OFFSETS_P0.topic, 1), 2, [1, 2])
        parts = {number: cluster.brokers[number].context.groups for number in (1, 2)}
        of_second = next(
            name for name in (f"g{n}" for n in range(9)) if parts[1].topic.partition_for(name) == 1
        )
        await cluster.until(lambda: parts[2].coordinator.check(of_second) == 0)
        assert parts[1].coordinator.check(of_second) == ErrorCode.NOT_COORDINATOR

    simulate(main, **AT_ONCE)
