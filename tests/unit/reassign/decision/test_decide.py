from collections.abc import Mapping
from dataclasses import replace

import pytest

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decide import decide, throttling_of
from ballast.reassign.decision.decision_input import TransientState
from ballast.reassign.decision.move_states import classify_moves
from ballast.reassign.decision.steps import (
    ApplyThrottle,
    CancelActive,
    Done,
    Finish,
    RejectSpec,
    RestoreThrottle,
    SaveState,
    SubmitBatch,
    Wait,
)
from ballast.reassign.plan.plan import Plan
from ballast.reassign.spec.spec import (
    Approval,
    ApprovalPolicy,
    DeletionPolicy,
    DesiredState,
    Execution,
    OnStalled,
    ReassignmentSpec,
    WhenUnderMinIsr,
)
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.persisted_state import Intent, PersistedState
from ballast.reassign.state.queueing import QueuePlace
from ballast.reassign.throttle.throttle_values import (
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    TOPIC_THROTTLES,
    rate_values,
)
from tests.unit.reassign.builders import (
    PLAN,
    T0,
    T1,
    TARGETS,
    decision_input,
    observation,
    partition,
    persisted_state,
    spec,
)

RUNNING, PAUSED = DesiredState.RUNNING, DesiredState.PAUSED
CANCELLED, ROLLED_BACK = DesiredState.CANCELLED, DesiredState.ROLLED_BACK
FRESH = persisted_state(started=False)
FORWARD = ReplicaAssignment.of(1, 2).reassign_to((1, 4))
FOREIGN: Mapping[TopicPartition, ReplicaAssignment] = {
    TopicPartition("other", 0): ReplicaAssignment.of(1).reassign_to((2,))
}
MOVED_ON = ReplicaAssignment.of(4, 2).reassign_to((2, 3))
DONE = (partition(T0, 1, 4), partition(T1, 4, 2))
LISTS = {LEADER_REPLICAS: "0:1,0:2,1:2,1:3", FOLLOWER_REPLICAS: "0:4,1:4"}
KNOWING = replace(
    persisted_state(),
    topic_throttles={"t": dict.fromkeys(TOPIC_THROTTLES)},
    broker_throttles={b: dict.fromkeys(rate_values(1)) for b in (1, 2, 3, 4)},
)
THROTTLED = observation(
    topic_configs={"t": LISTS}, broker_configs={b: rate_values(1000) for b in (1, 2, 3, 4)}
)


def ended(outcome: LifecycleState, intent: Intent = Intent.EXECUTE) -> PersistedState:
    return replace(persisted_state(intent), outcome=outcome)


class TestBeforeTheStart:
    def test_first_the_plan_is_saved(self) -> None:
        assert decide(decision_input()) == SaveState(state=FRESH)

    def test_then_the_start(self) -> None:
        step = decide(decision_input(state=FRESH))
        assert step == SaveState(state=replace(FRESH, start_time_ms=1_700_000_100_000))

    def test_a_contradiction_is_believed_when_it_lasts(self) -> None:
        impossible = spec(targets={T0: (1, 9)})
        first = decide(decision_input(wanted=impossible))
        assert isinstance(first, Wait)
        assert (first.state, first.reason) == (LifecycleState.PENDING, "UnknownBroker")
        lasting = decide(
            decision_input(wanted=impossible, transient=TransientState(problems_persist=True))
        )
        assert isinstance(lasting, RejectSpec)

    def test_a_plan_that_is_not_approved_by_digest_follows_the_cluster(self) -> None:
        stale = replace(FRESH, plan=Plan.of(TARGETS, {T0: (1, 3), T1: (3, 2)}))
        assert decide(decision_input(state=stale)) == SaveState(state=FRESH)

    @pytest.mark.parametrize(
        ("state", "outcome"),
        [(CANCELLED, LifecycleState.CANCELLED), (ROLLED_BACK, LifecycleState.ROLLED_BACK)],
    )
    def test_what_has_not_begun_ends_at_once(
        self, state: DesiredState, outcome: LifecycleState
    ) -> None:
        assert decide(decision_input(wanted=spec(state), state=FRESH)) == Finish(outcome=outcome)

    def test_it_waits_for_approval_then_for_leave_then_for_others(self) -> None:
        manual = spec(PAUSED, approval=Approval(policy=ApprovalPolicy.MANUAL))
        busy = observation(pending=FOREIGN)
        reasons = []
        for wanted in (manual, spec(PAUSED), spec()):
            step = decide(decision_input(busy, wanted=wanted, state=FRESH))
            assert isinstance(step, Wait)
            reasons.append((step.state.value, step.reason))
        assert reasons == [
            ("AwaitingApproval", "AwaitingApproval"),
            ("Paused", "Paused"),
            ("Queued", "ForeignReassignment"),
        ]


