"""Which Events a change of conditions is worth: one for each turn that a person may want to know.

Pure: what is told follows from the status before and after, so that an operator that was restarted
tells nothing twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ballast.model.conditions import Condition, ConditionStatus
from ballast.reassign.state.conditions import ConditionType, LifecycleState

Conditions = Mapping[ConditionType, Condition]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectEvent:
    """One Event to be recorded."""

    reason: str
    message: str
    is_warning: bool = False


_STATES: Final[Mapping[LifecycleState, tuple[str, bool]]] = {
    LifecycleState.AWAITING_APPROVAL: ("AwaitingApproval", False),
    LifecycleState.QUEUED: ("Queued", False),
    LifecycleState.EXECUTING: ("Started", False),
    LifecycleState.PAUSED: ("Paused", False),
    LifecycleState.CANCELLING: ("Cancelling", False),
    LifecycleState.ROLLING_BACK: ("RollingBack", False),
    LifecycleState.COMPLETED: ("Completed", False),
    LifecycleState.CANCELLED: ("Cancelled", False),
    LifecycleState.ROLLED_BACK: ("RolledBack", False),
    LifecycleState.FAILED: ("Failed", True),
    LifecycleState.INVALID: ("Rejected", True),
}
"""Reason of the Event when a state is entered, and whether it is a warning."""

_WARNED: Final = frozenset(
    {
        "ControllerUnavailable",
        "ForeignReassignment",
        "PlanChanged",
        "StateUnreadable",
        "TargetBrokerOffline",
        "ThrottleBelowIngress",
        "UnderMinISR",
    }
)
"""Reasons of Progressing that somebody may have to do something about."""


def condition_events(before: Conditions, after: Conditions) -> tuple[ObjectEvent, ...]:
    """Return what is worth an Event in the change from one status to the next."""
    found: list[ObjectEvent] = []
    accepted = after.get(ConditionType.ACCEPTED)
    if _became(before, accepted, ConditionStatus.TRUE):
        found.append(ObjectEvent(reason="Accepted", message=_said(after, ConditionType.PLANNED)))
    found.extend(_not_planned(before, after))
    found.extend(_entered(before, after))
    found.extend(_troubled(before, after))
    stalled = after.get(ConditionType.STALLED)
    ended = _state(after) is LifecycleState.INVALID
    if _became(before, stalled, ConditionStatus.TRUE) and stalled is not None and not ended:
        found.append(ObjectEvent(reason="Stalled", message=stalled.message, is_warning=True))
    return tuple(found)


def _entered(before: Conditions, after: Conditions) -> list[ObjectEvent]:
    old, new = _state(before), _state(after)
    if new is None or new is old or new not in _STATES:
        return []
    if new is LifecycleState.QUEUED and not _said(after, ConditionType.SUCCEEDED):
        return []  # It has its turn at once.
    reason, is_warning = _STATES[new]
    if new is LifecycleState.EXECUTING and old is LifecycleState.PAUSED:
        reason = "Resumed"
    elif new is LifecycleState.EXECUTING and old is LifecycleState.VERIFYING:
        return []
    message = _said(after, ConditionType.SUCCEEDED)
    if reason == "Started":
        message = _said(after, ConditionType.PLANNED)
    return [ObjectEvent(reason=reason, message=message, is_warning=is_warning)]


def _not_planned(before: Conditions, after: Conditions) -> list[ObjectEvent]:
    """Return what an attempt to make a plan has failed of; once for several of one kind."""
    old, new = before.get(ConditionType.PLANNED), after.get(ConditionType.PLANNED)
    if new is None or new.status is not ConditionStatus.FALSE:
        return []
    if old is not None and old.status is new.status and old.reason == new.reason:
        return []
    return [ObjectEvent(reason=new.reason, message=new.message, is_warning=True)]


def _troubled(before: Conditions, after: Conditions) -> list[ObjectEvent]:
    old, new = before.get(ConditionType.PROGRESSING), after.get(ConditionType.PROGRESSING)
    if new is None or new.reason not in _WARNED or (old is not None and old.reason == new.reason):
        return []
    return [ObjectEvent(reason=new.reason, message=new.message, is_warning=True)]


def _became(before: Conditions, new: Condition | None, status: ConditionStatus) -> bool:
    if new is None or new.status is not status:
        return False
    old = before.get(ConditionType(new.type))
    return old is None or old.status is not status


def _state(conditions: Conditions) -> LifecycleState | None:
    condition = conditions.get(ConditionType.SUCCEEDED)
    if condition is None or condition.reason not in list(LifecycleState):
        return None
    return LifecycleState(condition.reason)


def _said(conditions: Conditions, kind: ConditionType) -> str:
    condition = conditions.get(kind)
    return "" if condition is None else condition.message
