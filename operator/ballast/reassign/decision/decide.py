"""The next step of a reassignment, from what is wished, remembered and seen. Pure.

Order of a reassignment, each line waiting for the one before:

1. the spec fits the cluster; the plan (with its inverse) is saved; it is approved
2. its start is saved; from here on the cluster may have been changed
3. throttle values that will be replaced are saved, then the throttle is set
4. moves are submitted in batches within limits, until none is left to complete
5. throttle values are put back as they were
6. preferred leaders are elected
7. assignment, in-sync replicas and throttles are verified; the outcome is saved

Line 2 waits until others of the same cluster have ended (`queueing`): two throttles never meet.
Pausing stops 4 from submitting. Cancelling cancels what is pending and goes to 5. Rolling back does
3 to 7 with the inverse plan. A reassignment that is held up in 4 by something that may never change
puts its throttle back and lets others begin (`closing`), and so does one that waits in 7. Since
every line is decided from the cluster as it is, a run that was killed between any two effects is
continued by running again.

A plan that is too large for one memory is executed in pieces (`pieces`): each goes through all of
this but its approval, which is that of the whole.
"""

from dataclasses import replace

from ballast.reassign.decision.admission import Problem, plan_now, problems, stated_plan, unapproved
from ballast.reassign.decision.closing import OUTCOME, close, stand_aside
from ballast.reassign.decision.decision_input import Hints, World
from ballast.reassign.decision.executing import submit_or_wait
from ballast.reassign.decision.log_dir_moves import taken_back
from ballast.reassign.decision.move_states import Survey, foreign_moves, survey
from ballast.reassign.decision.piece_order import outcome_of_whole
from ballast.reassign.decision.steps import (
    ApplyThrottle,
    CancelActive,
    Done,
    Finish,
    Refuse,
    RestoreThrottle,
    SaveMemory,
    Step,
    Wait,
)
from ballast.reassign.decision.throttle_plan import (
    Throttling,
    own_entries,
    remembered,
    wanted_change,
)
from ballast.reassign.decision.waiting import wait_for_foreign, wait_for_turn
from ballast.reassign.plan.progress import MoveState
from ballast.reassign.spec.spec import (
    DeletionPolicy,
    DesiredState,
    Settings,
)
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.persisted_state import INTENT_RANK, Intent, Memory
from ballast.reassign.throttle.throttle_lists import named_moves

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


def decide(world: World) -> Step:
    """Return the next step."""
    memory, before = world.memory, world.before
    if before is not None and _goes_back(world, before):
        return _begin_to_go_back(world, before)
    if memory is None or (memory.start_time_ms is None and memory.outcome is None):
        return _before_start(world, memory)
    wanted = wanted_intent(world.spec.settings)
    goes_further = INTENT_RANK[wanted] > INTENT_RANK[memory.intent]
    if memory.outcome is not None:
        return _after_the_end(world, memory, memory.outcome)
    if goes_further:
        # What has let others begin starts nothing, not even its way back, before it has its turn.
        starts = wanted is Intent.ROLL_BACK and not world.spec.settings.is_deleted
        if starts and memory.lets_others_begin and not world.place.has_turn:
            return wait_for_turn(world.place)
        return SaveMemory(memory=replace(memory, intent=wanted, closing=None, has_yielded=False))
    return _under_way(world, memory, survey(memory, world.observed, world.hints))


def _goes_back(world: World, before: Memory) -> bool:
    """Whether the piece that is next lies before the one that has ended."""
    piece = world.spec.assignments.piece
    return piece is not None and before.piece is not None and piece.number < before.piece.number


def _begin_to_go_back(world: World, before: Memory) -> Step:
    """Return the step that begins to bring back a piece that was executed."""
    spec = world.spec
    if not (spec.settings.is_deleted or world.place.has_turn):
        return wait_for_turn(world.place)
    plan = stated_plan(spec)
    assert plan is not None, "a piece says where it begins"
    return SaveMemory(
        memory=Memory(
            name=spec.name,
            plan=plan,
            piece=spec.assignments.piece,
            start_time_ms=before.start_time_ms or world.now_ms,
            intent=Intent.ROLL_BACK,
        )
    )


def wanted_intent(settings: Settings) -> Intent:
    """Return what a spec asks for."""
    if settings.is_deleted:
        return _DELETION_INTENT[settings.deletion_policy]
    return _WANTED_INTENT[settings.desired_state]


