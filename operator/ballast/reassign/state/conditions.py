"""Conditions of a reassignment.

All types are present from the first status on. ``Succeeded`` is the summary: its *reason* is the
lifecycle state, and its status is Unknown while the reassignment is active.
"""

from collections.abc import Mapping
from enum import StrEnum

from ballast.model import conditions
from ballast.model.conditions import Condition, ConditionStatus, Finding


class ConditionType(StrEnum):
    """The condition types, in the order in which a reassignment reaches them."""

    ACCEPTED = "Accepted"
    PLANNED = "Planned"
    APPROVED = "Approved"
    PROGRESSING = "Progressing"
    THROTTLED = "Throttled"
    VERIFIED = "Verified"
    STALLED = "Stalled"
    SUCCEEDED = "Succeeded"


class LifecycleState(StrEnum):
    """The reason of ``Succeeded``; `lifecycle` has the transitions."""

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


Conditions = Mapping[ConditionType, Condition]


def updated(
    before: Conditions,
    findings: Mapping[ConditionType, Finding],
    *,
    generation: int,
    now_ms: int,
) -> dict[ConditionType, Condition]:
    """Return all conditions after ``findings``; a condition without a finding stays."""
    return conditions.updated(ConditionType, before, findings, generation=generation, now_ms=now_ms)


def conditions_from_documents(documents: object) -> dict[ConditionType, Condition]:
    """Return the conditions in a status; unreadable ones are left out."""
    return conditions.conditions_from_documents(ConditionType, documents)
