"""Whether moves are submitted now, or what the reassignment waits for instead. Pure."""

from dataclasses import replace

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import DecisionInput
from ballast.reassign.decision.move_states import MoveStates
from ballast.reassign.decision.steps import CancelActive, SaveState, Step, Wait
from ballast.reassign.decision.submission import (
    blocking_reasons,
    dead_brokers,
    moves_to_full_brokers,
    next_submission,
    under_min_isr,
)
from ballast.reassign.decision.throttle_plan import Throttling
from ballast.reassign.decision.waiting import wait_for_foreign
from ballast.reassign.plan.progress import MoveState
from ballast.reassign.spec.spec import DesiredState, OnStalled, WhenUnderMinIsr
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.lifecycle import PHASES
from ballast.reassign.state.persisted_state import Intent, PersistedState


def submit_or_wait(
    inputs: DecisionInput, state: PersistedState, move_states: MoveStates, throttling: Throttling
) -> Step:
    """Return the step of a reassignment with unfinished moves whose throttle is in force."""
    active = PHASES[state.intent].active
    settings = inputs.spec.settings
    in_flight = len(move_states.in_state(MoveState.IN_PROGRESS))
    if settings.desired_state is DesiredState.PAUSED:
        return Wait(
            state=LifecycleState.PAUSED, reason="Paused", message=f"{in_flight} moves in flight"
        )
    if move_states.in_state(MoveState.FOREIGN) and not move_states.in_state(MoveState.PENDING):
        return wait_for_foreign(
            active, len(move_states.other_pending), str(move_states.other_pending[0])
        )
    on_stalled = (
        settings.execution.on_stalled if inputs.transient.is_stalled else OnStalled.CONTINUE
    )
    if on_stalled is OnStalled.ROLL_BACK and state.intent is Intent.EXECUTE:
        return SaveState(state=replace(state, intent=Intent.ROLL_BACK))
    if on_stalled is OnStalled.PAUSE:
        lost = _without_target(inputs, move_states)
        if lost:
            return CancelActive(partitions=lost)
        return Wait(
            state=active,
            reason="ProgressDeadlineExceeded",
            message=blocking_reasons(move_states, inputs),
        )
    return _submit(inputs, state, move_states, throttling)


def _submit(
    inputs: DecisionInput, state: PersistedState, move_states: MoveStates, throttling: Throttling
) -> Step:
    active = PHASES[state.intent].active
    policy = inputs.spec.settings.execution.when_under_min_isr
    under = (
        () if policy is WhenUnderMinIsr.IGNORE else under_min_isr(move_states, inputs.observation)
    )
    if under and policy is WhenUnderMinIsr.PAUSE:
        return Wait(
            state=active,
            reason="UnderMinISR",
            message=f"{len(under)} partitions such as {under[0]} are below min.insync.replicas",
        )
    slow = bool(under) and policy is WhenUnderMinIsr.SLOW_DOWN
    batch = next_submission(inputs, state, move_states, throttling, slow=slow)
    if batch is not None:
        return batch
    in_flight = len(move_states.in_state(MoveState.IN_PROGRESS))
    blocked_moves = moves_to_full_brokers(inputs, move_states)
    if blocked_moves:
        first = min(blocked_moves)
        message = (
            f"{sum(blocked_moves.values())} moves wait for room on the volumes of "
            f"{len(blocked_moves)} brokers such as {first}; {in_flight} moves in flight"
        )
        return Wait(state=active, reason="TargetVolumeFull", message=message)
    if in_flight:
        return Wait(state=active, reason="Moving", message=f"{in_flight} moves in flight")
    return Wait(
        state=active, reason="TargetBrokerOffline", message=blocking_reasons(move_states, inputs)
    )


def _without_target(inputs: DecisionInput, move_states: MoveStates) -> tuple[TopicPartition, ...]:
    """Return the pending moves to a broker that is down: they cannot end before it is back.

    They are cancelled after the deadline, so that they delay no other reassignment, and submitted
    again when the broker is back.
    """
    return tuple(
        move.topic_partition
        for move in move_states.in_state(MoveState.IN_PROGRESS)
        if move.topic_partition in move_states.own_pending
        and move.topic_partition not in inputs.transient.cancel_refusals
        and dead_brokers(move, inputs.observation)
    )
