"""The next step of a reassignment, from what is wished, remembered and seen. Pure.

Order of a reassignment, each line waiting for the one before:

1. the spec fits the cluster; the plan (with its inverse) is saved; it is approved
2. its start is saved; from here on the cluster may have been changed
3. throttle values that will be replaced are saved, then the throttle is set
4. moves are submitted in batches within limits, until none is left to complete
5. preferred leaders are elected
6. throttle values are put back as they were
7. assignment, in-sync replicas and throttles are verified; the outcome is saved

Line 2 waits until others of the same cluster have ended (`queueing`): two throttles never meet.
Pausing stops 4 from submitting. Cancelling cancels what is pending and goes to 6. Rolling back does
3 to 7 with the inverse plan. Since every line is decided from the cluster as it is, a run that was
killed between any two effects is continued by running again.
"""

from dataclasses import replace

from ballast.reassign.acceptance import Problem, plan_now, problems, stated_plan, unapproved
from ballast.reassign.conditions import LifecycleState
from ballast.reassign.log_dir_moves import silent_brokers, taken_back
from ballast.reassign.memory import INTENT_RANK, Intent, Memory
from ballast.reassign.progress import MoveState
from ballast.reassign.queueing import QueuePlace
from ballast.reassign.spec import (
    DeletionPolicy,
    DesiredState,
    OnStalled,
    Settings,
    WhenUnderMinIsr,
)
from ballast.reassign.steps import (
    ApplyThrottle,
    CancelActive,
    Done,
    ElectPreferred,
    Finish,
    Refuse,
    RestoreThrottle,
    SaveMemory,
    Step,
    Wait,
)
from ballast.reassign.submission import next_batch_of, under_min_isr, what_blocks
from ballast.reassign.survey import Survey, foreign_moves, survey
from ballast.reassign.throttling import (
    Throttling,
    debts,
    remembered,
    wanted_change,
)
from ballast.reassign.verification import electable, mismatches
from ballast.reassign.world import Hints, World

_NAMED = 3
"""So many of those before in the queue are named in a message."""
_WANTED_INTENT = {
    DesiredState.RUNNING: Intent.EXECUTE,
    DesiredState.PAUSED: Intent.EXECUTE,
    DesiredState.CANCELLED: Intent.CANCEL,
    DesiredState.ROLLED_BACK: Intent.ROLL_BACK,
}
_DELETION_INTENT = {
    DeletionPolicy.CANCEL: Intent.ABANDON,
    DeletionPolicy.ROLL_BACK: Intent.ROLL_BACK,
    DeletionPolicy.ORPHAN: Intent.LEAVE,
}
_ACTIVE_STATE = {
    Intent.EXECUTE: LifecycleState.EXECUTING,
    Intent.CANCEL: LifecycleState.CANCELLING,
    Intent.ROLL_BACK: LifecycleState.ROLLING_BACK,
    Intent.ABANDON: LifecycleState.CANCELLING,
    Intent.LEAVE: LifecycleState.CANCELLING,
}
_CLOSING_STATE = {**_ACTIVE_STATE, Intent.EXECUTE: LifecycleState.VERIFYING}
_OUTCOME = {
    Intent.EXECUTE: LifecycleState.COMPLETED,
    Intent.CANCEL: LifecycleState.CANCELLED,
    Intent.ROLL_BACK: LifecycleState.ROLLED_BACK,
    Intent.ABANDON: LifecycleState.CANCELLED,
    Intent.LEAVE: LifecycleState.CANCELLED,
}


def decide(world: World) -> Step:
    """Return the next step."""
    memory = world.memory
    if memory is None or (memory.start_time_ms is None and memory.outcome is None):
        return _before_start(world, memory)
    wanted = _wanted_intent(world.spec.settings)
    goes_further = INTENT_RANK[wanted] > INTENT_RANK[memory.intent]
    if memory.outcome is not None:
        return _after_the_end(world, memory, memory.outcome)
    if goes_further:
        return SaveMemory(memory=replace(memory, intent=wanted))
    return _under_way(world, memory, survey(memory, world.observed, world.hints))


