"""Imbalance of preferred leaders: when they are elected, and which are not."""

import pytest

from ballast.controller.leaders.leader_rebalance import Preference, preferences
from ballast.controller.machines.elections import ElectionType
from ballast.controller.state.events import (
    AutoPreferredReplicaLeaderElection,
    ZkPartitionReassignment,
)
from ballast.controller.state.options import ControllerOptions
from ballast.controller.state.states import Replica
from ballast.model.ids import TopicPartition
from ballast.model.settings.controller_config import ControllerConfig
from tests.fakes.controller_cluster import ControllerCluster

DUE = AutoPreferredReplicaLeaderElection()


def tp(number: int) -> TopicPartition:
    return TopicPartition("t", number)


async def start(*assignments: tuple[int, ...], percentage: int = 10) -> ControllerCluster:
    options = ControllerOptions(
        config=ControllerConfig(leader_imbalance_per_broker_percentage=percentage)
    )
    cluster = ControllerCluster(options=options)
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", *assignments)
    await cluster.fail_over()
    await cluster.settle()
    return cluster


async def bounce(cluster: ControllerCluster, *broker_ids: int) -> None:
    """Let brokers fail and come back: others lead from then on."""
    cluster.stop_broker(*broker_ids)
    await cluster.brokers_changed()
    cluster.start_broker(*broker_ids)
    await cluster.brokers_changed()
    await cluster.settle()
    cluster.metadata.log.clear()


def leaders(cluster: ControllerCluster) -> list[int]:
    return [state.leader for _, state in sorted(cluster.metadata.states.items())]


@pytest.mark.parametrize(
    ("imbalanced", "percentage", "exceeds"),
    [(0, 0, False), (1, 0, True), (1, 10, False), (2, 10, True), (10, 99, True), (10, 100, False)],
)
def test_the_share_must_be_exceeded(imbalanced: int, percentage: int, exceeds: bool) -> None:
    preference = Preference(partitions=10, imbalanced=tuple(map(tp, range(imbalanced))))
    assert preference.exceeds(percentage) is exceeds


async def test_leaders_come_back_in_one_write() -> None:
    cluster = await start((1, 2), (1, 3), (2, 1))
    await bounce(cluster, 1)
    assert leaders(cluster) == [2, 3, 2]
    cluster.store.calls.clear()
    await cluster.handle(DUE)
    assert leaders(cluster) == [1, 1, 2]
    assert cluster.store.calls.count("update_leadership") == 1
    await cluster.settle()
    cluster.metadata.log.clear()
    await cluster.handle(DUE)
    assert cluster.metadata.log == []


async def test_each_broker_has_a_share_of_its_own() -> None:
    cluster = await start(*[(1, 2)] * 9, (1, 3), (3, 2), percentage=50)
    await bounce(cluster, 3)
    await cluster.handle(DUE)
    assert leaders(cluster) == [1] * 10 + [3]
    await bounce(cluster, 1)
    for number in range(5):
        await cluster.controller.elect_leaders(ElectionType.PREFERRED, [tp(number)])
    await cluster.handle(DUE)
    assert leaders(cluster).count(1) == 5, "half of broker 1's ten are no more than half"


async def test_a_preferred_replica_that_cannot_lead_is_not_elected() -> None:
    cluster = await start((1, 2), (1, 2), (1, 2))
    await bounce(cluster, 1)
    cluster.metadata.change_isr(tp(0), 2)
    await cluster.isr_changed(tp(0), 2)
    cluster.controller.context.offline_dir_replicas.add(Replica(tp(1), 1))
    cluster.metadata.log.clear()
    cluster.controller.context.failures.clear()
    await cluster.handle(DUE)
    assert leaders(cluster) == [2, 2, 1]
    assert not cluster.controller.context.failures, "nothing is tried that is known to fail"


async def test_a_broker_that_is_gone_prefers_nothing() -> None:
    cluster = await start((1, 2))
    cluster.stop_broker(1)
    await cluster.brokers_changed()
    effects = cluster.effects.count
    await cluster.handle(DUE)
    assert cluster.effects.count == effects


async def test_a_move_elsewhere_holds_nothing_up() -> None:
    """KAFKA-10149; the partitions that move keep their leader until they have moved."""
    cluster = await start((1, 2), (1, 2))
    await bounce(cluster, 1)
    cluster.stop_broker(3)
    await cluster.brokers_changed()
    cluster.metadata.reassignments = {tp(0): (1, 3)}
    await cluster.handle(ZkPartitionReassignment())
    assert cluster.controller.context.being_reassigned == [tp(0)]
    await cluster.handle(DUE)
    assert leaders(cluster) == [2, 1]


async def test_topics_to_be_deleted_do_not_count() -> None:
    cluster = await start((1, 2))
    await bounce(cluster, 1)
    cluster.controller.context.queued_for_deletion.add("t")
    assert preferences(cluster.controller.context) == {}
    effects = cluster.effects.count
    await cluster.handle(DUE)
    assert cluster.effects.count == effects
