"""What a step means for the user: findings for each condition, and the whole status."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ballast.model.conditions import Condition, ConditionStatus, Finding
from ballast.reassign.decision.decision_input import World
from ballast.reassign.decision.move_states import Survey, survey
from ballast.reassign.decision.steps import Done, Finish, Refuse, Step, Wait
from ballast.reassign.decision.submission import dead_brokers
from ballast.reassign.decision.throttle_plan import Throttling
from ballast.reassign.plan.progress import MoveState, Progress, bytes_to_move, leader_size, measure
from ballast.reassign.spec.spec import ApprovalPolicy, ReassignmentSpec
from ballast.reassign.state.conditions import FINAL_STATUS, ConditionType, LifecycleState, updated
from ballast.reassign.state.persisted_state import Intent, Memory
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
"""Reasons to wait that are progress."""
_ACTIVE = {
    Intent.EXECUTE: LifecycleState.EXECUTING,
    Intent.CANCEL: LifecycleState.CANCELLING,
    Intent.ROLL_BACK: LifecycleState.ROLLING_BACK,
    Intent.ABANDON: LifecycleState.CANCELLING,
    Intent.LEAVE: LifecycleState.CANCELLING,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a status is made from, once a step has been taken."""

    world: World
    """As it was seen; ``memory`` as it is after the step."""
    step: Step
    throttling: Throttling | None
    """The throttle that should be in force; None before the start."""
    bytes_per_second: float
    conditions: Mapping[ConditionType, Condition]
    """As last reported."""


def report(moment: Moment) -> Status:
    """Return the status after a step."""
    world = moment.world
    memory = world.memory
    seen = None if memory is None else survey(memory, world.observed, world.hints)
    conditions = updated(
        moment.conditions,
        findings(moment, seen),
        generation=world.spec.generation,
        now_ms=world.now_ms,
    )
    status = Status(
        observed_generation=world.spec.generation,
        update_time_ms=world.now_ms,
        conditions=conditions,
    )
    if memory is None or seen is None:
        return status
    progress = measure(
        seen.goal.moves,
        seen.states,
        world.observed.sizes,
        world.observed.leaders,
        world.observed.copied_within,
    )
    failures = _failures(world, seen)
    return Status(
        observed_generation=status.observed_generation,
        update_time_ms=status.update_time_ms,
        conditions=conditions,
        plan=_plan_status(world, memory),
        progress=progress,
        bytes_per_second=moment.bytes_per_second,
        batch=_batch(world.spec, progress),
        throttle=_throttle_status(moment.throttling, memory),
        failures=failures[:MAX_FAILURES],
        failures_total=len(failures),
        start_time_ms=memory.start_time_ms,
        completion_time_ms=memory.completion_time_ms,
        brokers=_broker_progress(world, seen),
        place=_place(moment),
    )


def unavailable(
    before: Mapping[ConditionType, Condition], generation: int, now_ms: int, message: str
) -> dict[ConditionType, Condition]:
    """Return the conditions while the cluster does not answer: nothing else is known to change."""
    found = {ConditionType.PROGRESSING: Finding(status=_FALSE, reason=UNAVAILABLE, message=message)}
    if ConditionType.SUCCEEDED not in before:
        found[ConditionType.SUCCEEDED] = Finding(
            status=_UNKNOWN, reason=LifecycleState.PENDING.value
        )
    return updated(before, found, generation=generation, now_ms=now_ms)


def findings(moment: Moment, seen: Survey | None) -> dict[ConditionType, Finding]:
    """Return what the moment says about each condition."""
    found = {
        ConditionType.ACCEPTED: _accepted(moment),
        ConditionType.PLANNED: _planned(moment.world.memory),
        ConditionType.APPROVED: _approved(moment),
        ConditionType.PROGRESSING: _of_piece(moment, _progressing(moment)),
        ConditionType.THROTTLED: _throttled(moment),
        ConditionType.VERIFIED: _verified(moment),
        ConditionType.STALLED: _stalled(moment),
        ConditionType.SUCCEEDED: _succeeded(moment, seen),
    }
    return {kind: finding for kind, finding in found.items() if finding is not None}