class TestInTheQueue:
    BEHIND = QueuePlace(position=4, blocked_by=("a", "b", "c", "d"))

    def test_it_waits_for_its_turn_before_it_begins(self) -> None:
        step = decide(replace(decision_input(state=FRESH), place=self.BEHIND))
        assert step == Wait(
            state=LifecycleState.QUEUED, reason="Queued", message="behind a, b, c and 1 more"
        )

    def test_what_has_begun_waits_for_nobody(self) -> None:
        step = decide(replace(decision_input(state=persisted_state()), place=self.BEHIND))
        assert isinstance(step, SubmitBatch)

    def test_who_is_not_approved_does_not_ask_for_a_turn(self) -> None:
        wanted = spec(approval=Approval(policy=ApprovalPolicy.MANUAL))
        step = decide(replace(decision_input(wanted=wanted, state=FRESH), place=self.BEHIND))
        assert isinstance(step, Wait)
        assert step.reason == "AwaitingApproval"

    def test_undoing_what_has_ended_waits_as_well(self) -> None:
        over = ended(LifecycleState.COMPLETED)
        asking = decision_input(observation(*DONE), wanted=spec(ROLLED_BACK), state=over)
        step = decide(replace(asking, place=self.BEHIND))
        assert isinstance(step, Wait)
        assert step.state is LifecycleState.QUEUED
        assert isinstance(decide(asking), SaveState)


class TestAPlanWithOrigins:
    STATED = replace(
        spec(), assignments=replace(spec().assignments, origins={T0: (1, 2), T1: (3, 2)})
    )
    MOVED = observation(partition(T0, 1, 3), partition(T1, 3, 2))

    def test_it_is_saved_as_stated(self) -> None:
        assert decide(decision_input(self.MOVED, wanted=self.STATED)) == SaveState(state=FRESH)

    def test_it_begins_where_it_says(self) -> None:
        step = decide(decision_input(wanted=self.STATED, state=FRESH))
        assert isinstance(step, SaveState)
        assert step.state.start_time_ms is not None

    def test_it_is_stale_elsewhere_and_never_made_anew(self) -> None:
        step = decide(decision_input(self.MOVED, wanted=self.STATED, state=FRESH))
        assert isinstance(step, Wait)
        assert (step.state, step.reason) == (LifecycleState.AWAITING_APPROVAL, "PlanStale")


def deleted(policy: DeletionPolicy) -> ReassignmentSpec:
    settings = replace(spec().settings, is_deleted=True, deletion_policy=policy)
    return replace(spec(), settings=settings)


class TestBeingDeleted:
    def test_what_has_not_begun_has_nothing_to_clean(self) -> None:
        impossible = replace(
            deleted(DeletionPolicy.CANCEL), assignments=spec(targets={T0: (1, 9)}).assignments
        )
        for state in (None, FRESH):
            step = decide(decision_input(wanted=impossible, state=state))
            assert step == Done(outcome=LifecycleState.CANCELLED)

    @pytest.mark.parametrize("policy", DeletionPolicy)
    def test_what_has_ended_stays_as_it_ended(self, policy: DeletionPolicy) -> None:
        over = ended(LifecycleState.COMPLETED)
        step = decide(decision_input(observation(*DONE), wanted=deleted(policy), state=over))
        assert step == Done(outcome=LifecycleState.COMPLETED)

    @pytest.mark.parametrize(
        ("policy", "intent"),
        [
            (DeletionPolicy.CANCEL, Intent.CANCEL_ON_DELETE),
            (DeletionPolicy.ROLL_BACK, Intent.ROLL_BACK),
            (DeletionPolicy.ORPHAN, Intent.ORPHAN),
        ],
    )
    def test_the_policy_becomes_the_intent(self, policy: DeletionPolicy, intent: Intent) -> None:
        step = decide(decision_input(wanted=deleted(policy), state=persisted_state()))
        assert step == SaveState(state=persisted_state(intent))

    @pytest.mark.parametrize(
        "pending", [FORWARD, ReplicaAssignment.of(1, 4).reassign_to((1, 2))], ids=["on", "back"]
    )
    def test_cancelling_takes_back_what_goes_either_way(self, pending: ReplicaAssignment) -> None:
        seen = observation(pending={T0: pending})
        step = decide(
            decision_input(
                seen,
                wanted=deleted(DeletionPolicy.CANCEL),
                state=persisted_state(Intent.CANCEL_ON_DELETE),
            )
        )
        assert step == CancelActive(partitions=(T0,))

    def test_an_orphan_only_gives_the_throttle_back(self) -> None:
        seen = replace(THROTTLED, pending={T0: FORWARD})
        left = replace(KNOWING, intent=Intent.ORPHAN)
        step = decide(decision_input(seen, wanted=deleted(DeletionPolicy.ORPHAN), state=left))
        assert isinstance(step, RestoreThrottle)
        calm = replace(observation(), pending={T0: FORWARD})
        step = decide(
            decision_input(
                calm, wanted=deleted(DeletionPolicy.ORPHAN), state=persisted_state(Intent.ORPHAN)
            )
        )
        assert step == Finish(outcome=LifecycleState.CANCELLED)


