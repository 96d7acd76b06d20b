"""How a reassignment ends once its moves are over, and how it lets others pass. Pure.

The throttle is put back before anything that the cluster may refuse: an election or a cancel that
is refused again and again must not leave brokers slow. What does not come to its end then does not
hold its turn: nothing more is started without asking for it again.
"""

from dataclasses import replace

from ballast.reassign.decision.decision_input import World
from ballast.reassign.decision.executing import submit_or_wait
from ballast.reassign.decision.log_dir_moves import silent_brokers
from ballast.reassign.decision.move_states import Survey
from ballast.reassign.decision.steps import ElectPreferred, Finish, SaveMemory, Step, Wait
from ballast.reassign.decision.throttle_plan import Throttling, debts, with_debts_only
from ballast.reassign.decision.verification import bounded, electable, leaders_not_had, mismatches
from ballast.reassign.decision.waiting import CLOSING_STATE, wait_for_turn
from ballast.reassign.plan.progress import MoveState
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.persisted_state import Flaw, Intent, Memory

OUTCOME = {
    Intent.EXECUTE: LifecycleState.COMPLETED,
    Intent.CANCEL: LifecycleState.CANCELLED,
    Intent.ROLL_BACK: LifecycleState.ROLLED_BACK,
    Intent.ABANDON: LifecycleState.CANCELLED,
    Intent.LEAVE: LifecycleState.CANCELLED,
}


def stand_aside(world: World, memory: Memory, seen: Survey) -> Step:
    """Return the step of one that lets others begin, once its throttle is put back.

    It goes on as soon as it could start a move, and has its turn.
    """
    kept = with_debts_only(memory, world.observed, world.hints)
    if kept != memory:
        return SaveMemory(memory=kept)
    step = submit_or_wait(world, memory, seen, Throttling.of(None, ()))
    if isinstance(step, Wait):
        return replace(step, message=f"{step.message}; others may begin meanwhile")
    if not world.place.has_turn:
        return wait_for_turn(world.place)
    return SaveMemory(memory=replace(memory, has_yielded=False))


def close(world: World, memory: Memory, seen: Survey) -> Step:
    """Return the step once every move is over and the throttle is put back where it can be."""
    submits = memory.intent.submits_moves
    if submits and world.spec.settings.elect_preferred_leaders:
        hopeless = world.hints.not_electable
        partitions = [tp for tp in electable(seen, world.observed) if tp not in hopeless]
        if partitions:
            limit = world.spec.settings.execution.max_concurrent_leader_changes
            return ElectPreferred(partitions=tuple(partitions[:limit]))
    outcome = memory.closing or OUTCOME[memory.intent]
    if submits and seen.within(MoveState.FAILED):
        outcome = LifecycleState.FAILED
    waits = _what_is_awaited(world, memory, seen)
    if waits is None:
        return _end(world, seen, outcome, submits=submits)
    kept = replace(with_debts_only(memory, world.observed, world.hints), closing=outcome)
    if kept != memory:
        # Values that are put back are others' to change from here on.
        return SaveMemory(memory=kept)
    if waits.reason == "Verifying" and world.hints.stalled:
        flaw = Flaw(reason="DegradedReplicas", message=waits.message)
        return Finish(outcome=outcome, flaw=flaw)
    return waits


def _what_is_awaited(world: World, memory: Memory, seen: Survey) -> Wait | None:
    state = CLOSING_STATE[memory.intent]
    owed = debts(memory, world.observed, world.hints)
    if owed:
        return Wait(
            state=state, reason="ThrottleDebt", message=f"throttle not restored: {', '.join(owed)}"
        )
    if memory.intent in (Intent.CANCEL, Intent.ABANDON):
        return _what_is_not_taken_back(world, memory, seen, state)
    if not memory.intent.submits_moves:
        return None
    wrong = mismatches(world.spec, seen, world.observed, world.hints.not_electable)
    return Wait(state=state, reason="Verifying", message=", ".join(wrong)) if wrong else None


def _what_is_not_taken_back(
    world: World, memory: Memory, seen: Survey, state: LifecycleState
) -> Wait | None:
    refused = world.hints.cancels_refused
    if seen.ours:
        words = [f"{tp}: {refused[tp].error} {refused[tp].message}" for tp in seen.ours]
        return Wait(state=state, reason="CancelRefused", message="; ".join(bounded(words)))
    if world.hints.log_dirs_refused:
        message = "brokers refuse to end copies between log directories"
        return Wait(state=state, reason="CancelRefused", message=message)
    silent = silent_brokers(memory.plan, world.observed)
    if silent:
        message = f"broker {silent[0]} does not tell whether it still copies replicas"
        return Wait(state=state, reason="LogDirsUnknown", message=message)
    return None


def _end(world: World, seen: Survey, outcome: LifecycleState, *, submits: bool) -> Finish:
    if submits and world.spec.settings.elect_preferred_leaders:
        words = leaders_not_had(seen, world.observed, world.hints.not_electable)
        if words:
            flaw = Flaw(reason="PreferredLeaderNotElected", message="; ".join(words))
            return Finish(outcome=outcome, flaw=flaw)
    return Finish(outcome=outcome)