def _of_piece(moment: Moment, finding: Finding) -> Finding:
    """Return a finding that says which piece of a large plan it is about."""
    piece = moment.world.spec.assignments.piece
    if piece is None:
        return finding
    return replace(
        finding, message=f"{piece}: {finding.message}" if finding.message else f"{piece}"
    )


def _accepted(moment: Moment) -> Finding | None:
    step = moment.step
    if isinstance(step, Refuse):
        message = "; ".join(str(problem.error) for problem in step.problems)
        return Finding(status=_FALSE, reason=step.problems[0].kind, message=message)
    if isinstance(step, Wait) and step.state is LifecycleState.PENDING:
        return Finding(status=_UNKNOWN, reason=step.reason, message=step.message)
    memory = moment.world.memory
    changed = (
        0 if memory is None else sum(len(m.origin) != len(m.target) for m in memory.plan.moves)
    )
    message = f"changes the replication factor of {changed} partitions" if changed else ""
    return Finding(status=_TRUE, reason="Valid", message=message)


def _planned(memory: Memory | None) -> Finding | None:
    if memory is None:
        return None
    digest = memory.plan.digest if memory.piece is None else memory.piece.plan_digest
    return Finding(status=_TRUE, reason="PlanStored", message=digest)


def _approved(moment: Moment) -> Finding | None:
    step, memory = moment.step, moment.world.memory
    if isinstance(step, Wait) and step.state is LifecycleState.AWAITING_APPROVAL:
        return Finding(status=_FALSE, reason=step.reason, message=step.message)
    if memory is None or memory.start_time_ms is None:
        return None
    manual = moment.world.spec.settings.approval.policy is ApprovalPolicy.MANUAL
    return Finding(status=_TRUE, reason="DigestApproved" if manual else "Automatic")


def _progressing(moment: Moment) -> Finding:
    step, hints = moment.step, moment.world.hints
    outcome = _outcome(step)
    if outcome is not None:
        return Finding(status=_FALSE, reason=outcome.value)
    if isinstance(step, Wait) and step.reason not in _WORKING:
        return Finding(status=_FALSE, reason=step.reason, message=step.message)
    if hints.below_ingress:
        return Finding(
            status=_UNKNOWN,
            reason="ThrottleBelowIngress",
            message="producers bring in more than the throttle lets through: raise its rate",
        )
    message = step.message if isinstance(step, Wait) else type(step).__name__
    if hints.troubles:
        message = "; ".join(hints.troubles)
    return Finding(
        status=_TRUE, reason=step.reason if isinstance(step, Wait) else "Moving", message=message
    )


def _throttled(moment: Moment) -> Finding:
    memory, throttling = moment.world.memory, moment.throttling
    rate = None if throttling is None else throttling.bytes_per_second
    if memory is not None and memory.has_throttles and rate is not None:
        return Finding(status=_TRUE, reason="Applied", message=f"{rate} bytes/s")
    if memory is not None and memory.has_throttles:
        return Finding(status=_TRUE, reason="Restoring")
    before = moment.conditions.get(ConditionType.THROTTLED)
    was_set = before is not None and before.reason in {"Applied", "Restoring", "Restored"}
    return Finding(status=_FALSE, reason="Restored" if was_set else "NotRequested")


def _verified(moment: Moment) -> Finding | None:
    step = moment.step
    outcome = _outcome(step)
    memory = moment.world.memory
    flaw = memory.flaw if isinstance(step, Finish | Done) and memory is not None else None
    if flaw is not None:
        return Finding(status=_FALSE, reason=flaw.reason, message=flaw.message)
    if outcome in {LifecycleState.COMPLETED, LifecycleState.ROLLED_BACK}:
        return Finding(status=_TRUE, reason="Verified")
    if outcome is not None:
        return Finding(status=_FALSE, reason=outcome.value)
    if isinstance(step, Wait) and step.reason in {"Verifying", "ThrottleDebt", "CancelRefused"}:
        return Finding(status=_FALSE, reason=step.reason, message=step.message)
    return None


def _stalled(moment: Moment) -> Finding:
    if moment.world.hints.stalled and _outcome(moment.step) is None:
        seconds = moment.world.spec.settings.execution.progress_deadline_seconds
        waits = moment.step.message if isinstance(moment.step, Wait) else ""
        message = f"nothing has moved for {seconds} s: {waits}"
        return Finding(status=_TRUE, reason="ProgressDeadlineExceeded", message=message)
    return Finding(status=_FALSE, reason="Progressing")


