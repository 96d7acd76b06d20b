import json
from dataclasses import replace
from typing import Any

import pytest

from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.reassignments.plan_source import LoadedPlan
from ballast.kube.reassignments.state_store import StoredObject
from ballast.kube.reassignments.status import (
    MAX_STATUS_BYTES,
    is_fenced,
    refused,
    stalled,
    status_document,
    steady,
    waiting,
    with_findings,
)
from ballast.model.conditions import ConditionStatus, Finding
from ballast.reassign.decision.decision_input import HAS_TURN
from ballast.reassign.decision.steps import SubmitBatch
from ballast.reassign.report import StepResult, report, unavailable
from ballast.reassign.spec.spec import Assignments
from ballast.reassign.state.conditions import ConditionType
from ballast.reassign.state.status import Failure, Status
from tests.unit.reassign.builders import decision_input, persisted_state

NOW_MS = 1_700_000_200_000
OBJECTS = tuple(StoredObject(name=f"p-{n}", digest="sha256:" + "0" * 64) for n in range(40))
PLAN = LoadedPlan(assignments=Assignments(targets={}), objects=OBJECTS)


def reassignment(status: Any = None, generation: int = 3) -> ReassignmentObject:
    metadata = {"name": "move", "namespace": "ns", "uid": "u", "generation": generation}
    return ReassignmentObject(document={"metadata": metadata, "status": status})


def reported() -> Status:
    return report(
        StepResult(
            inputs=decision_input(state=persisted_state()),
            step=SubmitBatch(targets={}),
            throttling=None,
            bytes_per_second=1.0,
            conditions={},
        )
    )


def reasons(document: dict[str, Any]) -> dict[str, str]:
    return {c["type"]: f"{c['status']} {c['reason']}" for c in document["conditions"]}


def test_kubernetes_adds_objects_epoch_and_place() -> None:
    document = status_document(
        reported(),
        reassignment(),
        epoch=4,
        plan=PLAN,
        state_objects=OBJECTS[:1],
        place=HAS_TURN,
    )
    assert document["controllerEpoch"] == 4
    assert document["queue"] == {"position": 0, "blockedBy": []}
    assert len(document["plan"]["objects"]) == 16
    assert document["rollback"]["objects"] == [{"name": "p-0", "digest": "sha256:" + "0" * 64}]


def test_a_status_stays_under_8_kb() -> None:
    failure = Failure(topic="t" * 249, partition=0, reason="R" * 100, message="m" * 120)
    long = replace(
        reported(),
        failures=(failure,) * 20,
        conditions={
            kind: replace(condition, message="m" * 320)
            for kind, condition in reported().conditions.items()
        },
    )
    document = status_document(long, reassignment(), epoch=1, plan=PLAN, state_objects=OBJECTS)
    assert len(json.dumps(document)) < MAX_STATUS_BYTES


def test_an_outage_does_not_forget_what_was_known() -> None:
    known = {"plan": {"digest": "d"}, "startTime": "then", "conditions": []}
    blind = Status(
        observed_generation=3,
        update_time_ms=NOW_MS,
        conditions=unavailable({}, 3, NOW_MS, "no broker answers"),
    )
    document = status_document(blind, reassignment(known), epoch=None)
    assert document["plan"] == {"digest": "d"}
    assert document["startTime"] == "then"
    assert "controllerEpoch" not in document
    assert reasons(document)["Progressing"] == "False ControllerUnavailable"


def test_findings_are_put_into_the_status_as_it_stands() -> None:
    before = status_document(reported(), reassignment(), epoch=1)
    document = with_findings(reassignment(before), stalled("PlanChanged", "why"), NOW_MS)
    assert document["plan"] == before["plan"]
    assert document["observedGeneration"] == 3
    assert reasons(document)["Stalled"] == "True PlanChanged"
    assert reasons(document)["Succeeded"] == "Unknown Executing"
    again = with_findings(reassignment(document), stalled("PlanChanged", "why"), NOW_MS + 60_000)
    assert again == document, "what is said again changes nothing"


def test_a_condition_keeps_its_time_when_the_status_below_it_is_new() -> None:
    first = with_findings(reassignment(), stalled("DeletionBlocked", "why"), NOW_MS)
    fresh = status_document(reported(), reassignment(), epoch=1)
    second = with_findings(
        reassignment(first), stalled("DeletionBlocked", "why"), NOW_MS + 60_000, status=fresh
    )
    times = [
        condition["lastTransitionTime"]
        for document in (first, second)
        for condition in document["conditions"]
        if condition["type"] == "Stalled"
    ]
    assert times[0] == times[1]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            refused("PlanUnreadable", "no"),
            {"Accepted": "False PlanUnreadable", "Succeeded": "False Invalid"},
        ),
        (
            waiting(reassignment(), "BrokerSetNotFound", "no", accepted=False),
            {"Accepted": "False BrokerSetNotFound", "Succeeded": "Unknown Pending"},
        ),
        (
            waiting(reassignment({"startTime": "x"}), "BrokerSetNotFound", "no", accepted=False),
            {"Accepted": "Unknown NotReconciled", "Progressing": "False BrokerSetNotFound"},
        ),
    ],
)
def test_what_is_said_when_there_is_nothing_to_visit(
    found: dict[ConditionType, Finding], said: dict[str, str]
) -> None:
    document = with_findings(reassignment(), found, NOW_MS)
    assert said.items() <= reasons(document).items()
    assert len(document["conditions"]) == len(ConditionType)
    assert all(finding.status in ConditionStatus for finding in found.values())


def test_a_clock_is_no_news() -> None:
    old = {"progress": {"summary": "1/2", "updateTime": "then"}, "conditions": []}
    now = {"progress": {"summary": "1/2", "updateTime": "now"}, "conditions": []}
    more = {"progress": {"summary": "2/2", "updateTime": "now"}, "conditions": []}
    assert steady(now, old) == old
    assert steady(more, old) == more
    assert steady(now, {}) == now
    assert steady({"conditions": []}, old) == {"conditions": []}


@pytest.mark.parametrize(
    ("written", "known", "fenced"),
    [(None, 3, False), (3, None, False), (3, 3, False), (2, 3, False), (4, 3, True)],
)
def test_a_later_epoch_fences(written: int | None, known: int | None, fenced: bool) -> None:
    status = {} if written is None else {"controllerEpoch": written}
    assert is_fenced(reassignment(status), known) is fenced


def test_what_was_told_of_a_generated_plan_stays() -> None:
    told = {"engine": "Spark", "summary": {"copysets": {"before": 1, "after": 2}}}
    before = {"plan": {"digest": "old", **told}, "planning": {"attempt": 2}}
    document = status_document(reported(), reassignment(before), epoch=1)
    assert document["planning"] == {"attempt": 2}
    assert document["plan"]["digest"] != "old"
    assert {name: document["plan"][name] for name in told} == told
    anew = replace(PLAN, details={"engine": "InProcess"})
    document = status_document(reported(), reassignment(before), epoch=1, plan=anew)
    assert document["plan"]["engine"] == "InProcess"
    assert "summary" not in document["plan"]