def _after_the_end(world: World, memory: Memory, outcome: LifecycleState) -> Step:
    """Return the step once it has ended: rolling back undoes that, cancelling has no object."""
    settings = world.spec.settings
    whole = outcome_of_whole(memory, outcome)
    # A deleted object that has ended is let go, but not one of which only a piece has ended.
    is_over = settings.is_deleted and whole is outcome
    if (
        is_over
        or wanted_intent(settings) is not Intent.ROLL_BACK
        or INTENT_RANK[memory.intent] >= INTENT_RANK[Intent.ROLL_BACK]
        or memory.start_time_ms is None
    ):
        return Done(outcome=whole, flaw=memory.flaw)
    if not (settings.is_deleted or world.place.has_turn):
        return wait_for_turn(world.place)
    return SaveMemory(
        memory=replace(
            memory,
            intent=Intent.ROLL_BACK,
            closing=None,
            has_yielded=False,
            outcome=None,
            flaw=None,
            completion_time_ms=None,
        )
    )


def throttling_of(world: World, memory: Memory, seen: Survey) -> Throttling:
    """Return the throttle that should be in force now."""
    starts = memory.intent.submits_moves and not memory.lets_others_begin
    moves = seen.unfinished if starts else ()
    rate = world.spec.settings.execution.throttle_bytes_per_second
    if rate is None or not moves:
        return Throttling.of(None, ())
    under_way = {move.topic_partition for move in seen.within(MoveState.IN_PROGRESS)}
    lists = world.observed.topic_configs
    return Throttling.of(rate, moves, named_moves(moves, under_way, lists, own_entries(memory)))


def _before_start(world: World, memory: Memory | None) -> Step:  # noqa: PLR0911  (a list of rules)
    settings = world.spec.settings
    intent = wanted_intent(settings)
    is_later = memory is not None and memory.piece is not None and memory.piece.number > 0
    if is_later and intent is not Intent.EXECUTE:
        # Whatever is wrong with this piece: those before it have been executed.
        return Finish(outcome=OUTCOME[intent])
    if settings.is_deleted:
        return Done(outcome=LifecycleState.CANCELLED)
    found = problems(world.spec, world.observed)
    if found:
        return _contradiction(found, world.hints)
    current = plan_now(world.spec, world.observed)
    plan = stated_plan(world.spec) or current
    if memory is None:
        flaw = None if world.before is None else world.before.flaw
        piece = world.spec.assignments.piece
        return SaveMemory(memory=Memory(name=world.spec.name, plan=plan, piece=piece, flaw=flaw))
    if intent is not Intent.EXECUTE:
        return Finish(outcome=OUTCOME[intent])
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
        return wait_for_turn(world.place)
    foreign = foreign_moves(memory.plan, world.observed)
    if foreign:
        return wait_for_foreign(LifecycleState.QUEUED, len(foreign), str(foreign[0]))
    return SaveMemory(memory=replace(memory, start_time_ms=world.now_ms))


def _under_way(world: World, memory: Memory, seen: Survey) -> Step:
    if memory.intent in (Intent.CANCEL, Intent.ABANDON):
        cancel = _cancel(world, memory, seen)
        if cancel is not None:
            return cancel
    throttling = throttling_of(world, memory, seen)
    with_values = remembered(memory, throttling, world.observed, world.hints)
    if with_values is not None:
        return SaveMemory(memory=with_values)
    change = wanted_change(memory, throttling, world.observed)
    executes = memory.intent.submits_moves and bool(seen.unfinished) and memory.closing is None
    if executes and not memory.has_yielded:
        return ApplyThrottle(change=change) if change else _execute(world, memory, seen, throttling)
    if memory.has_throttles and not world.hints.restore_sent:
        change = wanted_change(memory, throttling, world.observed, all_values=True)
    if change:
        return RestoreThrottle(change=change)
    return (stand_aside if executes else close)(world, memory, seen)


def _cancel(world: World, memory: Memory, seen: Survey) -> CancelActive | None:
    """Return what is to be taken back now: what was refused moments ago waits."""
    hints = world.hints
    copying = {} if hints.log_dirs_refused else taken_back(memory.plan, world.observed)
    partitions = tuple(tp for tp in seen.ours if tp not in hints.cancels_refused)
    if partitions or copying:
        return CancelActive(partitions=partitions, log_dirs=copying)
    return None


def _execute(world: World, memory: Memory, seen: Survey, throttling: Throttling) -> Step:
    """Return the step while moves are to be completed: who cannot go on lets others begin."""
    step = submit_or_wait(world, memory, seen, throttling)
    is_held = isinstance(step, Wait) and step.state is not LifecycleState.PAUSED
    if is_held and world.hints.idle and not seen.within(MoveState.IN_PROGRESS):
        return SaveMemory(memory=replace(memory, has_yielded=True))
    return step
