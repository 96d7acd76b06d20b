"""The status of a reassignment after a step: a finding for each condition, progress, failures."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ballast.model.conditions import Condition, ConditionStatus, Finding
from ballast.reassign.decision.decision_input import DecisionInput
from ballast.reassign.decision.move_states import MoveStates, classify_moves
from ballast.reassign.decision.steps import Done, Finish, RejectSpec, Step, Wait
from ballast.reassign.decision.submission import dead_brokers
from ballast.reassign.decision.throttle_plan import Throttling
from ballast.reassign.plan.progress import MoveState, Progress, bytes_to_move, leader_size, measure
from ballast.reassign.spec.spec import ApprovalPolicy, ReassignmentSpec
from ballast.reassign.state.conditions import FINAL_STATUS, ConditionType, LifecycleState, updated
from ballast.reassign.state.lifecycle import PHASES
from ballast.reassign.state.persisted_state import PersistedState
from ballast.reassign.state.queueing import YIELDING, QueuePlace
from ballast.reassign.state.status import (
    MAX_FAILURES,
    BrokerProgress,
    Failure,
    PlanStatus,
    Status,
    ThrottleStatus,
)

_TRUE, _FALSE, _UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN
UNAVAILABLE = "ControllerUnavailable"
"""Reason of Progressing while the cluster does not answer."""
_WORKING = frozenset({"Moving", "Verifying"})
"""Reasons of a `Wait` during which the reassignment makes progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """The input of a status: a step that has been taken, and what it was decided from."""

    inputs: DecisionInput
    """The decision's input, with ``state`` as it is after the step."""
    step: Step
    throttling: Throttling | None
    """The throttle that must be in force; None before the start."""
    bytes_per_second: float
    conditions: Mapping[ConditionType, Condition]
    """The last reported ones."""


def report(result: StepResult) -> Status:
    """Return the status after a step."""
    inputs = result.inputs
    state = inputs.state
    move_states = (
        None if state is None else classify_moves(state, inputs.observation, inputs.transient)
    )
    conditions = updated(
        result.conditions,
        findings(result, move_states),
        generation=inputs.spec.generation,
        now_ms=inputs.now_ms,
    )
    status = Status(
        observed_generation=inputs.spec.generation,
        update_time_ms=inputs.now_ms,
        conditions=conditions,
    )
    if state is None or move_states is None:
        return status
    progress = measure(
        move_states.target_plan.moves,
        move_states.states,
        inputs.observation.sizes,
        inputs.observation.leaders,
        inputs.observation.copied_within,
    )
    failures = _failures(inputs, move_states)
    return Status(
        observed_generation=status.observed_generation,
        update_time_ms=status.update_time_ms,
        conditions=conditions,
        plan=_plan_status(inputs, state),
        progress=progress,
        bytes_per_second=result.bytes_per_second,
        batch=_batch(inputs.spec, progress),
        throttle=_throttle_status(result.throttling, state),
        failures=failures[:MAX_FAILURES],
        failures_total=len(failures),
        start_time_ms=state.start_time_ms,
        completion_time_ms=state.completion_time_ms,
        brokers=_broker_progress(inputs, move_states),
        place=_place(result),
    )


def unavailable(
    before: Mapping[ConditionType, Condition], generation: int, now_ms: int, message: str
) -> dict[ConditionType, Condition]:
    """Return the conditions while the cluster does not answer; the others stay as they were."""
    changes = {
        ConditionType.PROGRESSING: Finding(status=_FALSE, reason=UNAVAILABLE, message=message)
    }
    if ConditionType.SUCCEEDED not in before:
        changes[ConditionType.SUCCEEDED] = Finding(
            status=_UNKNOWN, reason=LifecycleState.PENDING.value
        )
    return updated(before, changes, generation=generation, now_ms=now_ms)


def findings(result: StepResult, move_states: MoveStates | None) -> dict[ConditionType, Finding]:
    """Return the findings of a step, by condition."""
    by_type = {
        ConditionType.ACCEPTED: _accepted(result),
        ConditionType.PLANNED: _planned(result.inputs.state),
        ConditionType.APPROVED: _approved(result),
        ConditionType.PROGRESSING: _with_piece(result, _progressing(result)),
        ConditionType.THROTTLED: _throttled(result),
        ConditionType.VERIFIED: _verified(result),
        ConditionType.STALLED: _stalled(result),
        ConditionType.SUCCEEDED: _succeeded(result, move_states),
    }
    return {kind: finding for kind, finding in by_type.items() if finding is not None}