def _wanted_intent(settings: Settings) -> Intent:
    if settings.is_deleted:
        return _DELETION_INTENT[settings.deletion_policy]
    return _WANTED_INTENT[settings.desired_state]


def _after_the_end(world: World, memory: Memory, outcome: LifecycleState) -> Step:
    """Return the step once it has ended: rolling back undoes that, cancelling has no object."""
    settings = world.spec.settings
    if (
        settings.is_deleted
        or settings.desired_state is not DesiredState.ROLLED_BACK
        or INTENT_RANK[memory.intent] >= INTENT_RANK[Intent.ROLL_BACK]
        or memory.start_time_ms is None
    ):
        return Done(outcome=outcome)
    if not world.place.has_turn:
        return _wait_for_turn(world.place)
    return SaveMemory(
        memory=replace(memory, intent=Intent.ROLL_BACK, outcome=None, completion_time_ms=None)
    )


def throttling_of(world: World, memory: Memory, seen: Survey) -> Throttling:
    """Return the throttle that should be in force now."""
    moves = seen.unfinished if memory.intent.submits_moves else ()
    return Throttling.of(world.spec.settings.execution.throttle_bytes_per_second, moves)


def _before_start(world: World, memory: Memory | None) -> Step:  # noqa: PLR0911  (a list of rules)
    settings = world.spec.settings
    if settings.is_deleted:
        return Done(outcome=LifecycleState.CANCELLED)
    found = problems(world.spec, world.observed)
    if found:
        return _contradiction(found, world.hints)
    current = plan_now(world.spec, world.observed)
    plan = stated_plan(world.spec) or current
    if memory is None:
        return SaveMemory(memory=Memory(name=world.spec.name, plan=plan))
    intent = _WANTED_INTENT[settings.desired_state]
    if intent is not Intent.EXECUTE:
        return Finish(outcome=_OUTCOME[intent])
    if plan != memory.plan and settings.approval.plan_digest != memory.plan.digest:
        return SaveMemory(memory=replace(memory, plan=plan))
    refusal = unapproved(world.spec, memory, current, world.observed)
    if refusal is not None:
        return Wait(
            state=LifecycleState.AWAITING_APPROVAL, reason=refusal.reason, message=refusal.message
        )
    return _once_approved(world, memory)


def _contradiction(found: tuple[Problem, ...], hints: Hints) -> Step:
    """Return what to do about a cluster that contradicts the spec: brokers may only be behind."""
    if hints.problems_persist:
        return Refuse(problems=found)
    return Wait(state=LifecycleState.PENDING, reason=found[0].kind, message=str(found[0].error))


def _once_approved(world: World, memory: Memory) -> Step:
    if world.spec.settings.desired_state is DesiredState.PAUSED:
        return Wait(state=LifecycleState.PAUSED, reason="Paused")
    if not world.place.has_turn:
        return _wait_for_turn(world.place)
    foreign = foreign_moves(memory.plan, world.observed)
    if foreign:
        return _wait_for_foreign(LifecycleState.QUEUED, len(foreign), str(foreign[0]))
    return SaveMemory(memory=replace(memory, start_time_ms=world.now_ms))


def _under_way(world: World, memory: Memory, seen: Survey) -> Step:  # noqa: PLR0911  (a list)
    if memory.intent in (Intent.CANCEL, Intent.ABANDON):
        copying = taken_back(memory.plan, world.observed)
        if seen.ours or copying:
            return CancelActive(partitions=seen.ours, log_dirs=copying)
    throttling = throttling_of(world, memory, seen)
    with_values = remembered(memory, throttling, world.observed)
    if with_values is not None:
        return SaveMemory(memory=with_values)
    change = wanted_change(memory, throttling, world.observed)
    if memory.intent.submits_moves and seen.unfinished:
        if change:
            return ApplyThrottle(change=change)
        return _submit_or_wait(world, memory, seen, throttling)
    if memory.intent.submits_moves and world.spec.settings.elect_preferred_leaders:
        partitions = electable(seen, world.observed)
        if partitions:
            limit = world.spec.settings.execution.max_concurrent_leader_changes
            return ElectPreferred(partitions=partitions[:limit])
    if memory.has_throttles and not world.hints.restore_sent:
        change = wanted_change(memory, throttling, world.observed, all_values=True)
    if change:
        return RestoreThrottle(change=change)
    return _verify(world, memory, seen)


