"""``status`` of a PartitionReassignment on Kubernetes, as documents. Pure.

The status of the core reconciler, with the fields that only Kubernetes knows; and the conditions
while a reassignment cannot be reconciled: without a valid spec, a broker set or a plan.
"""

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.reassignments.plan_source import LoadedPlan
from ballast.kube.reassignments.state_store import StoredObject
from ballast.model.conditions import ConditionStatus, Finding
from ballast.reassign.report import UNAVAILABLE
from ballast.reassign.state.conditions import ConditionType, LifecycleState, updated
from ballast.reassign.state.queueing import QueuePlace
from ballast.reassign.state.status import Status

MAX_STATUS_BYTES: Final = 8 * 1024
_MAX_OBJECTS: Final = 16
_TRUE, _FALSE, _UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN

_OF_GENERATED: Final = ("engine", "basedOn", "sparkApplicationName", "summary")
"""The fields of ``status.plan`` for a plan that was generated."""

_KEPT: Final = ("plan", "progress", "batch", "throttle", "rollback", "startTime", "completionTime")

StatusDocument = dict[str, Any]


def status_document(
    status: Status,
    reassignment: ReassignmentObject,
    *,
    epoch: int | None,
    plan: LoadedPlan | None = None,
    state_objects: Sequence[StoredObject] = (),
    place: QueuePlace | None = None,
) -> StatusDocument:
    """Return the status of a step as the resource has it, under 8 KB.

    ``place`` is the place in the queue when the step could not know it. ``plan`` names the objects
    of the plan and the details of a generated one; without them the reported details stay.
    ``state_objects`` are the objects that a rollback needs.
    """
    document: StatusDocument = status.to_document()
    if status.conditions[ConditionType.PROGRESSING].reason == UNAVAILABLE:
        # A reconciler that has not seen the cluster yet knows less than what was last written.
        document |= {
            name: reassignment.status[name] for name in _KEPT if name in reassignment.status
        }
    if epoch is not None:
        document["controllerEpoch"] = epoch
    if place is not None:
        document["queue"] = place.to_document()
    if "planning" in reassignment.status:
        document["planning"] = reassignment.status["planning"]
    if "plan" in document:
        before: Mapping[str, Any] = reassignment.status.get("plan") or {}
        reported = {name: before[name] for name in _OF_GENERATED if name in before}
        document["plan"] = {**document["plan"], **((plan and plan.details) or reported)}
        if plan is not None and plan.objects:
            document["plan"]["objects"] = _objects(plan.objects)
    if state_objects and "rollback" in document:
        document["rollback"]["objects"] = _objects(state_objects)
    return _bounded(document)


def with_findings(
    reassignment: ReassignmentObject,
    findings: Mapping[ConditionType, Finding],
    now_ms: int,
    *,
    status: Mapping[str, Any] | None = None,
) -> StatusDocument:
    """Return the object's status (or ``status``) with some conditions replaced."""
    base = ReassignmentObject(
        document={**reassignment.document, "status": status or reassignment.status}
    )
    document: StatusDocument = copy.deepcopy(dict(base.status))
    # New findings are compared with the written conditions, whose time stays if they agree.
    written = {
        kind: condition for kind, condition in reassignment.conditions.items() if kind in findings
    }
    before = {**base.conditions, **written}
    conditions = updated(before, findings, generation=reassignment.generation, now_ms=now_ms)
    document["conditions"] = [condition.to_document() for condition in conditions.values()]
    document["observedGeneration"] = reassignment.generation
    return document


def refused(reason: str, message: str) -> dict[ConditionType, Finding]:
    """Return the findings for a spec that can never be carried out: the state is Invalid."""
    return {
        ConditionType.ACCEPTED: Finding(status=_FALSE, reason=reason, message=message),
        ConditionType.PROGRESSING: Finding(status=_FALSE, reason=LifecycleState.INVALID.value),
        ConditionType.STALLED: Finding(status=_TRUE, reason=reason, message=message),
        ConditionType.SUCCEEDED: Finding(
            status=_FALSE, reason=LifecycleState.INVALID.value, message=message
        ),
    }


def waiting(
    reassignment: ReassignmentObject, reason: str, message: str, *, accepted: bool | None = None
) -> dict[ConditionType, Finding]:
    """Return the findings while an object is missing.

    A reassignment that has begun keeps its state.

    ``accepted`` is the new verdict on the condition Accepted, None = no change.
    """
    findings = {
        ConditionType.PROGRESSING: Finding(status=_FALSE, reason=reason, message=message),
    }
    has_begun = "startTime" in reassignment.status
    if accepted is False and not has_begun:
        findings[ConditionType.ACCEPTED] = Finding(status=_FALSE, reason=reason, message=message)
    if not has_begun:
        findings[ConditionType.SUCCEEDED] = Finding(
            status=_UNKNOWN, reason=LifecycleState.PENDING.value, message=message
        )
    return findings


def stalled(reason: str, message: str) -> dict[ConditionType, Finding]:
    """Return the findings when a person has to act."""
    return {
        ConditionType.PROGRESSING: Finding(status=_FALSE, reason=reason, message=message),
        ConditionType.STALLED: Finding(status=_TRUE, reason=reason, message=message),
    }


def steady(new: StatusDocument, before: Mapping[str, Any]) -> StatusDocument:
    """Return ``new`` with the update time of ``before`` if nothing else differs."""
    progress, old = new.get("progress"), before.get("progress")
    if not isinstance(progress, dict) or not isinstance(old, Mapping):
        return new
    candidate = {**new, "progress": {**progress, "updateTime": old.get("updateTime")}}
    return candidate if candidate == before else new


def is_fenced(reassignment: ReassignmentObject, epoch: int | None) -> bool:
    """Whether a later incarnation has written the status than the one we know of."""
    written = reassignment.controller_epoch
    return written is not None and epoch is not None and written > epoch


def _objects(objects: Sequence[StoredObject]) -> list[dict[str, str]]:
    return [stored.to_document() for stored in objects[:_MAX_OBJECTS]]


def _bounded(document: StatusDocument) -> StatusDocument:
    """Drop failures until the status is small enough."""
    while len(json.dumps(document)) >= MAX_STATUS_BYTES and document.get("failures"):
        document["failures"] = document["failures"][: len(document["failures"]) // 2]
    return document
