"""How a reassignment ends once its moves are over, and how it lets others begin. Pure.

The throttle is restored before any request that the cluster may refuse: an election or a
cancellation that is refused again and again must not leave brokers slow. A reassignment that cannot
end for such a reason gives up its turn in the queue, and starts nothing more without a new turn.
"""

from dataclasses import replace

from ballast.reassign.decision.decision_input import DecisionInput
from ballast.reassign.decision.executing import submit_or_wait
from ballast.reassign.decision.log_dir_moves import unresponsive_brokers
from ballast.reassign.decision.move_states import MoveStates
from ballast.reassign.decision.steps import ElectPreferred, Finish, SaveState, Step, Wait
from ballast.reassign.decision.throttle_plan import (
    Throttling,
    unrestored_throttles,
    without_restored_throttles,
)
from ballast.reassign.decision.verification import (
    electable_partitions,
    first_few,
    mismatches,
    unelected_leaders,
)
from ballast.reassign.decision.waiting import wait_for_turn
from ballast.reassign.plan.progress import MoveState
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.lifecycle import PHASES
from ballast.reassign.state.persisted_state import Flaw, Intent, PersistedState


def yield_turn(inputs: DecisionInput, state: PersistedState, move_states: MoveStates) -> Step:
    """Return the step of a reassignment that has yielded, once its throttle is restored.

    It continues as soon as it could submit a move and has its turn again.
    """
    remaining = without_restored_throttles(state, inputs.observation, inputs.transient)
    if remaining != state:
        return SaveState(state=remaining)
    step = submit_or_wait(inputs, state, move_states, Throttling.of(None, ()))
    if isinstance(step, Wait):
        return replace(step, message=f"{step.message}; other reassignments may run meanwhile")
    if not inputs.place.has_turn:
        return wait_for_turn(inputs.place)
    return SaveState(state=replace(state, has_yielded=False))


def close(inputs: DecisionInput, state: PersistedState, move_states: MoveStates) -> Step:
    """Return the step once every move is over and the throttle is restored where brokers answer."""
    submits = state.intent.submits_moves
    if submits and inputs.spec.settings.elect_preferred_leaders:
        hopeless = inputs.transient.not_electable
        partitions = [
            tp for tp in electable_partitions(move_states, inputs.observation) if tp not in hopeless
        ]
        if partitions:
            limit = inputs.spec.settings.execution.max_concurrent_leader_changes
            return ElectPreferred(partitions=tuple(partitions[:limit]))
    outcome = state.closing or PHASES[state.intent].outcome
    if submits and move_states.in_state(MoveState.FAILED):
        outcome = LifecycleState.FAILED
    waits = _final_wait(inputs, state, move_states)
    if waits is None:
        return _end(inputs, move_states, outcome, submits=submits)
    remaining = replace(
        without_restored_throttles(state, inputs.observation, inputs.transient), closing=outcome
    )
    if remaining != state:
        # From here on others may change the values that are restored.
        return SaveState(state=remaining)
    if waits.reason == "Verifying" and inputs.transient.is_stalled:
        flaw = Flaw(reason="DegradedReplicas", message=waits.message)
        return Finish(outcome=outcome, flaw=flaw)
    return waits


def _final_wait(
    inputs: DecisionInput, state: PersistedState, move_states: MoveStates
) -> Wait | None:
    lifecycle = PHASES[state.intent].closing
    unrestored = unrestored_throttles(state, inputs.observation, inputs.transient)
    if unrestored:
        return Wait(
            state=lifecycle,
            reason="ThrottleDebt",
            message=f"throttle not restored: {', '.join(unrestored)}",
        )
    if state.intent in (Intent.CANCEL, Intent.CANCEL_ON_DELETE):
        return _unfinished_cancellation(inputs, state, move_states, lifecycle)
    if not state.intent.submits_moves:
        return None
    problems = mismatches(
        inputs.spec, move_states, inputs.observation, inputs.transient.not_electable
    )
    return (
        Wait(state=lifecycle, reason="Verifying", message=", ".join(problems)) if problems else None
    )


def _unfinished_cancellation(
    inputs: DecisionInput, state: PersistedState, move_states: MoveStates, lifecycle: LifecycleState
) -> Wait | None:
    refused = inputs.transient.cancel_refusals
    if move_states.own_pending:
        texts = [
            f"{tp}: {refused[tp].error} {refused[tp].message}" for tp in move_states.own_pending
        ]
        return Wait(state=lifecycle, reason="CancelRefused", message="; ".join(first_few(texts)))
    if inputs.transient.is_log_dir_cancel_refused:
        message = "brokers refuse to end copies between log directories"
        return Wait(state=lifecycle, reason="CancelRefused", message=message)
    silent = unresponsive_brokers(state.plan, inputs.observation)
    if silent:
        message = f"broker {silent[0]} does not answer: it may still copy replicas"
        return Wait(state=lifecycle, reason="LogDirsUnknown", message=message)
    return None


def _end(
    inputs: DecisionInput, move_states: MoveStates, outcome: LifecycleState, *, submits: bool
) -> Finish:
    if submits and inputs.spec.settings.elect_preferred_leaders:
        texts = unelected_leaders(move_states, inputs.observation, inputs.transient.not_electable)
        if texts:
            flaw = Flaw(reason="PreferredLeaderNotElected", message="; ".join(texts))
            return Finish(outcome=outcome, flaw=flaw)
    return Finish(outcome=outcome)
