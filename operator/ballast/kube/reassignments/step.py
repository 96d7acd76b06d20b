"""One visit to a reassignment whose spec, plan and cluster are at hand: turn, step, status."""

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
from ballast.kube.reassignments.status import stalled, status_document, with_findings
from ballast.model.conditions import ConditionStatus, Finding
from ballast.reassign.decision.decide import requested_intent
from ballast.reassign.decision.decision_input import HAS_TURN
from ballast.reassign.decision.piece_order import has_more_pieces
from ballast.reassign.reconcile import Reconciler, ReconcileResult
from ballast.reassign.spec.manifest import Manifest
from ballast.reassign.spec.spec import ReassignmentSpec
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from ballast.reassign.state.persisted_state import PersistedState
from ballast.reassign.state.queueing import NOT_QUEUED, QueuePlace

REQUEUE_NOW: Final = 0.0
IDLE_REQUEUE_S: Final = 15.0
"""Between two looks at what waits for a person or for others."""
MOVING_REQUEUE_S: Final = 2.0
"""Between two looks at what waits for moves in flight, ours or others'."""
MAX_POLL_S: Final = 5.0
POLL_SHARE: Final = 4.0
"""A look at a large plan takes a while: so many times as long is then waited."""
_CALM: Final = frozenset(
    {LifecycleState.AWAITING_APPROVAL, LifecycleState.QUEUED, LifecycleState.PAUSED}
)

_PENDING: Final = Finding(status=ConditionStatus.UNKNOWN, reason=LifecycleState.PENDING.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a look has found: all that a step needs."""

    seen: ReassignmentObject
    manifest: Manifest
    cluster: ClusterAddress
    reconciler: Reconciler
    memory: PersistedState | None
    plan: LoadedPlan

    @property
    def spec(self) -> ReassignmentSpec:
        """The spec with its plan."""
        return self.manifest.spec(self.plan.assignments, self.seen.generation)

    @property
    def epoch(self) -> int | None:
        """To be written: never lower than what is there."""
        known = self.cluster.epoch
        return self.seen.controller_epoch if known is None else known

    @property
    def is_active(self) -> bool:
        """Whether it has begun, and not ended."""
        memory = self.memory
        return memory is not None and memory.start_time_ms is not None and memory.outcome is None

    @property
    def has_begun(self) -> bool:
        """Whether it is under way and keeps its turn, so that it need not ask for it."""
        return self.is_active and self.memory is not None and not self.memory.yields_turn


async def visit(work: ReassignmentSession, case: Case) -> float:
    """Take a step and report; return after how many seconds to look again.

    Raises `KubernetesError` and `StateMismatch`.
    """
    seen, clock = case.seen, work.operator.clock
    if case.memory is not None and not seen.has_finalizer and not await work.hold(seen):
        return REQUEUE_NOW
    began = clock.now()
    turn, visited = await _step(work, case)
    took_s = clock.now() - began
    piece = case.plan.assignments.piece
    memory = None if piece is None else await case.reconciler.load_state()
    if memory is not None and memory.piece == piece and _has_more(case, memory):
        # The next look takes the piece that follows; what is known of this one is of no use to it.
        work.forget()
        return REQUEUE_NOW
    claims = turn is not None and turn.verdict in (Verdict.CLAIM, Verdict.HOLD)
    is_queued = visited.status.state is LifecycleState.QUEUED
    document = status_document(
        visited.status if piece is None else status_of_whole(visited.status, piece, memory),
        seen,
        epoch=case.epoch,
        plan=case.plan,
        state_objects=work.state_objects,
        place=HAS_TURN if claims and is_queued else None,
    )
    if memory is not None:
        told = plan_of_whole(case.plan, seen)
        document = document_of_whole(document, seen, told, memory)
    against = None if piece is None else contradiction_of_piece(visited.status, piece)
    if against is not None:
        found = {**stalled(against.reason, against.message), ConditionType.SUCCEEDED: _PENDING}
        document = with_findings(seen, found, clock.wall_ms(), status=document)
    wait_s = await work.report(seen, document)
    if against is not None:
        return IDLE_REQUEUE_S
    if visited.requeue_after_s is None:
        await work.wake_others(seen)
        return REQUEUE_NOW
    delay_s = pace(visited, took_s)
    if is_queued and turn is not None and turn.verdict is not Verdict.WAIT:
        delay_s = REQUEUE_NOW if turn.verdict is Verdict.CLAIM else POLL_S
    return delay_s if wait_s is None else min(delay_s, wait_s)


def _has_more(case: Case, memory: PersistedState) -> bool:
    return has_more_pieces(memory, requested_intent(case.manifest.settings))


async def _step(work: ReassignmentSession, case: Case) -> tuple[Turn | None, ReconcileResult]:
    """Let the reconciler take a step, as far as its turn allows."""
    full: frozenset[int] = frozenset()
    if case.is_active:
        full = await work.volumes.look(case.seen.namespace, case.seen.broker_set, work.admin)
    if case.has_begun:
        return None, await case.reconciler.reconcile(case.spec, full_brokers=full)
    api, turn = work.operator.api, None
    if case.seen.state is LifecycleState.QUEUED:
        turn = await ask_for_turn(api, case.seen)
    visited = await case.reconciler.reconcile(case.spec, _place(turn), full_brokers=full)
    if turn is None and visited.status.state is LifecycleState.QUEUED:
        turn = await ask_for_turn(api, case.seen)
        if turn.verdict is Verdict.WAIT:
            visited = await case.reconciler.reconcile(case.spec, turn.place, full_brokers=full)
    return turn, visited


def _place(turn: Turn | None) -> QueuePlace:
    """Return the place to visit with: only who may begin is told that it has its turn."""
    if turn is None or turn.verdict in (Verdict.CLAIM, Verdict.HOLD):
        return NOT_QUEUED
    return turn.place


def pace(visited: ReconcileResult, took_s: float) -> float:
    """Return when to look again: soon while bytes move, seldom while a person is waited for.

    ``took_s`` is how long the visit took.
    """
    delay_s = visited.requeue_after_s or REQUEUE_NOW
    if delay_s < POLL_S:
        return delay_s
    delay_s = max(delay_s, min(MAX_POLL_S, POLL_SHARE * took_s))
    if visited.status.state not in _CALM:
        return delay_s
    progress = visited.status.progress
    is_moving = progress is not None and progress.in_progress > 0
    progressing = visited.status.conditions[ConditionType.PROGRESSING]
    if is_moving or progressing.reason == "ForeignReassignment":
        return max(delay_s, MOVING_REQUEUE_S)
    return max(delay_s, IDLE_REQUEUE_S)
