"""Whole lives of reassignments on a small cluster: ends, throttles, faults, and death anywhere."""

import asyncio
from dataclasses import replace

import pytest

from ballast.reassign.errors import StateMismatch
from ballast.reassign.ports import RequestError
from ballast.reassign.spec.spec import (
    Approval,
    ApprovalPolicy,
    Assignments,
    DesiredState,
    OnStalled,
    ReassignmentSpec,
    WhenUnderMinIsr,
)
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from ballast.reassign.throttle.throttle_values import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
)
from tests.unit.reassign.scenario import (
    ORIGINS,
    T0,
    T1,
    TARGETS,
    Scenario,
    always,
    assert_nothing_pending,
    cancel_after_first,
    cluster,
    edited_throttle,
    roll_back_after_two,
    spec,
    visits,
)


def test_a_plain_move_ends_in_the_plan_with_preferred_leaders() -> None:
    scenario = Scenario(cluster(), always(spec()))
    status = scenario.run()
    assert status.state is LifecycleState.COMPLETED
    assert {tp: scenario.cluster.replicas()[tp] for tp in TARGETS} == TARGETS
    assert all(scenario.cluster.partitions[tp].leader == TARGETS[tp][0] for tp in TARGETS)
    assert scenario.cluster.configs() == cluster().configs()
    assert scenario.cluster.most_in_flight_per_broker == 1
    assert scenario.reasons(ConditionType.SUCCEEDED)[-2:] == ["Verifying", "Completed"]
    assert status.progress is not None
    assert status.progress.summary == "4/4 (100%)"


def test_a_throttled_move_copies_nothing_without_throttle_and_leaves_none_behind() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000)))
    before = scenario.cluster.configs()
    status = scenario.run()
    assert status.state is LifecycleState.COMPLETED
    assert scenario.cluster.unthrottled_bytes == 0.0
    assert scenario.cluster.configs() == before
    assert scenario.reasons(ConditionType.THROTTLED) == [
        "NotRequested",
        "Applied",
        "Restoring",
        "Restored",
    ]


def test_only_moving_replicas_are_throttled_and_leave_the_lists_as_they_finish() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000)))
    lists = set()
    scenario.events = lambda scenario: lists.add(
        (
            scenario.cluster.topic_configs["t"].get(LEADER_REPLICAS),
            scenario.cluster.topic_configs["t"].get(FOLLOWER_REPLICAS),
        )
    )
    scenario.run()
    assert ("0:1,0:2,0:3,1:1,1:2,1:3,2:1,2:2,2:3", "0:4,1:4,2:4") in lists
    assert ("1:1,1:2,1:3,2:1,2:2,2:3", "1:4,2:4") in lists
    assert ("2:1,2:2,2:3", "2:4") in lists


def test_throttle_values_of_others_are_kept() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000)))
    scenario.cluster.topic_configs["t"] = {LEADER_REPLICAS: "0:1,9:9", "retention.ms": "5"}
    scenario.cluster.broker_configs[1] = {LEADER_RATE: "777", FOLLOWER_RATE: "888"}
    scenario.cluster.broker_configs[4] = {FOLLOWER_RATE: "999", "log.cleaner.threads": "2"}
    before = scenario.cluster.configs()
    assert scenario.run().state is LifecycleState.COMPLETED
    assert scenario.cluster.configs() == before


def test_a_move_to_where_it_is_already_completes_at_once() -> None:
    there = cluster()
    for tp, target in TARGETS.items():
        there.add(tp.topic, tp.partition, *target)
    scenario = Scenario(there, always(spec(rate=5000)))
    assert scenario.run().state is LifecycleState.COMPLETED
    assert [effect for effect in scenario.crash_point.effects if effect != "save"] == []


def test_an_ended_reassignment_stays_as_it_ended() -> None:
    scenario = Scenario(cluster(), always(spec()))
    scenario.run()
    effects = len(scenario.crash_point.effects)
    scenario.cluster.reassign(T0, (1, 2, 3))
    scenario.clock.cluster = None
    assert scenario.run().state is LifecycleState.COMPLETED
    assert len(scenario.crash_point.effects) == effects


