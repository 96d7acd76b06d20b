"""Reassignments where min.insync.replicas is not set on topics, but for the whole cluster."""

import pytest

from ballast.model.ids import TopicPartition
from ballast.reassign.spec.spec import Assignments, ReassignmentSpec
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from tests.fakes.cluster_admin import FakeCluster
from tests.unit.reassign.scenario import Scenario, always

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
MINIMUM = {"min.insync.replicas": "2"}
PLACES = pytest.mark.parametrize("place", ["default_configs", "static_configs"])


def scenario(place: str, targets: dict[TopicPartition, tuple[int, ...]]) -> Scenario:
    cluster = FakeCluster(1, 2, 3, 4)
    setattr(cluster, place, dict(MINIMUM))
    cluster.add("t", 0, 1, 2)
    cluster.add("t", 1, 3)
    spec = ReassignmentSpec(name="move", generation=1, assignments=Assignments(targets=targets))
    return Scenario(cluster, always(spec))


@PLACES
def test_one_replica_becomes_three(place: str) -> None:
    move = scenario(place, {T1: (3, 1, 2)})
    assert move.run().state is LifecycleState.COMPLETED
    assert move.cluster.replicas()[T1] == (3, 1, 2)


@PLACES
def test_no_plan_takes_a_partition_below_the_minimum(place: str) -> None:
    move = scenario(place, {T0: (1,)})
    assert move.run().state is LifecycleState.INVALID
    assert move.reasons(ConditionType.ACCEPTED)[-1] == "BelowMinISR"
    assert move.cluster.replicas()[T0] == (1, 2)


@PLACES
def test_nothing_moves_while_a_live_replica_is_behind(place: str) -> None:
    move = scenario(place, {T0: (1, 2, 4), T1: (4,)})
    behind = move.cluster.partitions[T0]
    behind.isr, behind.sizes[2] = [1], -10_000_000.0
    waiting = 0

    def catch_up(_: Scenario) -> None:
        nonlocal waiting
        if 2 not in behind.isr:
            waiting += 1
            assert move.cluster.replicas() == {T0: (1, 2), T1: (3,)}
        if waiting == 20:
            behind.sizes[2] = behind.sizes[1]

    move.events = catch_up
    assert move.run().state is LifecycleState.COMPLETED
    assert "UnderMinISR" in move.reasons(ConditionType.PROGRESSING)


@PLACES
def test_a_lost_replica_holds_up_neither_its_cure_nor_others(place: str) -> None:
    move = scenario(place, {T0: (1, 4), T1: (4,)})
    move.cluster.stop(2)
    assert move.run().state is LifecycleState.COMPLETED
    assert move.cluster.replicas() == {T0: (1, 4), T1: (4,)}
