"""Conditions of a reassignment, as Kubernetes' ``metav1.Condition``.

All types are present from the first status on. ``Succeeded`` is the summary: its *reason* is the
lifecycle state, and its status is Unknown while the reassignment is active.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

_MAX_MESSAGE = 320


class ConditionType(StrEnum):
    """The condition types, in the order in which a reassignment meets them."""

    ACCEPTED = "Accepted"
    PLANNED = "Planned"
    APPROVED = "Approved"
    PROGRESSING = "Progressing"
    THROTTLED = "Throttled"
    VERIFIED = "Verified"
    STALLED = "Stalled"
    SUCCEEDED = "Succeeded"


class ConditionStatus(StrEnum):
    """Whether the condition holds."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class LifecycleState(StrEnum):
    """The reason of ``Succeeded``."""

    PENDING = "Pending"
    PLANNING = "Planning"
    AWAITING_APPROVAL = "AwaitingApproval"
    QUEUED = "Queued"
    EXECUTING = "Executing"
    PAUSED = "Paused"
    VERIFYING = "Verifying"
    CANCELLING = "Cancelling"
    ROLLING_BACK = "RollingBack"
    COMPLETED = "Completed"
    CANCELLED = "Cancelled"
    ROLLED_BACK = "RolledBack"
    FAILED = "Failed"
    INVALID = "Invalid"


FINAL_STATUS: Mapping[LifecycleState, ConditionStatus] = {
    LifecycleState.COMPLETED: ConditionStatus.TRUE,
    LifecycleState.CANCELLED: ConditionStatus.FALSE,
    LifecycleState.ROLLED_BACK: ConditionStatus.FALSE,
    LifecycleState.FAILED: ConditionStatus.FALSE,
    LifecycleState.INVALID: ConditionStatus.FALSE,
}
"""Status of ``Succeeded`` in each state that ends a reassignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is to be said in one condition."""

    status: ConditionStatus
    reason: str
    message: str = ""


NOT_RECONCILED = Finding(status=ConditionStatus.UNKNOWN, reason="NotReconciled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition."""

    type: ConditionType
    status: ConditionStatus
    reason: str
    message: str
    observed_generation: int
    last_transition_time: str
    """RFC 3339, UTC: when ``status`` last changed."""

    def to_document(self) -> dict[str, object]:
        """Return the condition as JSON."""
        return {
            "type": self.type.value,
            "status": self.status.value,
            "reason": self.reason,
            "message": self.message,
            "observedGeneration": self.observed_generation,
            "lastTransitionTime": self.last_transition_time,
        }


Conditions = Mapping[ConditionType, Condition]


def updated(
    before: Conditions,
    findings: Mapping[ConditionType, Finding],
    *,
    generation: int,
    now_ms: int,
) -> dict[ConditionType, Condition]:
    """Return all conditions after ``findings``; what is not found out stays as it was.

    ``lastTransitionTime`` moves only when the status does.
    """
    conditions: dict[ConditionType, Condition] = {}
    for kind in ConditionType:
        old = before.get(kind)
        finding = findings.get(kind)
        if finding is None and old is not None:
            conditions[kind] = replace(old, observed_generation=generation)
            continue
        finding = finding or NOT_RECONCILED
        same = old is not None and old.status is finding.status
        conditions[kind] = Condition(
            type=kind,
            status=finding.status,
            reason=finding.reason,
            message=finding.message[:_MAX_MESSAGE],
            observed_generation=generation,
            last_transition_time=(
                old.last_transition_time if same and old is not None else timestamp(now_ms)
            ),
        )
    return conditions


def conditions_from_documents(documents: object) -> dict[ConditionType, Condition]:
    """Return the conditions that `Condition.to_document` wrote; what cannot be read is left out."""
    conditions: dict[ConditionType, Condition] = {}
    for document in documents if isinstance(documents, list) else ():
        condition = _from_document(document)
        if condition is not None:
            conditions[condition.type] = condition
    return conditions


def _from_document(document: object) -> Condition | None:
    if not isinstance(document, Mapping):
        return None
    try:
        return Condition(
            type=ConditionType(document["type"]),
            status=ConditionStatus(document["status"]),
            reason=str(document["reason"]),
            message=str(document["message"]),
            observed_generation=int(document["observedGeneration"]),
            last_transition_time=str(document["lastTransitionTime"]),
        )
    except (KeyError, ValueError, TypeError):
        return None


def timestamp(wall_ms: int) -> str:
    """Return a moment as Kubernetes writes it: RFC 3339 in UTC, whole seconds."""
    return datetime.fromtimestamp(wall_ms / 1000, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