def test_pause_lets_moves_in_flight_finish_and_keeps_the_throttle() -> None:
    seen: list[tuple[int, str | None]] = []

    def script(scenario: Scenario) -> ReassignmentSpec:
        if scenario.clock.seconds < 130 and scenario.completed() >= 1:
            followers = scenario.cluster.topic_configs["t"].get(FOLLOWER_REPLICAS)
            seen.append((scenario.completed(), followers))
            return spec(DesiredState.PAUSED, rate=2000, generation=2)
        return spec(rate=2000, generation=3 if scenario.completed() else 1)

    scenario = Scenario(cluster(), script)
    assert scenario.run().state is LifecycleState.COMPLETED
    assert "Paused" in scenario.reasons(ConditionType.PROGRESSING)
    assert "Paused" in scenario.reasons(ConditionType.SUCCEEDED)
    assert seen[-1][0] < len(TARGETS)
    assert seen[-1][1]


def test_cancel_leaves_what_is_complete_and_takes_back_what_is_pending() -> None:
    scenario = Scenario(cluster(), cancel_after_first)
    before = scenario.cluster.configs()
    status = scenario.run()
    assert status.state is LifecycleState.CANCELLED
    assert status.conditions[ConditionType.VERIFIED].status == "False"
    assert scenario.cluster.configs() == before
    assert_nothing_pending(scenario.cluster)
    assert 1 <= scenario.completed() < len(TARGETS)


def test_cancel_is_not_undone_by_asking_for_running_again() -> None:
    scenario = Scenario(cluster(), cancel_after_first)
    scenario.run()
    scenario.script = always(spec(generation=9))
    assert scenario.run().state is LifecycleState.CANCELLED


def test_rollback_brings_everything_back() -> None:
    scenario = Scenario(cluster(), roll_back_after_two)
    before = scenario.cluster.configs()
    assert scenario.run().state is LifecycleState.ROLLED_BACK
    assert {tp: scenario.cluster.replicas()[tp] for tp in ORIGINS} == ORIGINS
    assert scenario.cluster.configs() == before


def test_rollback_of_what_has_completed() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000)))
    before = scenario.cluster.configs()
    scenario.run()
    scenario.script = always(spec(DesiredState.ROLLED_BACK, rate=2000, generation=2))
    assert scenario.run().state is LifecycleState.ROLLED_BACK
    assert {tp: scenario.cluster.replicas()[tp] for tp in ORIGINS} == ORIGINS
    assert scenario.cluster.configs() == before
    assert scenario.cluster.unthrottled_bytes == 0.0


def test_the_throttle_is_edited_and_removed_while_running() -> None:
    rates = set()

    def script(scenario: Scenario) -> ReassignmentSpec:
        rates.add(scenario.cluster.broker_configs[4].get(FOLLOWER_RATE))
        return edited_throttle(scenario)

    scenario = Scenario(cluster(), script)
    before = scenario.cluster.configs()
    assert scenario.run().state is LifecycleState.COMPLETED
    assert {"1500", "3000", None} <= rates
    assert scenario.cluster.configs() == before


def test_an_unknown_broker_is_refused_and_nothing_is_touched() -> None:
    wanted = replace(
        spec(), assignments=Assignments(targets={T0: (1, 9)}, paths={T0: "spec.plan.x[0]"})
    )
    scenario = Scenario(cluster(), always(wanted))
    status = scenario.run()
    assert status.state is LifecycleState.INVALID
    accepted = status.conditions[ConditionType.ACCEPTED]
    assert (accepted.reason, accepted.message) == (
        "UnknownBroker",
        "spec.plan.x[0].replicas[1]: broker 9 does not exist",
    )
    assert scenario.crash_point.effects == []


def test_a_plan_waits_for_the_approval_of_its_digest() -> None:
    approval = Approval(policy=ApprovalPolicy.MANUAL)
    scenario = Scenario(cluster(), always(spec(approval=approval)))
    asyncio.run(visits(scenario, 5))
    assert scenario.crash_point.effects == ["save"]
    waiting = scenario.statuses[-1]
    assert waiting.state is LifecycleState.AWAITING_APPROVAL
    assert waiting.plan is not None
    wrong = replace(approval, plan_digest="sha256:" + "0" * 64)
    scenario.script = always(spec(approval=wrong))
    asyncio.run(visits(scenario, 3))
    assert scenario.statuses[-1].conditions[ConditionType.APPROVED].reason == "DigestMismatch"
    right = replace(approval, plan_digest=waiting.plan.digest)
    scenario.script = always(spec(approval=right))
    assert scenario.run().state is LifecycleState.COMPLETED


def test_an_approved_plan_is_stale_once_the_cluster_has_changed() -> None:
    approval = Approval(policy=ApprovalPolicy.MANUAL)
    scenario = Scenario(cluster(), always(spec(approval=approval)))
    asyncio.run(visits(scenario, 3))
    plan = scenario.statuses[-1].plan
    assert plan is not None
    scenario.cluster.reassign(T0, (1, 4, 3))
    scenario.clock.cluster = scenario.cluster
    scenario.cluster.live(10)
    scenario.script = always(spec(approval=replace(approval, plan_digest=plan.digest)))
    asyncio.run(visits(scenario, 3))
    assert scenario.statuses[-1].conditions[ConditionType.APPROVED].reason == "PlanStale"


