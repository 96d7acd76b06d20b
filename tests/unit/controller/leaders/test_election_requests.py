"""Elections on request: preferred, unclean, by znode."""

from ballast.controller.machines.elections import ElectionType
from ballast.controller.state.events import ZkPreferredElection
from ballast.model.ids import NO_LEADER, TopicPartition
from tests.fakes.controller_cluster import ControllerCluster

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)


async def start(
    *assignments: tuple[int, ...], isr: tuple[int, ...] | None = None
) -> ControllerCluster:
    cluster = ControllerCluster()
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", *assignments, isr=isr)
    await cluster.fail_over()
    return cluster


async def errors(
    cluster: ControllerCluster, election_type: ElectionType, *partitions: TopicPartition
) -> dict[TopicPartition, str | None]:
    answers = await cluster.controller.elect_leaders(election_type, partitions or None)
    return {tp: None if answer is None else answer.error for tp, answer in answers.items()}


async def test_preferred_leader_comes_back() -> None:
    cluster = await start((1, 2), isr=(2, 1))
    assert await errors(cluster, ElectionType.PREFERRED, T0) == {T0: None}
    assert (cluster.state(T0).leader, cluster.state(T0).leader_epoch) == (1, 1)
    assert await errors(cluster, ElectionType.PREFERRED) == {T0: "ELECTION_NOT_NEEDED"}


async def test_preferred_leader_that_is_not_in_sync() -> None:
    cluster = await start((1, 2), isr=(2,))
    answer = {T0: "PREFERRED_LEADER_NOT_AVAILABLE"}
    assert await errors(cluster, ElectionType.PREFERRED, T0) == answer
    assert cluster.state(T0).leader == 2


async def test_unclean_election_acts_on_leaderless_partitions_only() -> None:
    cluster = await start((1, 2), (2, 3))
    cluster.metadata.change_isr(T0, 1)
    cluster.stop_broker(1)
    await cluster.brokers_changed()
    assert await errors(cluster, ElectionType.UNCLEAN) == {T0: None, T1: "ELECTION_NOT_NEEDED"}
    assert (cluster.state(T0).leader, cluster.state(T0).isr) == (2, (2,))


async def test_unclean_election_without_any_live_replica() -> None:
    cluster = await start((1,))
    cluster.stop_broker(1)
    await cluster.brokers_changed()
    answer = {T0: "ELIGIBLE_LEADERS_NOT_AVAILABLE"}
    assert await errors(cluster, ElectionType.UNCLEAN, T0) == answer


async def test_unknown_partitions_and_topics_being_deleted() -> None:
    cluster = await start((1, 2), isr=(2, 1))
    unknown = TopicPartition("t", 5)
    assert await errors(cluster, ElectionType.PREFERRED, unknown) == {
        unknown: "UNKNOWN_TOPIC_OR_PARTITION"
    }
    await cluster.controller.delete_topics(["t"])
    assert await errors(cluster, ElectionType.PREFERRED, T0) == {T0: "INVALID_TOPIC_EXCEPTION"}


async def test_a_move_that_deletion_waits_for_needs_a_leader() -> None:
    cluster = await start((1, 2), isr=(1,))
    answers = await cluster.controller.alter_partition_reassignments({T0: (1, 3)})
    assert answers == {T0: None}
    await cluster.controller.delete_topics(["t"])
    cluster.stop_broker(1)
    await cluster.brokers_changed()
    assert cluster.state(T0).leader == NO_LEADER
    assert await errors(cluster, ElectionType.UNCLEAN, T0) == {T0: None}
    # As in Kafka, the first live replica leads, if it is one that is being added.
    assert cluster.state(T0).leader == 3


async def test_the_znode_is_served_and_deleted() -> None:
    cluster = await start((1, 2), isr=(2, 1))
    cluster.metadata.preferred_elections = {T0, TopicPartition("unknown", 3)}
    await cluster.handle(ZkPreferredElection())
    assert cluster.state(T0).leader == 1
    assert cluster.metadata.preferred_elections == set()


async def test_the_znode_is_served_at_failover_after_the_reassignments() -> None:
    cluster = await start((1, 2), isr=(2, 1))
    cluster.metadata.preferred_elections = {T0}
    cluster.metadata.reassignments = {T0: (2, 1)}
    await cluster.fail_over()
    assert cluster.state(T0).leader == 2
    assert cluster.metadata.preferred_elections == set()
