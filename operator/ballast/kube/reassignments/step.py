"""One step of a reassignment whose spec, plan and cluster are known.

A reassignment that has not begun needs its turn among those of its broker set (see `queue`); the
status says so before it begins. The step itself is one visit of `reassign.reconcile`.
"""

from dataclasses import dataclass
from typing import Final

from ballast.kube.api.cluster_address import ClusterAddress
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.reassignments.plan_pieces import (
    contradiction_of_piece,
    document_of_whole,
    plan_of_whole,
    status_of_whole,
)
from ballast.kube.reassignments.plan_source import LoadedPlan
from ballast.kube.reassignments.queue import Turn, Verdict, ask_for_turn
from ballast.kube.reassignments.session import POLL_S, ReassignmentSession
from ballast.kube.reassignments.status import (
    StatusDocument,
    stalled,
    status_document,
    steady,
    with_findings,
)
from ballast.kube.runtime.reconcile_loop import REQUEUE_NOW, Finalizer, Result
from ballast.model.conditions import ConditionStatus, Finding
from ballast.reassign.decision.decide import requested_intent
from ballast.reassign.decision.decision_input import HAS_TURN
from ballast.reassign.decision.piece_order import has_more_pieces
from ballast.reassign.plan.pieces import Piece
from ballast.reassign.reconcile import Reconciler, ReconcileResult
from ballast.reassign.spec.manifest import Manifest
from ballast.reassign.spec.spec import ReassignmentSpec
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from ballast.reassign.state.persisted_state import PersistedState
from ballast.reassign.state.queueing import NOT_QUEUED, QueuePlace

IDLE_REQUEUE_S: Final = 15.0
"""The interval of reconciliations that wait for a person or for other reassignments."""
MOVING_REQUEUE_S: Final = 2.0
"""The interval of reconciliations that wait for moves in flight, also those of others."""
_IDLE_STATES: Final = frozenset(
    {LifecycleState.AWAITING_APPROVAL, LifecycleState.QUEUED, LifecycleState.PAUSED}
)