def test_limits_of_automatic_approval() -> None:
    scenario = Scenario(cluster(), always(spec(approval=Approval(max_bytes_to_move=5999))))
    asyncio.run(visits(scenario, 3))
    assert scenario.statuses[-1].conditions[ConditionType.APPROVED].reason == "LimitExceeded"
    scenario.script = always(spec(approval=Approval(max_bytes_to_move=6000, max_replica_moves=3)))
    assert scenario.run().state is LifecycleState.COMPLETED


def test_a_refusal_for_good_fails_that_move_only() -> None:
    scenario = Scenario(cluster(), always(spec(rate=5000)))
    before = scenario.cluster.configs()
    scenario.admin.refusals[T1] = RequestError(error="POLICY_VIOLATION", message="no")
    status = scenario.run()
    assert status.state is LifecycleState.FAILED
    assert status.failures[0].reason == "POLICY_VIOLATION"
    assert scenario.completed() == 3
    assert scenario.cluster.configs() == before


@pytest.mark.parametrize(
    ("on_stalled", "outcome"),
    [
        (OnStalled.PAUSE, LifecycleState.COMPLETED),
        (OnStalled.CONTINUE, LifecycleState.COMPLETED),
        (OnStalled.ROLL_BACK, LifecycleState.ROLLED_BACK),
    ],
)
def test_no_progress_within_the_deadline(on_stalled: OnStalled, outcome: LifecycleState) -> None:
    wanted = spec(rate=2000, progress_deadline_seconds=20, on_stalled=on_stalled)
    scenario = Scenario(cluster(), always(wanted))
    before = scenario.cluster.configs()

    def events(scenario: Scenario) -> None:
        if scenario.completed() == 2:
            scenario.cluster.stop(4)
        if scenario.clock.seconds > 200:
            scenario.cluster.start(4)

    scenario.events = events
    assert scenario.run().state is outcome
    assert "ProgressDeadlineExceeded" in scenario.reasons(ConditionType.STALLED)
    assert scenario.cluster.configs() == before


def test_partitions_under_min_isr_hold_new_moves_back() -> None:
    scenario = Scenario(cluster(), always(spec()))
    scenario.cluster.topic_configs["t"]["min.insync.replicas"] = "3"
    scenario.cluster.stop(1)

    def events(scenario: Scenario) -> None:
        if scenario.clock.seconds > 130:
            scenario.cluster.start(1)

    scenario.events = events
    assert scenario.run().state is LifecycleState.COMPLETED
    assert "UnderMinISR" in scenario.reasons(ConditionType.PROGRESSING)


def test_under_min_isr_may_slow_down_instead() -> None:
    wanted = spec(when_under_min_isr=WhenUnderMinIsr.SLOW_DOWN, max_concurrent_moves_per_broker=9)
    scenario = Scenario(cluster(), always(wanted))
    scenario.cluster.topic_configs["t"]["min.insync.replicas"] = "3"
    scenario.cluster.stop(1)
    asyncio.run(visits(scenario, 20))
    assert scenario.cluster.most_in_flight_per_broker == 1


def test_a_throttle_below_what_producers_bring_in_is_reported() -> None:
    scenario = Scenario(cluster(), always(spec(rate=1024)))
    for partition in scenario.cluster.partitions.values():
        partition.bytes_per_second_in = 2000.0
    asyncio.run(visits(scenario, 60))
    assert scenario.reasons(ConditionType.PROGRESSING)[-1] == "ThrottleBelowIngress"


def test_state_of_another_reassignment_is_refused() -> None:
    scenario = Scenario(cluster(), always(spec()))
    scenario.run()
    for wanted in (
        replace(spec(), name="elsewhere"),
        replace(spec(), assignments=Assignments(targets={T0: (1, 2)})),
    ):
        scenario.script = always(wanted)
        with pytest.raises(StateMismatch):
            scenario.run()


def test_a_settled_reassignment_writes_nothing() -> None:
    scenario = Scenario(cluster(), always(spec(DesiredState.PAUSED, rate=2000)))
    asyncio.run(visits(scenario, 5))
    effects = len(scenario.crash_point.effects)
    asyncio.run(visits(scenario, 100))
    assert len(scenario.crash_point.effects) == effects
