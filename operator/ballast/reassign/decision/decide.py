"""The next step of a reassignment, from spec, persisted state and observed cluster. Pure.

Order of a reassignment; each line waits for the one before:

1. The spec fits the cluster. The plan (with its inverse) is saved, and approved.
2. The start is saved. From here on the cluster may have been changed.
3. The throttle values that will be replaced are saved; then the throttle is set.
4. Moves are submitted in batches, within limits, until all are over.
5. The throttle values are restored.
6. Preferred leaders are elected.
7. Assignment, in-sync replicas and throttles are verified. The outcome is saved.

Line 2 waits for the queue (`queueing`): one reassignment of a cluster runs at a time. A pause stops
4 from submitting. A cancellation cancels the pending moves and goes to 5. A rollback does 3 to 7
with the inverse plan. If nothing moves in 4 or 7 for a reason that may never change, the
reassignment restores its throttle and lets others begin (`closing`).

Every line is decided from the cluster as it is. So a process that was killed between any two
effects is continued by the next one. `steps` says what is durable before each step, and
`reassign.state.lifecycle` which states are reported.

A plan that is too large for memory is executed in pieces (`pieces`). Each piece goes through all of
this but the approval, which is that of the whole plan.
"""

from dataclasses import replace

from ballast.reassign.decision.admission import (
    Problem,
    approval_problem,
    plan_from_current,
    problems,
    stated_plan,
)
from ballast.reassign.decision.closing import close, yield_turn
from ballast.reassign.decision.decision_input import DecisionInput, TransientState
from ballast.reassign.decision.executing import submit_or_wait
from ballast.reassign.decision.log_dir_moves import log_dir_cancellations
from ballast.reassign.decision.move_states import MoveStates, classify_moves, foreign_moves
from ballast.reassign.decision.piece_order import outcome_of_whole
from ballast.reassign.decision.steps import (
    ApplyThrottle,
    CancelActive,
    Done,
    Finish,
    RejectSpec,
    RestoreThrottle,
    SaveState,
    Step,
    Wait,
)
from ballast.reassign.decision.throttle_plan import (
    Throttling,
    own_entries,
    throttle_change,
    with_saved_throttles,
)
from ballast.reassign.decision.waiting import wait_for_foreign, wait_for_turn
from ballast.reassign.plan.progress import MoveState
from ballast.reassign.spec.spec import (
    DeletionPolicy,
    DesiredState,
    Settings,
)
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.lifecycle import INTENT_RANK, PHASES
from ballast.reassign.state.persisted_state import Intent, PersistedState
from ballast.reassign.throttle.throttle_lists import named_moves

_WANTED_INTENT = {
    DesiredState.RUNNING: Intent.EXECUTE,
    DesiredState.PAUSED: Intent.EXECUTE,
    DesiredState.CANCELLED: Intent.CANCEL,
    DesiredState.ROLLED_BACK: Intent.ROLL_BACK,
}
_DELETION_INTENT = {
    DeletionPolicy.CANCEL: Intent.CANCEL_ON_DELETE,
    DeletionPolicy.ROLL_BACK: Intent.ROLL_BACK,
    DeletionPolicy.ORPHAN: Intent.ORPHAN,
}


def decide(inputs: DecisionInput) -> Step:
    """Return the next step."""
    state, before = inputs.state, inputs.previous_state
    if before is not None and _is_piece_rollback(inputs, before):
        return _start_piece_rollback(inputs, before)
    if state is None or (state.start_time_ms is None and state.outcome is None):
        return _before_start(inputs, state)
    requested = requested_intent(inputs.spec.settings)
    is_later_intent = INTENT_RANK[requested] > INTENT_RANK[state.intent]
    if state.outcome is not None:
        return _after_completion(inputs, state, state.outcome)
    if is_later_intent:
        # Others may be running since this one yielded: even a rollback waits for its turn.
        starts = requested is Intent.ROLL_BACK and not inputs.spec.settings.is_deleted
        if starts and state.yields_turn and not inputs.place.has_turn:
            return wait_for_turn(inputs.place)
        return SaveState(state=replace(state, intent=requested, closing=None, has_yielded=False))
    return _under_way(inputs, state, classify_moves(state, inputs.observation, inputs.transient))