_PENDING: Final = Finding(status=ConditionStatus.UNKNOWN, reason=LifecycleState.PENDING.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileInputs:
    """All that a step needs."""

    reassignment: ReassignmentObject
    manifest: Manifest
    cluster: ClusterAddress
    reconciler: Reconciler
    memory: PersistedState | None
    plan: LoadedPlan

    @property
    def spec(self) -> ReassignmentSpec:
        """The spec with its plan."""
        return self.manifest.spec(self.plan.assignments, self.reassignment.generation)

    @property
    def epoch(self) -> int | None:
        """The epoch for the status: never lower than the one that is there."""
        epoch = self.cluster.epoch
        return self.reassignment.controller_epoch if epoch is None else epoch

    @property
    def is_active(self) -> bool:
        """Whether it has begun, and not ended."""
        memory = self.memory
        return memory is not None and memory.start_time_ms is not None and memory.outcome is None

    @property
    def keeps_its_turn(self) -> bool:
        """Whether it is under way and keeps its turn, so that it need not ask for it."""
        return self.is_active and self.memory is not None and not self.memory.yields_turn


async def run_step(session: ReassignmentSession, inputs: ReconcileInputs) -> Result:
    """Take a step and report it. Raises `KubernetesError` and `StateMismatch`."""
    reassignment = inputs.reassignment
    if inputs.memory is not None and not reassignment.has_finalizer:
        # Nothing is changed in the cluster before the API server has the finalizer.
        return Result(finalizer=Finalizer.ADD, requeue_after_s=REQUEUE_NOW)
    turn, visit = await _visit(session, inputs)
    piece = inputs.plan.assignments.piece
    memory = None if piece is None else await inputs.reconciler.load_state()
    intent = requested_intent(inputs.manifest.settings)
    if memory is not None and memory.piece == piece and has_more_pieces(memory, intent):
        # The next reconciliation takes the next piece; what is cached belongs to this one.
        session.forget()
        return Result(requeue_after_s=REQUEUE_NOW)
    claims = turn is not None and turn.verdict in (Verdict.CLAIM, Verdict.HOLD)
    is_queued = visit.status.state is LifecycleState.QUEUED
    document = status_document(
        visit.status if piece is None else status_of_whole(visit.status, piece, memory),
        reassignment,
        epoch=inputs.epoch,
        plan=inputs.plan,
        state_objects=session.state_objects,
        place=HAS_TURN if claims and is_queued else None,
    )
    if memory is not None:
        whole = plan_of_whole(inputs.plan, reassignment)
        document = document_of_whole(document, reassignment, whole, memory)
    if piece is not None:
        invalid = _invalid_piece(session, inputs, visit, piece, document)
        if invalid is not None:
            return invalid
    status = steady(document, reassignment.status)
    if visit.requeue_after_s is None:
        return Result(status=status, has_ended=True, requeue_after_s=REQUEUE_NOW)
    requeue_after_s = requeue_after(visit)
    if is_queued and turn is not None and turn.verdict is not Verdict.WAIT:
        requeue_after_s = REQUEUE_NOW if turn.verdict is Verdict.CLAIM else POLL_S
    return Result(status=status, requeue_after_s=requeue_after_s)


def _invalid_piece(
    session: ReassignmentSession,
    inputs: ReconcileInputs,
    visit: ReconcileResult,
    piece: Piece,
    document: StatusDocument,
) -> Result | None:
    """Return the result for a later piece that the cluster makes invalid; None for any other."""
    against = contradiction_of_piece(visit.status, piece)
    if against is None:
        return None
    findings = {**stalled(against.reason, against.message), ConditionType.SUCCEEDED: _PENDING}
    now_ms = session.operator.clock.wall_ms()
    status = with_findings(inputs.reassignment, findings, now_ms, status=document)
    return Result(status=steady(status, inputs.reassignment.status), requeue_after_s=IDLE_REQUEUE_S)


async def _visit(
    session: ReassignmentSession, inputs: ReconcileInputs
) -> tuple[Turn | None, ReconcileResult]:
    """Take a step of the core reconciler, as far as the turn allows."""
    reassignment, reconciler, spec = inputs.reassignment, inputs.reconciler, inputs.spec
    full: frozenset[int] = frozenset()
    if inputs.is_active:
        full = await session.volumes.full_brokers(
            reassignment.namespace, reassignment.broker_set, session.admin
        )
    if inputs.keeps_its_turn:
        return None, await reconciler.reconcile(spec, full_brokers=full)
    api, turn = session.operator.api, None
    if reassignment.state is LifecycleState.QUEUED:
        turn = await ask_for_turn(api, reassignment)
    visit = await reconciler.reconcile(spec, _place(turn), full_brokers=full)
    if turn is None and visit.status.state is LifecycleState.QUEUED:
        turn = await ask_for_turn(api, reassignment)
        if turn.verdict is Verdict.WAIT:
            visit = await reconciler.reconcile(spec, turn.place, full_brokers=full)
    return turn, visit


def _place(turn: Turn | None) -> QueuePlace:
    """Return the place for the visit: only a reassignment that may begin gets the first one."""
    if turn is None or turn.verdict in (Verdict.CLAIM, Verdict.HOLD):
        return NOT_QUEUED
    return turn.place


def requeue_after(visit: ReconcileResult) -> float:
    """Return the seconds until the next step: few while bytes move, more while a person decides."""
    delay_s = visit.requeue_after_s or REQUEUE_NOW
    if delay_s < POLL_S or visit.status.state not in _IDLE_STATES:
        return delay_s
    progress = visit.status.progress
    is_moving = progress is not None and progress.in_progress > 0
    progressing = visit.status.conditions[ConditionType.PROGRESSING]
    if is_moving or progressing.reason == "ForeignReassignment":
        return max(delay_s, MOVING_REQUEUE_S)
    return max(delay_s, IDLE_REQUEUE_S)
