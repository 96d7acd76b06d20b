"""The Kubernetes Events for the steps of a reconciliation and for a change of status. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ballast.brokersets.status.conditions import ConditionType
from ballast.brokersets.steps import steps
from ballast.brokersets.steps.steps import Step
from ballast.kube.broker_sets.apply_steps import Outcome
from ballast.kube.runtime.condition_events import ObjectEvent
from ballast.model.conditions import Condition, ConditionStatus, conditions_from_documents

_TURNS: Final[Mapping[ConditionType, tuple[str, str]]] = {
    ConditionType.READY: ("Ready", "NotReady"),
    ConditionType.AVAILABLE: ("Available", "NotAvailable"),
    ConditionType.CONTROLLER_ELECTED: ("ControllerElected", "NoController"),
}
"""Reason of the Event when a condition becomes True, and when it becomes False."""

_BLOCKED: Final = (ConditionType.SCALE_DOWN_BLOCKED, ConditionType.UPDATE_BLOCKED)
"""Recorded by their type, when they become True or are True for another reason."""


def step_events(outcome: Outcome) -> Iterator[ObjectEvent]:
    """Yield the Events for steps that were done and refused."""
    for step in outcome.done:
        event = _of_step(step)
        if event is not None:
            yield event
    if outcome.refusals:
        yield ObjectEvent(reason="StepRefused", message=outcome.refusals[0], is_warning=True)
    if outcome.plan_problem is not None:
        yield ObjectEvent(reason="PlanInfeasible", message=outcome.plan_problem, is_warning=True)


def condition_events(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[ObjectEvent]:
    """Yield the Events for the change from one status to the next."""
    old = conditions_from_documents(ConditionType, before.get("conditions"))
    new = conditions_from_documents(ConditionType, after.get("conditions"))
    for kind, (good, bad) in _TURNS.items():
        condition = new.get(kind)
        if condition is None or not _has_turned(old.get(kind), condition):
            continue
        if condition.status is ConditionStatus.TRUE:
            yield ObjectEvent(reason=good, message=condition.message)
        elif condition.status is ConditionStatus.FALSE and kind in old:
            message = f"{condition.reason}: {condition.message}"
            yield ObjectEvent(reason=bad, message=message, is_warning=True)
    for kind in _BLOCKED:
        condition = new.get(kind)
        if condition is not None and condition.status is ConditionStatus.TRUE:
            was = old.get(kind)
            if was is None or (was.status, was.reason) != (condition.status, condition.reason):
                yield ObjectEvent(
                    reason=str(kind), message=f"{condition.reason}: {condition.message}"
                )


def _has_turned(old: Condition | None, new: Condition) -> bool:
    return old is None or old.status is not new.status


def _of_step(step: Step) -> ObjectEvent | None:
    match step:
        case steps.CreateReassignment():
            ids = ", ".join(str(broker_id) for broker_id in step.broker_ids)
            return ObjectEvent(
                reason="ReassignmentCreated",
                message=f"{step.name}: {step.purpose.value} of brokers {ids}",
            )
        case steps.WithdrawReassignment():
            return ObjectEvent(reason="ReassignmentWithdrawn", message=step.name)
        case steps.DeletePod():
            return ObjectEvent(
                reason="StuckPodDeleted", message=f"{step.name}: {step.reason}", is_warning=True
            )
        case steps.AlterBrokerConfigs():
            names = ", ".join(sorted(step.changes))
            return ObjectEvent(reason="ConfigChanged", message=f"without a restart: {names}")
        case steps.ResizeVolume():
            return ObjectEvent(reason="VolumeResized", message=f"{step.name} to {step.size}")
        case _:
            return None