def _is_piece_rollback(inputs: DecisionInput, before: PersistedState) -> bool:
    """Whether the next piece lies before the one that has ended: a rollback."""
    piece = inputs.spec.assignments.piece
    return piece is not None and before.piece is not None and piece.number < before.piece.number


def _start_piece_rollback(inputs: DecisionInput, before: PersistedState) -> Step:
    """Return the step that starts the rollback of an earlier piece."""
    spec = inputs.spec
    if not (spec.settings.is_deleted or inputs.place.has_turn):
        return wait_for_turn(inputs.place)
    plan = stated_plan(spec)
    assert plan is not None, "a piece says where it begins"
    return SaveState(
        state=PersistedState(
            name=spec.name,
            plan=plan,
            piece=spec.assignments.piece,
            start_time_ms=before.start_time_ms or inputs.now_ms,
            intent=Intent.ROLL_BACK,
        )
    )


def requested_intent(settings: Settings) -> Intent:
    """Return the intent that a spec asks for."""
    if settings.is_deleted:
        return _DELETION_INTENT[settings.deletion_policy]
    return _WANTED_INTENT[settings.desired_state]


def _after_completion(
    inputs: DecisionInput, state: PersistedState, outcome: LifecycleState
) -> Step:
    """Return the step after completion: a rollback starts, a cancellation has no effect."""
    settings = inputs.spec.settings
    whole = outcome_of_whole(state, outcome)
    # The deletion of an object whose plan has ended as a whole needs no rollback.
    is_over = settings.is_deleted and whole is outcome
    if (
        is_over
        or requested_intent(settings) is not Intent.ROLL_BACK
        or INTENT_RANK[state.intent] >= INTENT_RANK[Intent.ROLL_BACK]
        or state.start_time_ms is None
    ):
        return Done(outcome=whole, flaw=state.flaw)
    if not (settings.is_deleted or inputs.place.has_turn):
        return wait_for_turn(inputs.place)
    return SaveState(
        state=replace(
            state,
            intent=Intent.ROLL_BACK,
            closing=None,
            has_yielded=False,
            outcome=None,
            flaw=None,
            completion_time_ms=None,
        )
    )


def throttling_of(
    inputs: DecisionInput, state: PersistedState, move_states: MoveStates
) -> Throttling:
    """Return the throttle that must be in force now."""
    starts = state.intent.submits_moves and not state.yields_turn
    moves = move_states.unfinished if starts else ()
    rate = inputs.spec.settings.execution.throttle_bytes_per_second
    if rate is None or not moves:
        return Throttling.of(None, ())
    under_way = {move.topic_partition for move in move_states.in_state(MoveState.IN_PROGRESS)}
    lists = inputs.observation.topic_configs
    return Throttling.of(rate, moves, named_moves(moves, under_way, lists, own_entries(state)))


def _before_start(inputs: DecisionInput, state: PersistedState | None) -> Step:  # noqa: PLR0911  (a list of rules)
    settings = inputs.spec.settings
    intent = requested_intent(settings)
    is_later = state is not None and state.piece is not None and state.piece.number > 0
    if is_later and intent is not Intent.EXECUTE:
        # Earlier pieces have been executed, so this one must end even if its spec is wrong.
        return Finish(outcome=PHASES[intent].outcome)
    if settings.is_deleted:
        return Done(outcome=LifecycleState.CANCELLED)
    spec_problems = problems(inputs.spec, inputs.observation)
    if spec_problems:
        return _invalid_for_cluster(spec_problems, inputs.transient)
    current = plan_from_current(inputs.spec, inputs.observation)
    plan = stated_plan(inputs.spec) or current
    if state is None:
        flaw = None if inputs.previous_state is None else inputs.previous_state.flaw
        piece = inputs.spec.assignments.piece
        return SaveState(
            state=PersistedState(name=inputs.spec.name, plan=plan, piece=piece, flaw=flaw)
        )
    if intent is not Intent.EXECUTE:
        return Finish(outcome=PHASES[intent].outcome)
    if plan != state.plan and settings.approval.plan_digest != state.plan.digest:
        return SaveState(state=replace(state, plan=plan))
    refusal = approval_problem(inputs.spec, state, current, inputs.observation)
    if refusal is not None:
        return Wait(
            state=LifecycleState.AWAITING_APPROVAL, reason=refusal.reason, message=refusal.message
        )
    return _once_approved(inputs, state)


