import pytest

from ballast.kube.runtime.condition_events import ObjectEvent, condition_events
from ballast.model.conditions import Condition, ConditionStatus
from ballast.reassign.state.conditions import ConditionType

TRUE, FALSE, UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN
Conditions = dict[ConditionType, Condition]


def conditions(
    state: str = "Executing",
    *,
    accepted: ConditionStatus = TRUE,
    progressing: str = "Moving",
    stalled: ConditionStatus = FALSE,
    planned: tuple[ConditionStatus, str, str] = (TRUE, "PlanStored", "sha256:1"),
    message: str = "",
) -> Conditions:
    found = {
        ConditionType.ACCEPTED: (accepted, "Valid", ""),
        ConditionType.PLANNED: planned,
        ConditionType.PROGRESSING: (TRUE, progressing, "why"),
        ConditionType.STALLED: (stalled, "DeletionBlocked", "what to do"),
        ConditionType.SUCCEEDED: (UNKNOWN, state, message),
    }
    return {
        kind: Condition(
            type=kind,
            status=status,
            reason=reason,
            message=text,
            observed_generation=1,
            last_transition_time="2026-01-01T00:00:00Z",
        )
        for kind, (status, reason, text) in found.items()
    }


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, conditions("Planning"), [ObjectEvent(reason="Accepted", message="sha256:1")]),
        (
            conditions("Queued"),
            conditions("Executing"),
            [ObjectEvent(reason="Started", message="sha256:1")],
        ),
        (
            conditions("Paused"),
            conditions("Executing"),
            [ObjectEvent(reason="Resumed", message="")],
        ),
        (conditions("Verifying"), conditions("Executing"), []),
        (conditions("Executing"), conditions("Verifying"), []),
        (conditions("Executing"), conditions("Executing"), []),
        (conditions("Planning"), conditions("Queued"), []),
        (
            conditions("Planning"),
            conditions("Queued", message="behind a"),
            [ObjectEvent(reason="Queued", message="behind a")],
        ),
        (
            conditions("Verifying"),
            conditions("Completed", message="4 partitions"),
            [ObjectEvent(reason="Completed", message="4 partitions")],
        ),
        (
            conditions("Verifying"),
            conditions("Failed", message="1 failed"),
            [ObjectEvent(reason="Failed", message="1 failed", is_warning=True)],
        ),
        (
            conditions(),
            conditions(progressing="UnderMinISR"),
            [ObjectEvent(reason="UnderMinISR", message="why", is_warning=True)],
        ),
        (conditions(progressing="UnderMinISR"), conditions(progressing="UnderMinISR"), []),
        (
            conditions(),
            conditions(stalled=TRUE),
            [ObjectEvent(reason="Stalled", message="what to do", is_warning=True)],
        ),
        (conditions(stalled=TRUE), conditions(stalled=TRUE), []),
        (
            conditions("Pending", accepted=UNKNOWN),
            conditions("Invalid", accepted=FALSE, stalled=TRUE, message="spec.plan: no"),
            [ObjectEvent(reason="Rejected", message="spec.plan: no", is_warning=True)],
        ),
        (conditions(), {}, []),
        (
            conditions("Planning", planned=(UNKNOWN, "Generating", "")),
            conditions("Planning", planned=(FALSE, "ImagePull", "no such image")),
            [ObjectEvent(reason="ImagePull", message="no such image", is_warning=True)],
        ),
        (
            conditions("Planning", planned=(FALSE, "ImagePull", "again at 1")),
            conditions("Planning", planned=(FALSE, "ImagePull", "again at 2")),
            [],
        ),
    ],
)
def test_each_turn_is_told_once(
    before: Conditions, after: Conditions, expected: list[ObjectEvent]
) -> None:
    assert list(condition_events(before, after)) == expected
