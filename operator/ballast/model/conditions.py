"""Conditions of a custom resource, as Kubernetes' ``metav1.Condition``.

A kind of resource names its condition types in one enumeration; all of them are present from the
first status on, in the order of the enumeration.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar

_MAX_MESSAGE = 320
_Type = TypeVar("_Type", bound=StrEnum)


class ConditionStatus(StrEnum):
    """Whether the condition holds."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


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

    type: str
    """A member of the kind's enumeration."""
    status: ConditionStatus
    reason: str
    message: str
    observed_generation: int
    last_transition_time: str
    """RFC 3339, UTC: when ``status`` last changed."""

    def to_document(self) -> dict[str, object]:
        """Return the condition as JSON."""
        return {
            "type": str(self.type),
            "status": self.status.value,
            "reason": self.reason,
            "message": self.message,
            "observedGeneration": self.observed_generation,
            "lastTransitionTime": self.last_transition_time,
        }


def updated(
    types: type[_Type],
    before: Mapping[_Type, Condition],
    findings: Mapping[_Type, Finding],
    *,
    generation: int,
    now_ms: int,
) -> dict[_Type, Condition]:
    """Return all conditions after ``findings``; what is not found out stays as it was.

    ``lastTransitionTime`` moves only when the status does.
    """
    conditions: dict[_Type, Condition] = {}
    for kind in types:
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


def conditions_from_documents(types: type[_Type], documents: object) -> dict[_Type, Condition]:
    """Return the conditions that `Condition.to_document` wrote; what cannot be read is left out."""
    conditions: dict[_Type, Condition] = {}
    for document in documents if isinstance(documents, list) else ():
        read = _from_document(types, document)
        if read is not None:
            conditions[read[0]] = read[1]
    return conditions


def _from_document(types: type[_Type], document: object) -> tuple[_Type, Condition] | None:
    if not isinstance(document, Mapping):
        return None
    try:
        kind = types(document["type"])
        return kind, Condition(
            type=kind,
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
