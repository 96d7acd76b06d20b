"""A broker with an empty disk in the place of the one it had (KAFKA-14139): who leads, who follows.

The model of brokers refuses a role as `ballast.broker.replicas.missing_replicas` does.
"""

import pytest

from ballast.controller.machines.elections import ElectionType
from ballast.controller.state.events import LeaderAndIsrAnswered
from ballast.controller.state.states import Replica
from ballast.model.ids import TopicPartition
from tests.fakes.broker_channels import describe_control_request
from tests.fakes.controller_cluster import ControllerCluster

T0 = TopicPartition("t", 0)


async def emptied(*isr: int, is_seen: bool) -> ControllerCluster:
    """Give broker 1 an empty disk; with ``is_seen`` its controller sees it go and come."""
    cluster = ControllerCluster()
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", (1, 2, 3), isr=isr)
    if is_seen:
        await cluster.fail_over()
    cluster.start_broker(1)
    cluster.missing.add((1, T0))
    if is_seen:
        await cluster.brokers_changed()
    else:
        await cluster.fail_over()
    # The other members of the assignment are out of the ISR, and stay so without a leader.
    await cluster.settle()
    return cluster


def lost(cluster: ControllerCluster) -> set[Replica]:
    return cluster.controller.context.offline_dir_replicas


@pytest.mark.parametrize(
    ("isr", "is_seen", "asks"),
    [((1, 2), True, 0), ((1, 2), False, 1), ((2, 1), True, 0), ((2, 1), False, 1)],
    ids=["a leader that bounced", "a leader", "a follower that bounced", "a follower"],
)
async def test_where_others_are_in_sync_it_follows_with_an_empty_log(
    isr: tuple[int, ...], is_seen: bool, asks: int
) -> None:
    cluster = await emptied(*isr, is_seen=is_seen)
    state = cluster.state(T0)
    assert (state.leader, set(state.isr)) == (2, {1, 2, 3})
    assert not lost(cluster)
    assert not cluster.missing
    assert cluster.log_dir_events == asks


@pytest.mark.parametrize("is_seen", [True, False])
async def test_the_last_in_sync_replica_leaves_nobody_to_lead(is_seen: bool) -> None:
    cluster = await emptied(1, is_seen=is_seen)
    assert (cluster.state(T0).leader, cluster.state(T0).isr) == (-1, (1,))
    assert lost(cluster) == {Replica(T0, 1)}
    assert cluster.log_dir_events == 0
    epoch, effects = cluster.state(T0).leader_epoch, cluster.effects.count
    refused = {T0: "KAFKA_STORAGE_ERROR"}
    await cluster.handle(LeaderAndIsrAnswered(broker_id=1, error="NONE", partition_errors=refused))
    assert (cluster.state(T0).leader_epoch, cluster.effects.count) == (epoch, effects)


async def test_an_unclean_election_lets_another_lead_and_it_follow() -> None:
    cluster = await emptied(1, is_seen=True)
    assert await cluster.controller.elect_leaders(ElectionType.UNCLEAN, [T0]) == {T0: None}
    assert (cluster.state(T0).leader, cluster.state(T0).isr) == (2, (2,))
    await cluster.settle()
    assert set(cluster.state(T0).isr) == {1, 2, 3}
    assert not lost(cluster)
    assert not cluster.missing


async def test_the_right_disk_leads_again() -> None:
    cluster = await emptied(1, is_seen=True)
    cluster.start_broker(1)
    cluster.missing.clear()
    await cluster.brokers_changed()
    await cluster.settle()
    assert (cluster.state(T0).leader, set(cluster.state(T0).isr)) == (1, {1, 2, 3})


async def test_each_controller_finds_out_once() -> None:
    cluster = await emptied(1, is_seen=True)
    epoch = cluster.state(T0).leader_epoch
    for failovers in (1, 2):
        await cluster.fail_over()
        await cluster.settle()
        # One election, and one that takes the leader back.
        assert cluster.state(T0).leader_epoch == epoch + 2 * failovers
        assert (cluster.state(T0).leader, cluster.state(T0).isr) == (-1, (1,))
    assert cluster.log_dir_events == 0


async def test_a_move_away_from_it_does_not_end() -> None:
    cluster = await emptied(1, is_seen=True)
    assert await cluster.controller.alter_partition_reassignments({T0: (2, 3)}) == {T0: None}
    await cluster.settle()
    assert (cluster.state(T0).leader, cluster.state(T0).isr) == (-1, (1,))
    assert cluster.replicas()[T0].removing_replicas == (1,)
    assert await cluster.controller.elect_leaders(ElectionType.UNCLEAN, [T0]) == {T0: None}
    await cluster.settle()
    assert cluster.replicas()[T0].replicas == (2, 3)
    assert set(cluster.state(T0).isr) == {2, 3}


async def test_it_can_be_shut_down() -> None:
    cluster = await emptied(1, is_seen=True)
    assert await cluster.controller.controlled_shutdown(1, -1) == frozenset()
    assert (cluster.state(T0).leader, cluster.state(T0).isr) == (-1, (1,))


async def test_its_topic_can_be_deleted() -> None:
    cluster = await emptied(1, is_seen=True)
    await cluster.controller.delete_topics(["t"])
    await cluster.settle()
    assert cluster.metadata.topics == {}
    assert cluster.log_dir_events == 0


async def test_an_answer_that_got_lost_is_made_up_for_by_the_next() -> None:
    """The request is sent again, and the broker calls it stale: it has the replica."""
    cluster = await emptied(1, is_seen=True)
    await cluster.controller.elect_leaders(ElectionType.UNCLEAN, [T0])
    stale = {T0: "STALE_CONTROLLER_EPOCH"}
    await cluster.handle(LeaderAndIsrAnswered(broker_id=1, error="NONE", partition_errors=stale))
    assert not lost(cluster)
    assert describe_control_request(cluster.channels.take(1)[-1]).startswith("UpdateMetadata")