def _with_piece(result: StepResult, finding: Finding) -> Finding:
    """Return the finding with the piece of a large plan in its message."""
    piece = result.inputs.spec.assignments.piece
    if piece is None:
        return finding
    return replace(
        finding, message=f"{piece}: {finding.message}" if finding.message else f"{piece}"
    )


def _accepted(result: StepResult) -> Finding | None:
    step = result.step
    if isinstance(step, RejectSpec):
        message = "; ".join(str(problem.error) for problem in step.problems)
        return Finding(status=_FALSE, reason=step.problems[0].kind, message=message)
    if isinstance(step, Wait) and step.state is LifecycleState.PENDING:
        return Finding(status=_UNKNOWN, reason=step.reason, message=step.message)
    state = result.inputs.state
    changed = 0 if state is None else sum(len(m.origin) != len(m.target) for m in state.plan.moves)
    message = f"changes the replication factor of {changed} partitions" if changed else ""
    return Finding(status=_TRUE, reason="Valid", message=message)


def _planned(state: PersistedState | None) -> Finding | None:
    if state is None:
        return None
    digest = state.plan.digest if state.piece is None else state.piece.plan_digest
    return Finding(status=_TRUE, reason="PlanStored", message=digest)


def _approved(result: StepResult) -> Finding | None:
    step, state = result.step, result.inputs.state
    if isinstance(step, Wait) and step.state is LifecycleState.AWAITING_APPROVAL:
        return Finding(status=_FALSE, reason=step.reason, message=step.message)
    if state is None or state.start_time_ms is None:
        return None
    manual = result.inputs.spec.settings.approval.policy is ApprovalPolicy.MANUAL
    return Finding(status=_TRUE, reason="DigestApproved" if manual else "Automatic")


def _progressing(result: StepResult) -> Finding:
    step, transient = result.step, result.inputs.transient
    outcome = _outcome(step)
    if outcome is not None:
        return Finding(status=_FALSE, reason=outcome.value)
    if isinstance(step, Wait) and step.reason not in _WORKING:
        return Finding(status=_FALSE, reason=step.reason, message=step.message)
    if transient.is_below_ingress:
        return Finding(
            status=_UNKNOWN,
            reason="ThrottleBelowIngress",
            message="producers write more than the throttle lets through: raise its rate",
        )
    message = step.message if isinstance(step, Wait) else type(step).__name__
    if transient.errors:
        message = "; ".join(transient.errors)
    return Finding(
        status=_TRUE, reason=step.reason if isinstance(step, Wait) else "Moving", message=message
    )


def _throttled(result: StepResult) -> Finding:
    state, throttling = result.inputs.state, result.throttling
    rate = None if throttling is None else throttling.bytes_per_second
    if state is not None and state.has_throttles and rate is not None:
        return Finding(status=_TRUE, reason="Applied", message=f"{rate} bytes/s")
    if state is not None and state.has_throttles:
        return Finding(status=_TRUE, reason="Restoring")
    before = result.conditions.get(ConditionType.THROTTLED)
    was_set = before is not None and before.reason in {"Applied", "Restoring", "Restored"}
    return Finding(status=_FALSE, reason="Restored" if was_set else "NotRequested")


def _verified(result: StepResult) -> Finding | None:
    step = result.step
    outcome = _outcome(step)
    state = result.inputs.state
    flaw = state.flaw if isinstance(step, Finish | Done) and state is not None else None
    if flaw is not None:
        return Finding(status=_FALSE, reason=flaw.reason, message=flaw.message)
    if outcome in {LifecycleState.COMPLETED, LifecycleState.ROLLED_BACK}:
        return Finding(status=_TRUE, reason="Verified")
    if outcome is not None:
        return Finding(status=_FALSE, reason=outcome.value)
    if isinstance(step, Wait) and step.reason in {"Verifying", "ThrottleDebt", "CancelRefused"}:
        return Finding(status=_FALSE, reason=step.reason, message=step.message)
    return None


def _stalled(result: StepResult) -> Finding:
    if result.inputs.transient.is_stalled and _outcome(result.step) is None:
        seconds = result.inputs.spec.settings.execution.progress_deadline_seconds
        waits = result.step.message if isinstance(result.step, Wait) else ""
        message = f"no progress for {seconds} s: {waits}"
        return Finding(status=_TRUE, reason="ProgressDeadlineExceeded", message=message)
    return Finding(status=_FALSE, reason="Progressing")


