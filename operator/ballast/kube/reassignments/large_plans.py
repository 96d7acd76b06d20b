"""Reports and approves a plan that is too large to be executed in one piece. Pure.

The plan itself is checked, every line of it; each of its pieces is checked against the cluster
before it begins.
"""

from collections.abc import Mapping
from typing import Any, Final

from ballast.kube.reassignments.plan_source import LoadedPlan
from ballast.model.conditions import ConditionStatus, Finding
from ballast.reassign.plan.plan import PLAN_FORMAT
from ballast.reassign.plan.summary import PlanSummary
from ballast.reassign.spec.spec import Approval, ApprovalPolicy, DesiredState, Settings
from ballast.reassign.state.conditions import ConditionType, LifecycleState

_TRUE, _FALSE, _UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN
_ENDS: Final[Mapping[DesiredState, LifecycleState]] = {
    DesiredState.CANCELLED: LifecycleState.CANCELLED,
    DesiredState.ROLLED_BACK: LifecycleState.ROLLED_BACK,
}
_MAX_OBJECTS: Final = 16


def large_plan_status(plan: LoadedPlan, summary: PlanSummary) -> dict[str, Any]:
    """Return the fields of ``status`` that describe the plan."""
    return {
        "plan": {
            "digest": summary.digest,
            "format": PLAN_FORMAT,
            "partitions": summary.partitions,
            "replicaMoves": summary.replica_moves,
            "leaderChanges": summary.leader_changes,
            "logDirMoves": summary.log_dir_moves,
            "objects": [stored.to_document() for stored in plan.objects[:_MAX_OBJECTS]],
            **plan.details,
        },
        "progress": {"summary": f"0/{summary.partitions} (0%)"},
    }


def large_plan_findings(
    settings: Settings, summary: PlanSummary
) -> dict[ConditionType, Finding] | None:
    """Return the findings for a plan that has not begun, None when it may run."""
    findings = {
        ConditionType.ACCEPTED: Finding(
            status=_TRUE, reason="Valid", message=f"{summary.partitions} partitions"
        ),
        ConditionType.PLANNED: Finding(status=_TRUE, reason="PlanStored", message=summary.digest),
        ConditionType.THROTTLED: Finding(status=_FALSE, reason="NotRequested"),
        ConditionType.STALLED: Finding(status=_FALSE, reason="Progressing"),
    }
    end = _ENDS.get(settings.desired_state)
    if end is not None:
        findings[ConditionType.PROGRESSING] = Finding(status=_FALSE, reason=end.value)
        findings[ConditionType.SUCCEEDED] = Finding(status=_FALSE, reason=end.value)
        return findings
    refusal = _unapproved(settings.approval, summary)
    findings[ConditionType.APPROVED] = refusal or _approved(settings.approval)
    if refusal is not None:
        state, waits = LifecycleState.AWAITING_APPROVAL, refusal
    elif settings.desired_state is DesiredState.PAUSED:
        state, waits = LifecycleState.PAUSED, Finding(status=_FALSE, reason="Paused")
    else:
        return None
    findings[ConditionType.PROGRESSING] = waits
    findings[ConditionType.SUCCEEDED] = Finding(
        status=_UNKNOWN, reason=state.value, message=waits.message
    )
    return findings


def _approved(approval: Approval) -> Finding:
    by_digest = approval.plan_digest is not None
    return Finding(status=_TRUE, reason="DigestApproved" if by_digest else "Automatic")


def _unapproved(approval: Approval, summary: PlanSummary) -> Finding | None:
    digest, moves = summary.digest, summary.replica_moves + summary.log_dir_moves
    if approval.plan_digest is not None:
        if approval.plan_digest == digest:
            return None
        return Finding(
            status=_FALSE, reason="DigestMismatch", message=f"the plan's digest is {digest}"
        )
    if approval.policy is ApprovalPolicy.MANUAL:
        return Finding(
            status=_FALSE,
            reason="AwaitingApproval",
            message=f"set spec.approval.planDigest to {digest}",
        )
    if approval.max_bytes_to_move is not None:
        message = f"the bytes of a plan of this size are not counted: approve {digest}"
        return Finding(status=_FALSE, reason="LimitExceeded", message=message)
    if approval.max_replica_moves is not None and moves > approval.max_replica_moves:
        message = f"{moves} replica moves are more than maxReplicaMoves: approve {digest}"
        return Finding(status=_FALSE, reason="LimitExceeded", message=message)
    return None