class TestUnderWay:
    def test_moves_are_submitted(self) -> None:
        assert decide(decision_input(state=persisted_state())) == SubmitBatch(targets=TARGETS)

    def test_throttle_values_are_remembered_then_set_then_moves_begin(self) -> None:
        wanted = spec(rate=1000)
        assert decide(decision_input(wanted=wanted, state=persisted_state())) == SaveState(
            state=KNOWING
        )
        set_first = decide(decision_input(wanted=wanted, state=KNOWING))
        assert isinstance(set_first, ApplyThrottle)
        assert set_first.change.topics == {"t": LISTS}
        assert set(set_first.change.brokers) == {1, 2, 3, 4}
        begins = decide(decision_input(THROTTLED, wanted=wanted, state=KNOWING))
        assert begins == SubmitBatch(targets=TARGETS)

    def test_pausing_keeps_the_throttle_and_submits_nothing(self) -> None:
        step = decide(decision_input(THROTTLED, wanted=spec(PAUSED, rate=1000), state=KNOWING))
        assert isinstance(step, Wait)
        assert step.state is LifecycleState.PAUSED

    def test_an_edited_throttle_is_applied_even_when_paused(self) -> None:
        step = decide(decision_input(THROTTLED, wanted=spec(PAUSED, rate=2000), state=KNOWING))
        assert isinstance(step, ApplyThrottle)
        assert step.change.brokers == {b: rate_values(2000) for b in (1, 2, 3, 4)}
        assert step.change.topics == {}

    def test_moves_in_flight_are_waited_for(self) -> None:
        going = observation(partition(T0, 4, 1, 2), partition(T1, 4, 2), pending={T0: FORWARD})
        step = decide(decision_input(going, state=persisted_state()))
        assert step == Wait(
            state=LifecycleState.EXECUTING, reason="Moving", message="1 moves in flight"
        )

    def test_a_target_that_is_down_is_waited_for(self) -> None:
        step = decide(decision_input(observation(live=(1, 2, 3)), state=persisted_state()))
        assert isinstance(step, Wait)
        assert step.reason == "TargetBrokerOffline"

    @pytest.mark.parametrize(
        ("on_stalled", "expected"), [(OnStalled.PAUSE, Wait), (OnStalled.CONTINUE, SubmitBatch)]
    )
    def test_no_progress(self, on_stalled: OnStalled, expected: type[object]) -> None:
        wanted = spec(execution=Execution(on_stalled=on_stalled))
        step = decide(
            decision_input(
                wanted=wanted, state=persisted_state(), transient=TransientState(is_stalled=True)
            )
        )
        assert isinstance(step, expected)

    def test_no_progress_may_roll_back_once(self) -> None:
        wanted = spec(execution=Execution(on_stalled=OnStalled.ROLL_BACK))
        stalled = TransientState(is_stalled=True)
        step = decide(decision_input(wanted=wanted, state=persisted_state(), transient=stalled))
        assert step == SaveState(state=persisted_state(Intent.ROLL_BACK))
        back = decide(
            decision_input(
                observation(*DONE),
                wanted=wanted,
                state=persisted_state(Intent.ROLL_BACK),
                transient=stalled,
            )
        )
        assert isinstance(back, SubmitBatch)

    @pytest.mark.parametrize(
        ("policy", "partitions"),
        [(WhenUnderMinIsr.PAUSE, 0), (WhenUnderMinIsr.SLOW_DOWN, 1), (WhenUnderMinIsr.IGNORE, 2)],
    )
    def test_partitions_under_min_isr(self, policy: WhenUnderMinIsr, partitions: int) -> None:
        thin = observation(
            partition(T0, 1, 2, isr=(1,)),
            partition(T1, 3, 2),
            min_isr=2,
        )
        wanted = spec(execution=Execution(when_under_min_isr=policy))
        step = decide(decision_input(thin, wanted=wanted, state=persisted_state()))
        assert (len(step.targets) if isinstance(step, SubmitBatch) else 0) == partitions


