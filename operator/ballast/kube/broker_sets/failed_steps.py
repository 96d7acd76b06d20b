"""Reports in a broker set's status the steps of the last reconciliation that were refused."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ballast.brokersets.status.conditions import ConditionType
from ballast.model.conditions import (
    ConditionStatus,
    Finding,
    conditions_from_documents,
    updated,
)

REASON: Final = "StepRefused"
_SHOWN: Final = 3

Status = Mapping[str, Any]


def with_refusals(
    status: Status, refusals: Sequence[str], *, before: Status, generation: int, now_ms: int
) -> Status:
    """Return the status with Progressing=False and the first refusals, if there are any.

    ``before`` is the status that the object has: it says since when steps are refused.
    """
    if not refusals:
        return status
    more = f" (and {len(refusals) - _SHOWN} more)" if len(refusals) > _SHOWN else ""
    finding = Finding(
        status=ConditionStatus.FALSE,
        reason=REASON,
        message="; ".join(refusals[:_SHOWN]) + more,
    )
    conditions = updated(
        ConditionType,
        {
            **conditions_from_documents(ConditionType, status.get("conditions")),
            **_progressing(before),
        },
        {ConditionType.PROGRESSING: finding},
        generation=generation,
        now_ms=now_ms,
    )
    return {**status, "conditions": [condition.to_document() for condition in conditions.values()]}


def _progressing(status: Status) -> Mapping[ConditionType, Any]:
    conditions = conditions_from_documents(ConditionType, status.get("conditions"))
    return {kind: conditions[kind] for kind in (ConditionType.PROGRESSING,) if kind in conditions}