def _submit_or_wait(world: World, memory: Memory, seen: Survey, throttling: Throttling) -> Step:
    active = _ACTIVE_STATE[memory.intent]
    settings = world.spec.settings
    in_flight = len(seen.within(MoveState.IN_PROGRESS))
    if settings.desired_state is DesiredState.PAUSED:
        return Wait(
            state=LifecycleState.PAUSED, reason="Paused", message=f"{in_flight} moves in flight"
        )
    if seen.within(MoveState.FOREIGN) and not seen.within(MoveState.PENDING):
        return _wait_for_foreign(active, len(seen.foreign), str(seen.foreign[0]))
    on_stalled = settings.execution.on_stalled if world.hints.stalled else OnStalled.CONTINUE
    if on_stalled is OnStalled.ROLL_BACK and memory.intent is Intent.EXECUTE:
        return SaveMemory(memory=replace(memory, intent=Intent.ROLL_BACK))
    if on_stalled is OnStalled.PAUSE:
        return Wait(
            state=active, reason="ProgressDeadlineExceeded", message=what_blocks(seen, world)
        )
    return _submit(world, memory, seen, throttling)


def _submit(world: World, memory: Memory, seen: Survey, throttling: Throttling) -> Step:
    active = _ACTIVE_STATE[memory.intent]
    policy = world.spec.settings.execution.when_under_min_isr
    under = () if policy is WhenUnderMinIsr.IGNORE else under_min_isr(seen, world.observed)
    if under and policy is WhenUnderMinIsr.PAUSE:
        return Wait(
            state=active,
            reason="UnderMinISR",
            message=f"{len(under)} partitions such as {under[0]} are under min.insync.replicas",
        )
    slow = bool(under) and policy is WhenUnderMinIsr.SLOW_DOWN
    batch = next_batch_of(world, memory, seen, throttling, slow=slow)
    if batch is not None:
        return batch
    in_flight = len(seen.within(MoveState.IN_PROGRESS))
    if in_flight:
        return Wait(state=active, reason="Moving", message=f"{in_flight} moves in flight")
    return Wait(state=active, reason="TargetBrokerOffline", message=what_blocks(seen, world))


def _verify(world: World, memory: Memory, seen: Survey) -> Step:
    state = _CLOSING_STATE[memory.intent]
    owed = debts(memory, world.observed, world.hints)
    if owed:
        return Wait(
            state=state, reason="ThrottleDebt", message=f"throttle not restored: {', '.join(owed)}"
        )
    silent = silent_brokers(memory.plan, world.observed)
    if silent and memory.intent in (Intent.CANCEL, Intent.ABANDON):
        return Wait(
            state=state,
            reason="LogDirsUnknown",
            message=f"broker {silent[0]} does not tell whether it still copies replicas",
        )
    wrong = mismatches(world.spec, seen, world.observed) if memory.intent.submits_moves else ()
    if wrong:
        return Wait(state=state, reason="Verifying", message=", ".join(wrong))
    outcome = _OUTCOME[memory.intent]
    if memory.intent.submits_moves and seen.within(MoveState.FAILED):
        outcome = LifecycleState.FAILED
    return Finish(outcome=outcome)


def _wait_for_turn(place: QueuePlace) -> Wait:
    names = ", ".join(place.blocked_by[:_NAMED])
    more = len(place.blocked_by) - _NAMED
    message = f"behind {names}" if names else ""
    message += f" and {more} more" if more > 0 else ""
    return Wait(state=LifecycleState.QUEUED, reason="Queued", message=message)


def _wait_for_foreign(state: LifecycleState, count: int, first: str) -> Wait:
    return Wait(
        state=state,
        reason="ForeignReassignment",
        message=f"{count} reassignments of others are pending, such as {first}",
    )