def _succeeded(moment: Moment, seen: Survey | None) -> Finding:
    step, memory = moment.step, moment.world.memory
    outcome = _outcome(step)
    if outcome is not None:
        return Finding(
            status=FINAL_STATUS[outcome], reason=outcome.value, message=_closing_words(moment, seen)
        )
    if isinstance(step, Wait):
        return Finding(status=_UNKNOWN, reason=step.state.value, message=step.message)
    if memory is None or memory.start_time_ms is None:
        return Finding(status=_UNKNOWN, reason=LifecycleState.PLANNING.value)
    closing = memory.intent is Intent.EXECUTE and seen is not None and not seen.unfinished
    state = LifecycleState.VERIFYING if closing else _ACTIVE[memory.intent]
    return Finding(status=_UNKNOWN, reason=state.value)


def _closing_words(moment: Moment, seen: Survey | None) -> str:
    if isinstance(moment.step, Refuse) or seen is None:
        return "; ".join(str(problem.error) for problem in getattr(moment.step, "problems", ()))
    counts = {
        "in place": len(seen.within(MoveState.COMPLETED)),
        "skipped": len(seen.within(MoveState.SKIPPED)),
        "failed": len(seen.within(MoveState.FAILED)),
    }
    words = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"{len(seen.goal.moves)} partitions: {words or 'none in place'}"


def _outcome(step: Step) -> LifecycleState | None:
    match step:
        case Refuse():
            return LifecycleState.INVALID
        case Finish(outcome=outcome) | Done(outcome=outcome):
            return outcome
        case _:
            return None


def _plan_status(world: World, memory: Memory) -> PlanStatus:
    plan = memory.plan
    return PlanStatus(
        digest=plan.digest,
        rollback_digest=plan.rollback_digest,
        partitions=len(plan.moves),
        replica_moves=plan.replica_moves,
        leader_changes=plan.leader_changes,
        log_dir_moves=plan.log_dir_moves,
        bytes_to_move=bytes_to_move(plan.moves, world.observed.sizes, world.observed.leaders),
    )


def _place(moment: Moment) -> QueuePlace | None:
    step = moment.step
    if not isinstance(step, Wait):
        return None
    if step.state is LifecycleState.QUEUED:
        return moment.world.place
    memory = moment.world.memory
    return YIELDING if memory is not None and memory.lets_others_begin else None


def _batch(spec: ReassignmentSpec, progress: Progress) -> tuple[int, int]:
    size = spec.settings.execution.batch_size
    started = progress.total - progress.pending
    return -(-started // size), -(-progress.total // size)


def _throttle_status(throttling: Throttling | None, memory: Memory) -> ThrottleStatus:
    return ThrottleStatus(
        applied_bytes_per_second=None if throttling is None else throttling.bytes_per_second,
        broker_ids=tuple(sorted(memory.broker_throttles)),
        restored=not memory.has_throttles,
    )


def _failures(world: World, seen: Survey) -> list[Failure]:
    failures = []
    for move in seen.within(MoveState.FAILED, MoveState.BLOCKED):
        tp = move.topic_partition
        error = world.hints.failed.get(tp) or world.hints.refused.get(tp)
        dead = dead_brokers(move, world.observed)
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


def _broker_progress(world: World, seen: Survey) -> tuple[BrokerProgress, ...]:
    moved: dict[int, int] = {}
    total: dict[int, int] = {}
    leaders = world.observed.leaders
    for move in seen.goal.moves:
        tp = move.topic_partition
        whole = leader_size(move, world.observed.sizes, leaders.get(tp, -1))
        done = seen.states[tp] is MoveState.COMPLETED
        for broker in move.adding:
            copied = whole if done else min(whole, world.observed.sizes.get((tp, broker), 0))
            moved[broker] = moved.get(broker, 0) + copied
            total[broker] = total.get(broker, 0) + whole
    return tuple(
        BrokerProgress(broker_id=b, bytes_moved=moved[b], bytes_total=total[b])
        for b in sorted(total)
    )
