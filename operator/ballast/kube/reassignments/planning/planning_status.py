"""Reads ``status.planning``, without trust in its writer, and makes the findings about planning."""

from collections.abc import Mapping
from typing import Any, Final

from ballast.kube.api.reassignment_object import ReassignmentObject, milliseconds
from ballast.kube.reassignments.planning.plan_attempt import AttemptInProgress
from ballast.model.conditions import NOT_RECONCILED, ConditionStatus, Finding
from ballast.reassign.generate.generate_manifest import Engine
from ballast.reassign.generate.generation import Basis, Planning
from ballast.reassign.state.conditions import ConditionType, LifecycleState

GENERATING: Final = "Generating"
"""Reason of Planned while a plan is being made."""
EMPTY: Final = "EmptyPlan"
_TRUE, _FALSE, _UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN
_NOT_KNOWN: Final = dict.fromkeys((ConditionType.ACCEPTED, ConditionType.APPROVED), NOT_RECONCILED)
"""These conditions were about an earlier plan."""


def planning_of(reassignment: ReassignmentObject) -> Planning:
    """Return the saved record of the attempts to make the plan."""
    document = reassignment.status.get("planning")
    if not isinstance(document, Mapping):
        return Planning()
    engine = document.get("engine")
    return Planning(
        attempt=_count(document, "attempt") or 0,
        begin_ms=milliseconds(document.get("startTime")) or 0,
        engine=Engine(engine) if engine in list(Engine) else None,
        job=_text(document, "sparkApplicationName"),
        job_begin_ms=milliseconds(document.get("submissionTime")) or 0,
        failures=_count(document, "failures") or 0,
        reason=_text(document, "reason"),
        message=_text(document, "message"),
        failed_ms=milliseconds(document.get("failureTime")) or 0,
        circumstances=_text(document, "circumstances"),
        basis=_basis(document.get("basedOn")),
        layout=_text(document, "layoutDigest"),
    )


def pending_status(
    reassignment: ReassignmentObject, pending: AttemptInProgress, epoch: int | None
) -> dict[str, Any]:
    """Return the status while there is no plan to be executed, without that of an earlier plan."""
    status: dict[str, Any] = {
        "planning": pending.planning.to_document(),
        "conditions": list(reassignment.status.get("conditions") or ()),
    }
    known = reassignment.controller_epoch if epoch is None else epoch
    if known is not None:
        status["controllerEpoch"] = known
    if pending.plan:
        status["plan"] = dict(pending.plan)
    return status


def under_way(what: str) -> dict[ConditionType, Finding]:
    """Return the findings while a plan is being made; ``what`` is the present activity."""
    return {
        **_NOT_KNOWN,
        ConditionType.PLANNED: Finding(status=_UNKNOWN, reason=GENERATING, message=what),
        ConditionType.PROGRESSING: Finding(status=_TRUE, reason=GENERATING, message=what),
        ConditionType.STALLED: Finding(status=_FALSE, reason="Progressing"),
        ConditionType.SUCCEEDED: Finding(
            status=_UNKNOWN, reason=LifecycleState.PLANNING.value, message=what
        ),
    }


def put_off(reason: str, why: str) -> dict[ConditionType, Finding]:
    """Return the findings while planning waits for the cluster."""
    waits = Finding(status=_UNKNOWN, reason=reason, message=why)
    return {
        **_NOT_KNOWN,
        ConditionType.PLANNED: waits,
        ConditionType.PROGRESSING: Finding(status=_FALSE, reason=reason, message=why),
        ConditionType.SUCCEEDED: Finding(
            status=_UNKNOWN, reason=LifecycleState.PLANNING.value, message=why
        ),
    }


def failed(planning: Planning, what_next: str, *, needs_help: bool) -> dict[ConditionType, Finding]:
    """Return the findings after a failed attempt; ``what_next`` says what follows."""
    reason, message = planning.reason, f"{planning.message}; {what_next}"
    stalled = Finding(status=_FALSE, reason="Progressing")
    if needs_help:
        stalled = Finding(status=_TRUE, reason=reason, message=message)
    return {
        **_NOT_KNOWN,
        ConditionType.PLANNED: Finding(status=_FALSE, reason=reason, message=message),
        ConditionType.PROGRESSING: Finding(status=_FALSE, reason=reason, message=message),
        ConditionType.STALLED: stalled,
        ConditionType.SUCCEEDED: Finding(
            status=_UNKNOWN, reason=LifecycleState.PLANNING.value, message=message
        ),
    }


def nothing_to_do(digest: str) -> dict[ConditionType, Finding]:
    """Return the findings for an empty plan: the reassignment has ended."""
    message = "nothing has to be moved: the cluster is as the strategy requires"
    done = LifecycleState.COMPLETED.value
    return {
        ConditionType.ACCEPTED: Finding(status=_TRUE, reason="Valid"),
        ConditionType.PLANNED: Finding(status=_TRUE, reason=EMPTY, message=digest),
        ConditionType.PROGRESSING: Finding(status=_FALSE, reason=done),
        ConditionType.THROTTLED: Finding(status=_FALSE, reason="NotRequested"),
        ConditionType.VERIFIED: Finding(status=_TRUE, reason="Verified"),
        ConditionType.STALLED: Finding(status=_FALSE, reason="Progressing"),
        ConditionType.SUCCEEDED: Finding(status=_TRUE, reason=done, message=message),
    }


def given_up(state: LifecycleState) -> dict[ConditionType, Finding]:
    """Return the findings when it was cancelled or rolled back before there was a plan."""
    return {
        ConditionType.PROGRESSING: Finding(status=_FALSE, reason=state.value),
        ConditionType.STALLED: Finding(status=_FALSE, reason="Progressing"),
        ConditionType.SUCCEEDED: Finding(
            status=_FALSE, reason=state.value, message="it ended before there was a plan"
        ),
    }


def _basis(document: object) -> Basis | None:
    if not isinstance(document, Mapping):
        return None
    digest = document.get("snapshotDigest")
    if not isinstance(digest, str):
        return None
    return Basis(
        snapshot_digest=digest,
        partitions=_count(document, "partitions") or 0,
        cluster_id=_text(document, "clusterId"),
        controller_epoch=_count(document, "controllerEpoch"),
        time_ms=milliseconds(document.get("time")) or 0,
    )


def _count(document: Mapping[Any, Any], name: str) -> int | None:
    value = document.get(name)
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None


def _text(document: Mapping[Any, Any], name: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) else ""
