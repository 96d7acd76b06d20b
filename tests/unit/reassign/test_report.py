from collections.abc import Mapping
from dataclasses import replace

import pytest

from ballast.model.assignments import ReplicaAssignment
from ballast.model.conditions import Condition
from ballast.model.fields import FieldError
from ballast.reassign.decision.admission import Problem
from ballast.reassign.decision.decision_input import Observation, TransientState
from ballast.reassign.decision.steps import (
    Done,
    Finish,
    RejectSpec,
    SaveState,
    Step,
    SubmitBatch,
    Wait,
)
from ballast.reassign.decision.throttle_plan import Throttling
from ballast.reassign.ports import RequestError
from ballast.reassign.report import StepResult, report, unavailable
from ballast.reassign.spec.spec import Approval, ApprovalPolicy
from ballast.reassign.state.conditions import ConditionType, LifecycleState, updated
from ballast.reassign.state.persisted_state import PersistedState
from ballast.reassign.state.queueing import QueuePlace
from ballast.reassign.state.status import Status
from tests.unit.reassign.builders import (
    PLAN,
    T0,
    T1,
    decision_input,
    observation,
    partition,
    persisted_state,
    spec,
)

PROBLEM = Problem(kind="UnknownBroker", error=FieldError(path="p", reason="r"))
MOVING = Wait(state=LifecycleState.EXECUTING, reason="Moving")
SIZES = {(T0, 1): 100, (T0, 4): 40, (T1, 3): 60}


def said(
    step: Step,
    *,
    state: PersistedState | None = None,
    transient: TransientState | None = None,
    seen: Observation | None = None,
    throttling: Throttling | None = None,
    before: Mapping[ConditionType, Condition] | None = None,
    approval: Approval | None = None,
) -> Status:
    wanted = spec(approval=approval)
    return report(
        StepResult(
            inputs=decision_input(seen, wanted=wanted, state=state, transient=transient),
            step=step,
            throttling=throttling,
            bytes_per_second=12.0,
            conditions=before or {},
        )
    )


def reasons(status: Status, *kinds: ConditionType) -> list[str]:
    return [f"{status.conditions[k].status.value} {status.conditions[k].reason}" for k in kinds]


ACCEPTED, APPROVED = ConditionType.ACCEPTED, ConditionType.APPROVED
PROGRESSING, SUCCEEDED = ConditionType.PROGRESSING, ConditionType.SUCCEEDED
VERIFIED, STALLED, THROTTLED = (
    ConditionType.VERIFIED,
    ConditionType.STALLED,
    ConditionType.THROTTLED,
)


def test_a_refused_spec_is_invalid() -> None:
    status = said(RejectSpec(problems=(PROBLEM,)))
    assert reasons(status, ACCEPTED, SUCCEEDED) == ["False UnknownBroker", "False Invalid"]
    assert status.conditions[SUCCEEDED].message == "p: r"
    assert status.is_final
    assert status.plan is None


@pytest.mark.parametrize(
    ("outcome", "succeeded", "verified"),
    [
        (LifecycleState.COMPLETED, "True Completed", "True Verified"),
        (LifecycleState.ROLLED_BACK, "False RolledBack", "True Verified"),
        (LifecycleState.CANCELLED, "False Cancelled", "False Cancelled"),
        (LifecycleState.FAILED, "False Failed", "False Failed"),
    ],
)
def test_how_it_ended(outcome: LifecycleState, succeeded: str, verified: str) -> None:
    for step in (Finish(outcome=outcome), Done(outcome=outcome)):
        status = said(step, state=persisted_state())
        assert reasons(status, SUCCEEDED, VERIFIED) == [succeeded, verified]
        assert reasons(status, PROGRESSING) == [f"False {outcome}"]


def test_the_start_of_a_life() -> None:
    planning = said(
        SaveState(state=persisted_state(started=False)), state=persisted_state(started=False)
    )
    assert reasons(planning, SUCCEEDED, APPROVED) == ["Unknown Planning", "Unknown NotReconciled"]
    assert planning.conditions[ConditionType.PLANNED].message == PLAN.digest
    waiting = said(
        Wait(state=LifecycleState.AWAITING_APPROVAL, reason="DigestMismatch"),
        state=persisted_state(started=False),
    )
    assert reasons(waiting, SUCCEEDED, APPROVED) == [
        "Unknown AwaitingApproval",
        "False DigestMismatch",
    ]


@pytest.mark.parametrize(
    ("policy", "reason"),
    [(ApprovalPolicy.MANUAL, "DigestApproved"), (ApprovalPolicy.AUTOMATIC, "Automatic")],
)
def test_who_approved(policy: ApprovalPolicy, reason: str) -> None:
    status = said(MOVING, state=persisted_state(), approval=Approval(policy=policy))
    assert reasons(status, APPROVED) == [f"True {reason}"]