class TestCancelAndRollback:
    @pytest.mark.parametrize(
        ("state", "intent"), [(CANCELLED, Intent.CANCEL), (ROLLED_BACK, Intent.ROLL_BACK)]
    )
    def test_the_wish_is_saved_first(self, state: DesiredState, intent: Intent) -> None:
        step = decide(decision_input(wanted=spec(state), state=persisted_state()))
        assert step == SaveState(state=persisted_state(intent))

    def test_only_our_pending_moves_are_cancelled(self) -> None:
        busy = observation(partition(T0, 4, 1, 2), pending={T0: FORWARD, **FOREIGN})
        step = decide(
            decision_input(busy, wanted=spec(CANCELLED), state=persisted_state(Intent.CANCEL))
        )
        assert step == CancelActive(partitions=(T0,))

    def test_cancelling_ends_with_throttles_restored(self) -> None:
        state = replace(KNOWING, intent=Intent.CANCEL)
        step = decide(decision_input(THROTTLED, wanted=spec(CANCELLED, rate=1000), state=state))
        assert isinstance(step, RestoreThrottle)
        transient = TransientState(is_restore_sent=True)
        end = decide(decision_input(wanted=spec(CANCELLED), state=state, transient=transient))
        assert end == Finish(outcome=LifecycleState.CANCELLED)

    def test_rolling_back_moves_to_the_origins(self) -> None:
        state = persisted_state(Intent.ROLL_BACK)
        step = decide(decision_input(observation(*DONE), wanted=spec(ROLLED_BACK), state=state))
        assert step == SubmitBatch(targets=PLAN.inverse().targets)
        back = TransientState(rollback_submitted=frozenset(PLAN.targets))
        end = decide(decision_input(wanted=spec(ROLLED_BACK), state=state, transient=back))
        assert end == Finish(outcome=LifecycleState.ROLLED_BACK)

    def test_there_is_no_way_back_to_running(self) -> None:
        step = decide(decision_input(wanted=spec(RUNNING), state=persisted_state(Intent.CANCEL)))
        assert step == Finish(outcome=LifecycleState.CANCELLED)


class TestAfterTheEnd:
    @pytest.mark.parametrize("desired", [RUNNING, PAUSED, CANCELLED])
    def test_it_stays_as_it_ended(self, desired: DesiredState) -> None:
        state = ended(LifecycleState.COMPLETED)
        assert decide(decision_input(wanted=spec(desired), state=state)) == Done(
            outcome=LifecycleState.COMPLETED
        )

    def test_it_can_be_rolled_back(self) -> None:
        state = ended(LifecycleState.COMPLETED)
        step = decide(decision_input(wanted=spec(ROLLED_BACK), state=state))
        assert step == SaveState(state=persisted_state(Intent.ROLL_BACK))

    def test_what_never_began_cannot_be_rolled_back(self) -> None:
        state = replace(ended(LifecycleState.CANCELLED), start_time_ms=None)
        assert decide(decision_input(wanted=spec(ROLLED_BACK), state=state)) == Done(
            outcome=LifecycleState.CANCELLED
        )


def test_no_throttle_is_wanted_while_cancelling() -> None:
    of = decision_input(wanted=spec(rate=5))
    for intent, rate in ((Intent.EXECUTE, 5), (Intent.CANCEL, None)):
        state = persisted_state(intent)
        seen = classify_moves(state, of.observation, of.transient)
        assert throttling_of(of, state, seen).bytes_per_second == rate
