"""Reassignments that cannot come to their end: throttles go back, and others are let past."""

import pytest

from ballast.reassign.decision.transient_state import IDLE_SECONDS, MAX_ELECTIONS
from ballast.reassign.ports import RequestError
from ballast.reassign.spec.spec import DesiredState
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from ballast.reassign.throttle.throttle_values import LEADER_RATE
from tests.unit.reassign.house import (
    T0,
    TARGETS,
    House,
    always,
    assert_nothing_pending,
    cluster,
    spec,
)

NO = RequestError(error="CLUSTER_AUTHORIZATION_FAILED", message="Cluster authorization failed.")


def verified(house: House) -> tuple[str, str]:
    condition = house.statuses[-1].conditions[ConditionType.VERIFIED]
    return condition.status.value, condition.reason


def test_elections_that_are_refused_end_with_the_throttle_restored() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    before = house.cluster.configs()
    house.admin.election_refusal = NO
    tried_while_throttled: set[int] = set()

    def look(h: House) -> None:
        if h.cluster.configs() != before:
            tried_while_throttled.add(h.admin.elections)

    house.events = look
    assert house.run().state is LifecycleState.COMPLETED
    assert verified(house) == ("False", "PreferredLeaderNotElected")
    assert house.admin.elections == MAX_ELECTIONS
    assert tried_while_throttled == {0}
    assert house.cluster.configs() == before


def test_how_it_ended_is_remembered() -> None:
    house = House(cluster(), always(spec()))
    house.admin.election_refusal = NO
    house.run()
    house.run()
    assert verified(house) == ("False", "PreferredLeaderNotElected")


def test_a_target_that_dies_at_the_end_is_waited_for_so_long() -> None:
    house = House(cluster(), always(spec(rate=2000, progress_deadline_seconds=300)))
    before = house.cluster.configs()

    def die(h: House) -> None:
        if h.completed() == len(TARGETS) and h.cluster.configs() == before:
            h.cluster.stop(4)

    house.events = die
    assert house.run().state is LifecycleState.COMPLETED
    assert verified(house) == ("False", "DegradedReplicas")
    assert any(s.place is not None and s.place.yields for s in house.statuses)


def test_a_throttle_owed_to_a_target_that_died_lets_others_pass_and_is_put_back() -> None:
    house = House(cluster(), always(spec(rate=2000, progress_deadline_seconds=300)))
    before = house.cluster.configs()
    yielded = 0

    def die(h: House) -> None:
        nonlocal yielded
        if h.completed() == len(TARGETS) and not yielded:
            h.cluster.stop(4)
        place = h.statuses[-1].place if h.statuses else None
        if place is not None and place.yields:
            yielded += 1
            # What others set meanwhile on brokers that owe nothing is theirs.
            h.cluster.broker_configs[1][LEADER_RATE] = "77"
        if yielded == 1000:
            h.cluster.start(4)

    house.events = die
    assert house.run().state is LifecycleState.COMPLETED
    assert "ThrottleDebt" in house.reasons(ConditionType.PROGRESSING)
    house.cluster.broker_configs[1].pop(LEADER_RATE)
    assert house.cluster.configs() == before


def test_a_target_that_is_down_lets_others_pass_until_it_is_back() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    before = house.cluster.configs()
    house.cluster.stop(4)
    yielded: list[bool] = []

    def come_back(h: House) -> None:
        status = h.statuses[-1] if h.statuses else None
        if status is not None and status.place is not None and status.place.yields:
            assert h.cluster.configs() == before
            yielded.append(True)
        if h.clock.seconds > 100 + 3 * IDLE_SECONDS:
            h.cluster.start(4)

    house.events = come_back
    assert house.run().state is LifecycleState.COMPLETED
    assert house.completed() == len(TARGETS)
    assert yielded
    assert house.cluster.configs() == before
    assert house.cluster.unthrottled_bytes == 0


def test_moves_to_a_broker_that_died_are_taken_back_and_begin_again() -> None:
    house = House(cluster(), always(spec(rate=2000, progress_deadline_seconds=300)))
    held: list[float] = []

    def events(h: House) -> None:
        copying = any(4 in p.assignment.adding_replicas for p in h.cluster.partitions.values())
        if copying and h.completed() > 1 and not held:
            h.cluster.stop(4)
        place = h.statuses[-1].place if h.statuses else None
        if place is not None and place.yields:
            held.append(h.clock.seconds)
            assert_nothing_pending(h.cluster)
        if len(held) == 10:
            h.cluster.start(4)

    house.events = events
    assert house.run().state is LifecycleState.COMPLETED
    assert house.completed() == len(TARGETS)
    assert house.admin.cancels
    assert held


def test_a_cancel_that_is_refused_gives_the_throttle_back_and_is_no_hot_loop() -> None:
    house = House(
        cluster(),
        lambda h: spec(
            DesiredState.CANCELLED if h.admin.cancel_refusal else DesiredState.RUNNING, rate=10
        ),
    )
    before = house.cluster.configs()

    def refuse(h: House) -> None:
        if any(p.assignment.is_being_reassigned for p in h.cluster.partitions.values()):
            h.admin.cancel_refusal = h.admin.cancel_refusal or NO
            h.cluster.copy_rate = 0.001
        if h.clock.seconds > 700:
            h.cluster.copy_rate = 100_000.0

    house.events = refuse
    assert house.run().state is LifecycleState.CANCELLED
    assert "CancelRefused" in house.reasons(ConditionType.PROGRESSING)
    assert any(s.place is not None and s.place.yields for s in house.statuses)
    assert house.cluster.configs() == before
    assert 3 < house.admin.cancels < 40


@pytest.mark.parametrize("kind", [ConditionType.PROGRESSING, ConditionType.VERIFIED])
def test_a_refused_cancel_is_seen(kind: ConditionType) -> None:
    house = House(
        cluster(),
        lambda h: spec(DesiredState.CANCELLED if h.admin.cancel_refusal else DesiredState.RUNNING),
    )
    house.cluster.copy_rate = 100.0

    def refuse(h: House) -> None:
        if h.cluster.partitions[T0].assignment.is_being_reassigned:
            h.admin.cancel_refusal = NO

    house.events = refuse
    house.run()
    condition = next(
        s.conditions[kind]
        for s in house.statuses
        if kind in s.conditions and s.conditions[kind].reason == "CancelRefused"
    )
    assert condition.message.endswith("CLUSTER_AUTHORIZATION_FAILED Cluster authorization failed.")