def test_progress_and_what_hinders_it() -> None:
    blocked = Wait(state=LifecycleState.EXECUTING, reason="UnderMinISR", message="m")
    assert reasons(said(MOVING, state=persisted_state()), PROGRESSING) == ["True Moving"]
    assert reasons(said(blocked, state=persisted_state()), PROGRESSING) == ["False UnderMinISR"]
    slow = said(MOVING, state=persisted_state(), transient=TransientState(is_below_ingress=True))
    assert reasons(slow, PROGRESSING) == ["Unknown ThrottleBelowIngress"]
    troubled = said(
        SubmitBatch(targets={}),
        state=persisted_state(),
        transient=TransientState(errors=("a", "b")),
    )
    assert troubled.conditions[PROGRESSING].message == "a; b"


def test_stalled_says_that_somebody_must_look() -> None:
    status = said(MOVING, state=persisted_state(), transient=TransientState(is_stalled=True))
    assert reasons(status, STALLED) == ["True ProgressDeadlineExceeded"]
    ended = said(
        Done(outcome=LifecycleState.FAILED),
        state=persisted_state(),
        transient=TransientState(is_stalled=True),
    )
    assert reasons(ended, STALLED) == ["False Progressing"]


def test_the_life_of_a_throttle() -> None:
    throttling = Throttling.of(1000, PLAN.moves)
    knowing = replace(persisted_state(), topic_throttles={"t": {}}, broker_throttles={1: {}})
    none = said(MOVING, state=persisted_state())
    applied = said(MOVING, state=knowing, throttling=throttling, before=none.conditions)
    restoring = said(MOVING, state=knowing, before=applied.conditions)
    restored = said(MOVING, state=persisted_state(), before=restoring.conditions)
    found = [reasons(s, THROTTLED)[0] for s in (none, applied, restoring, restored)]
    assert found == ["False NotRequested", "True Applied", "True Restoring", "False Restored"]
    assert applied.throttle is not None
    assert applied.throttle.to_document() == {
        "brokerIds": [1],
        "restored": False,
        "appliedBytesPerSecond": 1000,
    }


def test_counts_bytes_and_brokers() -> None:
    pending = {T0: ReplicaAssignment.of(1, 2).reassign_to((1, 4))}
    seen = observation(pending=pending, sizes=SIZES)
    status = said(MOVING, state=persisted_state(), seen=seen)
    assert status.progress is not None
    assert (status.progress.bytes_moved, status.progress.bytes_remaining) == (40, 120)
    assert status.eta == "10s"
    assert status.batch == (1, 1)
    assert status.plan is not None
    assert status.plan.bytes_to_move == 160
    assert [(b.broker_id, b.bytes_moved, b.bytes_total) for b in status.brokers] == [(4, 40, 160)]


def test_why_partitions_do_not_move() -> None:
    dead = said(MOVING, state=persisted_state(), seen=observation(live=(1, 2, 3)))
    assert [f.reason for f in dead.failures] == ["TargetBrokerOffline"] * 2
    error = RequestError(error="POLICY_VIOLATION", message="no")
    refused = said(MOVING, state=persisted_state(), transient=TransientState(failures={T1: error}))
    assert [(f.partition, f.reason) for f in refused.failures] == [(1, "POLICY_VIOLATION")]
    hidden = said(MOVING, state=persisted_state(), seen=observation(partition(T1, 3, 2)))
    assert [f.reason for f in hidden.failures] == ["PartitionNotVisible"]


def test_an_outage_changes_nothing_but_progressing() -> None:
    before = updated({}, {}, generation=1, now_ms=0)
    after = unavailable(before, 1, 0, "no answer")
    changed = [kind for kind in ConditionType if after[kind] != before[kind]]
    assert changed == [PROGRESSING]
    assert after[PROGRESSING].reason == "ControllerUnavailable"


def test_the_place_in_the_queue_is_shown_while_it_waits_there() -> None:
    place = QueuePlace(position=2, blocked_by=("a", "b"))
    moment = StepResult(
        inputs=replace(decision_input(state=persisted_state(started=False)), place=place),
        step=Wait(state=LifecycleState.QUEUED, reason="Queued", message="behind a, b"),
        throttling=None,
        bytes_per_second=0.0,
        conditions={},
    )
    status = report(moment)
    assert status.to_document()["queue"] == {"position": 2, "blockedBy": ["a", "b"]}
    assert reasons(status, PROGRESSING, SUCCEEDED) == ["False Queued", "Unknown Queued"]
    assert report(replace(moment, step=MOVING)).place is None
