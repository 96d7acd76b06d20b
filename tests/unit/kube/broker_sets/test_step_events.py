from typing import Any

import pytest

from ballast.brokersets.observation.observation import Purpose
from ballast.brokersets.steps import steps
from ballast.brokersets.steps.steps import Step
from ballast.kube.broker_sets.apply_steps import Outcome
from ballast.kube.broker_sets.step_events import condition_events, step_events


def status(**conditions: tuple[str, str]) -> dict[str, Any]:
    return {
        "conditions": [
            {
                "type": name,
                "status": value,
                "reason": reason,
                "message": "m",
                "observedGeneration": 1,
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
            for name, (value, reason) in conditions.items()
        ]
    }


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {"Ready": ("False", "BrokersNotReady")}, []),
        ({}, {"Ready": ("True", "Ready")}, [("Ready", False)]),
        (
            {"Ready": ("True", "Ready")},
            {"Ready": ("False", "BrokersNotReady")},
            [("NotReady", True)],
        ),
        ({"Ready": ("False", "A")}, {"Ready": ("False", "B")}, []),
        (
            {"Available": ("Unknown", "ClusterUnknown")},
            {"Available": ("True", "AllPartitionsLed")},
            [("Available", False)],
        ),
        (
            {"ScaleDownBlocked": ("True", "Draining")},
            {"ScaleDownBlocked": ("True", "DrainFailed")},
            [("ScaleDownBlocked", False)],
        ),
        (
            {"UpdateBlocked": ("True", "AtMinISR")},
            {"UpdateBlocked": ("True", "AtMinISR")},
            [],
        ),
    ],
    ids=["new", "up", "down", "same status", "available", "other reason", "same reason"],
)
def test_turns_of_conditions_are_told(
    before: dict[str, tuple[str, str]],
    after: dict[str, tuple[str, str]],
    expected: list[tuple[str, bool]],
) -> None:
    recorded = condition_events(status(**before), status(**after))
    assert [(event.reason, event.is_warning) for event in recorded] == expected


@pytest.mark.parametrize(
    ("step", "reason", "message"),
    [
        (
            steps.CreateReassignment(
                name="d", purpose=Purpose.DRAIN, broker_ids=(3, 4), excluded=frozenset()
            ),
            "ReassignmentCreated",
            "d: drain of brokers 3, 4",
        ),
        (steps.WithdrawReassignment(name="d"), "ReassignmentWithdrawn", "d"),
        (
            steps.DeletePod(name="p", uid="u", reason="ImagePullBackOff"),
            "StuckPodDeleted",
            "p: ImagePullBackOff",
        ),
        (
            steps.AlterBrokerConfigs(changes={"b": None, "a": "1"}),
            "ConfigChanged",
            "without a restart: a, b",
        ),
        (steps.ResizeVolume(name="v", size="2Gi"), "VolumeResized", "v to 2Gi"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_steps_that_people_should_know_of(step: Step, reason: str, message: str) -> None:
    (event,) = step_events(Outcome(done=[step]))
    assert (event.reason, event.message) == (reason, message)


def test_steps_that_are_routine_are_not_told() -> None:
    gate = steps.PatchGate(pod="p", uid="u", value=True, reason="InSync", message="")
    apply = steps.Apply(document={"kind": "Service", "metadata": {"name": "s"}})
    assert list(step_events(Outcome(done=[gate, apply]))) == []


def test_what_was_refused_is_told() -> None:
    condition_events = list(step_events(Outcome(refusals=["a", "b"], plan_problem="c")))
    assert [(event.reason, event.message) for event in condition_events] == [
        ("StepRefused", "a"),
        ("PlanInfeasible", "c"),
    ]
    assert all(event.is_warning for event in condition_events)
