"""Executes a plan that is too large for memory piece by piece: what is read, what the status says.

The whole plan is approved once; each piece then runs as an approved plan of its own. Each read of a
piece is checked against the digest of the whole plan.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.reassignments import plan_source
from ballast.kube.reassignments.large_plans import large_plan_status
from ballast.kube.reassignments.plan_source import LoadedPlan, load_piece
from ballast.model.conditions import Finding
from ballast.reassign.decision.piece_order import piece_to_run
from ballast.reassign.plan.pieces import Piece
from ballast.reassign.spec.spec import Assignments
from ballast.reassign.state.conditions import FINAL_STATUS, ConditionType, LifecycleState
from ballast.reassign.state.persisted_state import Intent, PersistedState
from ballast.reassign.state.queueing import YIELDING
from ballast.reassign.state.status import Status

_OF_WHOLE: Final = ("plan", "progress", "startTime", "rollback")
"""Fields of the status that a piece does not have before it has begun."""


class PieceLoader:
    """Reads and keeps the piece of one reassignment's plan that is to be executed."""

    def __init__(self, api: KubernetesApi) -> None:
        self._api = api
        self._last: Assignments | None = None

    async def load(
        self, namespace: str, plan: LoadedPlan | None, memory: PersistedState | None, intent: Intent
    ) -> Assignments:
        """Return the piece to be executed: the first one of ``plan``, when none has begun.

        Raises `PlanNotReadable` and `KubernetesError`.
        """
        if memory is not None:
            piece = piece_to_run(memory, intent)
        else:
            assert plan is not None, "nothing is remembered"
            assert plan.summary is not None, "a large plan"
            piece = Piece(
                source=plan.objects[0].name,
                plan_digest=plan.summary.digest,
                partitions=plan.summary.partitions,
                size=plan_source.EXECUTABLE_PARTITIONS,
                number=0,
            )
        assert piece is not None, "a plan in pieces"
        if memory is not None and memory.piece == piece:
            return Assignments.of_piece(memory.plan, piece)
        if self._last is None or self._last.piece != piece:
            self._last = None
            self._last = await load_piece(self._api, namespace, piece)
        return self._last


def is_plan_of(plan: LoadedPlan, memory: PersistedState) -> bool:
    """Whether the plan that was loaded is the one of the saved state."""
    if memory.piece is None:
        return plan.summary is None and plan.assignments.targets == memory.plan.targets
    if plan.summary is not None:
        return plan.summary.digest == memory.piece.plan_digest
    return plan.assignments.piece == memory.piece


def has_any_begun(memory: PersistedState | None) -> bool:
    """Whether a piece of the plan has been begun."""
    if memory is None or memory.piece is None:
        return False
    return memory.piece.number > 0 or memory.start_time_ms is not None


def status_of_whole(status: Status, piece: Piece, memory: PersistedState | None) -> Status:
    """Return the status of the whole plan from that of a piece."""
    if status.progress is None:
        return status
    goes_back = memory is not None and memory.intent is Intent.ROLL_BACK
    progress = piece.progress_of_whole(status.progress, goes_back=goes_back)
    return replace(status, progress=progress)


def document_of_whole(
    document: dict[str, Any],
    reassignment: ReassignmentObject,
    plan: Mapping[str, Any],
    memory: PersistedState,
) -> dict[str, Any]:
    """Return the status of a piece as that of the whole plan; ``plan`` is its ``status.plan``.

    A piece that has not begun does not block other reassignments.
    """
    whole = dict(document)
    for name in _OF_WHOLE:
        if name in reassignment.status and (name == "startTime" or name not in whole):
            whole[name] = reassignment.status[name]
    if plan:
        whole["plan"] = {**whole.get("plan", {}), **plan}
    state = LifecycleState(_reason_of(whole, ConditionType.SUCCEEDED))
    is_under_way = memory.start_time_ms is not None and memory.outcome is None
    # A later piece that is invalid does not end the whole.
    has_ended = state in FINAL_STATUS and state is not LifecycleState.INVALID
    has_place = has_ended or is_under_way or state is LifecycleState.QUEUED
    if "startTime" in whole and not has_place:
        whole["queue"] = YIELDING.to_document()
    return whole


def plan_of_whole(plan: LoadedPlan, reassignment: ReassignmentObject) -> Mapping[str, Any]:
    """Return ``status.plan`` of the whole plan: as it was read, or as it was reported before."""
    if plan.summary is None:
        reported: Mapping[str, Any] = reassignment.status.get("plan") or {}
        return reported
    whole: Mapping[str, Any] = large_plan_status(plan, plan.summary)["plan"]
    return whole


def _reason_of(document: Mapping[str, Any], kind: ConditionType) -> str:
    return next(str(one["reason"]) for one in document["conditions"] if one["type"] == kind)


def contradiction_of_piece(status: Status, piece: Piece) -> Finding | None:
    """Return why a later piece is invalid. That does not end the plan: earlier pieces have run."""
    if status.state is not LifecycleState.INVALID or piece.number == 0:
        return None
    accepted = status.conditions[ConditionType.ACCEPTED]
    message = f"{piece}: {accepted.message}; put it right, or cancel or roll back all of it"
    return Finding(status=accepted.status, reason=accepted.reason, message=message)