def _succeeded(result: StepResult, move_states: MoveStates | None) -> Finding:
    step, state = result.step, result.inputs.state
    outcome = _outcome(step)
    if outcome is not None:
        return Finding(
            status=FINAL_STATUS[outcome],
            reason=outcome.value,
            message=_summary_text(result, move_states),
        )
    if isinstance(step, Wait):
        return Finding(status=_UNKNOWN, reason=step.state.value, message=step.message)
    if state is None or state.start_time_ms is None:
        return Finding(status=_UNKNOWN, reason=LifecycleState.PLANNING.value)
    phases = PHASES[state.intent]
    is_closing = move_states is not None and not move_states.unfinished
    lifecycle = phases.closing if is_closing else phases.active
    return Finding(status=_UNKNOWN, reason=lifecycle.value)


def _summary_text(result: StepResult, move_states: MoveStates | None) -> str:
    if isinstance(result.step, RejectSpec) or move_states is None:
        return "; ".join(str(problem.error) for problem in getattr(result.step, "problems", ()))
    counts = {
        "in place": len(move_states.in_state(MoveState.COMPLETED)),
        "skipped": len(move_states.in_state(MoveState.SKIPPED)),
        "failed": len(move_states.in_state(MoveState.FAILED)),
    }
    text = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"{len(move_states.target_plan.moves)} partitions: {text or 'none in place'}"


def _outcome(step: Step) -> LifecycleState | None:
    match step:
        case RejectSpec():
            return LifecycleState.INVALID
        case Finish(outcome=outcome) | Done(outcome=outcome):
            return outcome
        case _:
            return None


def _plan_status(inputs: DecisionInput, state: PersistedState) -> PlanStatus:
    plan = state.plan
    return PlanStatus(
        digest=plan.digest,
        rollback_digest=plan.rollback_digest,
        partitions=len(plan.moves),
        replica_moves=plan.replica_moves,
        leader_changes=plan.leader_changes,
        log_dir_moves=plan.log_dir_moves,
        bytes_to_move=bytes_to_move(
            plan.moves, inputs.observation.sizes, inputs.observation.leaders
        ),
    )


def _place(result: StepResult) -> QueuePlace | None:
    step = result.step
    if not isinstance(step, Wait):
        return None
    if step.state is LifecycleState.QUEUED:
        return result.inputs.place
    state = result.inputs.state
    return YIELDING if state is not None and state.yields_turn else None


def _batch(spec: ReassignmentSpec, progress: Progress) -> tuple[int, int]:
    size = spec.settings.execution.batch_size
    started = progress.total - progress.pending
    return -(-started // size), -(-progress.total // size)


def _throttle_status(throttling: Throttling | None, state: PersistedState) -> ThrottleStatus:
    return ThrottleStatus(
        applied_bytes_per_second=None if throttling is None else throttling.bytes_per_second,
        broker_ids=tuple(sorted(state.broker_throttles)),
        restored=not state.has_throttles,
    )


def _failures(inputs: DecisionInput, move_states: MoveStates) -> list[Failure]:
    failures = []
    for move in move_states.in_state(MoveState.FAILED, MoveState.BLOCKED):
        tp = move.topic_partition
        error = inputs.transient.failures.get(tp) or inputs.transient.refusals.get(tp)
        dead = dead_brokers(move, inputs.observation)
        if error is not None:
            reason, message = error.error, error.message
        elif dead:
            reason, message = "TargetBrokerOffline", f"broker {','.join(map(str, dead))} is down"
        else:
            reason, message = "PartitionNotVisible", "the cluster does not show the partition"
        failures.append(
            Failure(topic=tp.topic, partition=tp.partition, reason=reason, message=message)
        )
    return failures


def _broker_progress(inputs: DecisionInput, move_states: MoveStates) -> tuple[BrokerProgress, ...]:
    moved: dict[int, int] = {}
    total: dict[int, int] = {}
    leaders = inputs.observation.leaders
    for move in move_states.target_plan.moves:
        tp = move.topic_partition
        whole = leader_size(move, inputs.observation.sizes, leaders.get(tp, -1))
        done = move_states.states[tp] is MoveState.COMPLETED
        for broker in move.adding:
            copied = whole if done else min(whole, inputs.observation.sizes.get((tp, broker), 0))
            moved[broker] = moved.get(broker, 0) + copied
            total[broker] = total.get(broker, 0) + whole
    return tuple(
        BrokerProgress(broker_id=b, bytes_moved=moved[b], bytes_total=total[b])
        for b in sorted(total)
    )
