"""The Kubernetes Events for a change of a reassignment's conditions.

Pure: the Events follow from the status before and after the change, so that an operator that was
restarted repeats none of them.
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
"""Reasons of Progressing that may call for an action by a person."""


def condition_events(before: Conditions, after: Conditions) -> tuple[ObjectEvent, ...]:
    """Return the Events for the change from one set of conditions to the next."""
    events: list[ObjectEvent] = []
    accepted = after.get(ConditionType.ACCEPTED)
    if _has_become(before, accepted, ConditionStatus.TRUE):
        events.append(
            ObjectEvent(reason="Accepted", message=_message(after, ConditionType.PLANNED))
        )
    events.extend(_not_planned(before, after))
    events.extend(_entered(before, after))
    events.extend(_problem(before, after))
    stalled = after.get(ConditionType.STALLED)
    ended = _state(after) is LifecycleState.INVALID
    if _has_become(before, stalled, ConditionStatus.TRUE) and stalled is not None and not ended:
        events.append(ObjectEvent(reason="Stalled", message=stalled.message, is_warning=True))
    return tuple(events)


def _entered(before: Conditions, after: Conditions) -> list[ObjectEvent]:
    old, new = _state(before), _state(after)
    if new is None or new is old or new not in _STATES:
        return []
    if new is LifecycleState.QUEUED and not _message(after, ConditionType.SUCCEEDED):
        return []  # It does not wait: its turn comes in the next step.
    reason, is_warning = _STATES[new]
    if new is LifecycleState.EXECUTING and old is LifecycleState.PAUSED:
        reason = "Resumed"
    elif new is LifecycleState.EXECUTING and old is LifecycleState.VERIFYING:
        return []
    message = _message(after, ConditionType.SUCCEEDED)
    if reason == "Started":
        message = _message(after, ConditionType.PLANNED)
    return [ObjectEvent(reason=reason, message=message, is_warning=is_warning)]


def _not_planned(before: Conditions, after: Conditions) -> list[ObjectEvent]:
    """Return an Event for a failed attempt to make a plan; one for failures of one reason."""
    old, new = before.get(ConditionType.PLANNED), after.get(ConditionType.PLANNED)
    if new is None or new.status is not ConditionStatus.FALSE:
        return []
    if old is not None and old.status is new.status and old.reason == new.reason:
        return []
    return [ObjectEvent(reason=new.reason, message=new.message, is_warning=True)]


def _problem(before: Conditions, after: Conditions) -> list[ObjectEvent]:
    old, new = before.get(ConditionType.PROGRESSING), after.get(ConditionType.PROGRESSING)
    if new is None or new.reason not in _WARNED or (old is not None and old.reason == new.reason):
        return []
    return [ObjectEvent(reason=new.reason, message=new.message, is_warning=True)]


def _has_become(before: Conditions, new: Condition | None, status: ConditionStatus) -> bool:
    if new is None or new.status is not status:
        return False
    old = before.get(ConditionType(new.type))
    return old is None or old.status is not status


def _state(conditions: Conditions) -> LifecycleState | None:
    condition = conditions.get(ConditionType.SUCCEEDED)
    if condition is None or condition.reason not in list(LifecycleState):
        return None
    return LifecycleState(condition.reason)


def _message(conditions: Conditions, kind: ConditionType) -> str:
    condition = conditions.get(kind)
    return "" if condition is None else condition.message