def _invalid_for_cluster(spec_problems: tuple[Problem, ...], transient: TransientState) -> Step:
    """Reject a spec that the cluster contradicts, but not before Metadata had time to catch up."""
    if transient.problems_persist:
        return RejectSpec(problems=spec_problems)
    return Wait(
        state=LifecycleState.PENDING,
        reason=spec_problems[0].kind,
        message=str(spec_problems[0].error),
    )


def _once_approved(inputs: DecisionInput, state: PersistedState) -> Step:
    if inputs.spec.settings.desired_state is DesiredState.PAUSED:
        return Wait(state=LifecycleState.PAUSED, reason="Paused")
    if not inputs.place.has_turn:
        return wait_for_turn(inputs.place)
    foreign = foreign_moves(state.plan, inputs.observation)
    if foreign:
        return wait_for_foreign(LifecycleState.QUEUED, len(foreign), str(foreign[0]))
    return SaveState(state=replace(state, start_time_ms=inputs.now_ms))


def _under_way(inputs: DecisionInput, state: PersistedState, move_states: MoveStates) -> Step:
    if state.intent in (Intent.CANCEL, Intent.CANCEL_ON_DELETE):
        cancel = _cancel(inputs, state, move_states)
        if cancel is not None:
            return cancel
    throttling = throttling_of(inputs, state, move_states)
    with_values = with_saved_throttles(state, throttling, inputs.observation, inputs.transient)
    if with_values is not None:
        return SaveState(state=with_values)
    change = throttle_change(state, throttling, inputs.observation)
    executes = state.intent.submits_moves and bool(move_states.unfinished) and state.closing is None
    if executes and not state.has_yielded:
        return (
            ApplyThrottle(change=change)
            if change
            else _execute(inputs, state, move_states, throttling)
        )
    if state.has_throttles and not inputs.transient.is_restore_sent:
        change = throttle_change(state, throttling, inputs.observation, all_values=True)
    if change:
        return RestoreThrottle(change=change)
    return (yield_turn if executes else close)(inputs, state, move_states)


def _cancel(
    inputs: DecisionInput, state: PersistedState, move_states: MoveStates
) -> CancelActive | None:
    """Return the cancellations to send now; those refused moments ago wait."""
    transient = inputs.transient
    copying = (
        {}
        if transient.is_log_dir_cancel_refused
        else log_dir_cancellations(state.plan, inputs.observation)
    )
    partitions = tuple(tp for tp in move_states.own_pending if tp not in transient.cancel_refusals)
    if partitions or copying:
        return CancelActive(partitions=partitions, log_dirs=copying)
    return None


def _execute(
    inputs: DecisionInput, state: PersistedState, move_states: MoveStates, throttling: Throttling
) -> Step:
    """Return the step while moves are unfinished; one that cannot go on yields."""
    step = submit_or_wait(inputs, state, move_states, throttling)
    is_held = isinstance(step, Wait) and step.state is not LifecycleState.PAUSED
    if is_held and inputs.transient.is_idle and not move_states.in_state(MoveState.IN_PROGRESS):
        return SaveState(state=replace(state, has_yielded=True))
    return step
