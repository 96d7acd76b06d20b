"""Reassignments that cannot end: throttles are restored, and others run."""

import pytest

from ballast.reassign.decision.transient_state import IDLE_S, MAX_ELECTIONS
from ballast.reassign.ports import RequestError
from ballast.reassign.spec.spec import DesiredState
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from ballast.reassign.throttle.throttle_values import LEADER_RATE
from tests.unit.reassign.scenario import (
    T0,
    TARGETS,
    Scenario,
    always,
    assert_nothing_pending,
    cluster,
    spec,
)

NO = RequestError(error="CLUSTER_AUTHORIZATION_FAILED", message="Cluster authorization failed.")


def verified(scenario: Scenario) -> tuple[str, str]:
    condition = scenario.statuses[-1].conditions[ConditionType.VERIFIED]
    return condition.status.value, condition.reason


def test_elections_that_are_refused_end_with_the_throttle_restored() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000)))
    before = scenario.cluster.configs()
    scenario.admin.election_refusal = NO
    tried_while_throttled: set[int] = set()

    def look(h: Scenario) -> None:
        if h.cluster.configs() != before:
            tried_while_throttled.add(h.admin.elections)

    scenario.events = look
    assert scenario.run().state is LifecycleState.COMPLETED
    assert verified(scenario) == ("False", "PreferredLeaderNotElected")
    assert scenario.admin.elections == MAX_ELECTIONS
    assert tried_while_throttled == {0}
    assert scenario.cluster.configs() == before


def test_how_it_ended_is_remembered() -> None:
    scenario = Scenario(cluster(), always(spec()))
    scenario.admin.election_refusal = NO
    scenario.run()
    scenario.run()
    assert verified(scenario) == ("False", "PreferredLeaderNotElected")


def test_a_target_that_dies_at_the_end_is_waited_for_so_long() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000, progress_deadline_seconds=300)))
    before = scenario.cluster.configs()

    def die(h: Scenario) -> None:
        if h.completed() == len(TARGETS) and h.cluster.configs() == before:
            h.cluster.stop(4)

    scenario.events = die
    assert scenario.run().state is LifecycleState.COMPLETED
    assert verified(scenario) == ("False", "DegradedReplicas")
    assert any(s.place is not None and s.place.yields for s in scenario.statuses)


def test_a_throttle_owed_to_a_target_that_died_lets_others_pass_and_is_put_back() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000, progress_deadline_seconds=300)))
    before = scenario.cluster.configs()
    yielded = 0

    def die(h: Scenario) -> None:
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

    scenario.events = die
    assert scenario.run().state is LifecycleState.COMPLETED
    assert "ThrottleDebt" in scenario.reasons(ConditionType.PROGRESSING)
    scenario.cluster.broker_configs[1].pop(LEADER_RATE)
    assert scenario.cluster.configs() == before


def test_a_target_that_is_down_lets_others_pass_until_it_is_back() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000)))
    before = scenario.cluster.configs()
    scenario.cluster.stop(4)
    yielded: list[bool] = []

    def come_back(h: Scenario) -> None:
        status = h.statuses[-1] if h.statuses else None
        if status is not None and status.place is not None and status.place.yields:
            assert h.cluster.configs() == before
            yielded.append(True)
        if h.clock.seconds > 100 + 3 * IDLE_S:
            h.cluster.start(4)

    scenario.events = come_back
    assert scenario.run().state is LifecycleState.COMPLETED
    assert scenario.completed() == len(TARGETS)
    assert yielded
    assert scenario.cluster.configs() == before
    assert scenario.cluster.unthrottled_bytes == 0


def test_moves_to_a_broker_that_died_are_taken_back_and_begin_again() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000, progress_deadline_seconds=300)))
    held: list[float] = []

    def events(h: Scenario) -> None:
        copying = any(4 in p.assignment.adding_replicas for p in h.cluster.partitions.values())
        if copying and h.completed() > 1 and not held:
            h.cluster.stop(4)
        place = h.statuses[-1].place if h.statuses else None
        if place is not None and place.yields:
            held.append(h.clock.seconds)
            assert_nothing_pending(h.cluster)
        if len(held) == 10:
            h.cluster.start(4)

    scenario.events = events
    assert scenario.run().state is LifecycleState.COMPLETED
    assert scenario.completed() == len(TARGETS)
    assert scenario.admin.cancels
    assert held


def test_a_cancel_that_is_refused_gives_the_throttle_back_and_is_no_hot_loop() -> None:
    scenario = Scenario(
        cluster(),
        lambda h: spec(
            DesiredState.CANCELLED if h.admin.cancel_refusal else DesiredState.RUNNING, rate=10
        ),
    )
    before = scenario.cluster.configs()

    def refuse(h: Scenario) -> None:
        if any(p.assignment.is_being_reassigned for p in h.cluster.partitions.values()):
            h.admin.cancel_refusal = h.admin.cancel_refusal or NO
            h.cluster.copy_rate = 0.001
        if h.clock.seconds > 700:
            h.cluster.copy_rate = 100_000.0

    scenario.events = refuse
    assert scenario.run().state is LifecycleState.CANCELLED
    assert "CancelRefused" in scenario.reasons(ConditionType.PROGRESSING)
    assert any(s.place is not None and s.place.yields for s in scenario.statuses)
    assert scenario.cluster.configs() == before
    assert 3 < scenario.admin.cancels < 40


@pytest.mark.parametrize("kind", [ConditionType.PROGRESSING, ConditionType.VERIFIED])
def test_a_refused_cancel_is_seen(kind: ConditionType) -> None:
    scenario = Scenario(
        cluster(),
        lambda h: spec(DesiredState.CANCELLED if h.admin.cancel_refusal else DesiredState.RUNNING),
    )
    scenario.cluster.copy_rate = 100.0

    def refuse(h: Scenario) -> None:
        if h.cluster.partitions[T0].assignment.is_being_reassigned:
            h.admin.cancel_refusal = NO

    scenario.events = refuse
    scenario.run()
    condition = next(
        s.conditions[kind]
        for s in scenario.statuses
        if kind in s.conditions and s.conditions[kind].reason == "CancelRefused"
    )
    assert condition.message.endswith("CLUSTER_AUTHORIZATION_FAILED Cluster authorization failed.")
