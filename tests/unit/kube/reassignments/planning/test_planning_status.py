"""``status.planning``: what was written is read, and nothing else is believed."""

from typing import Any

import pytest

from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.reassignments.planning.plan_attempt import AttemptInProgress
from ballast.kube.reassignments.planning.planning_status import (
    failed,
    given_up,
    nothing_to_do,
    pending_status,
    planning_of,
    put_off,
    under_way,
)
from ballast.model.conditions import Finding
from ballast.reassign.generate.generate_manifest import Engine
from ballast.reassign.generate.generation import Basis, Planning
from ballast.reassign.state.conditions import ConditionType, LifecycleState

BASIS = Basis(
    snapshot_digest="sha256:s", partitions=4, cluster_id="c", controller_epoch=7, time_ms=5_000
)
PLANNING = Planning(
    attempt=2,
    begin_ms=1_000,
    engine=Engine.SPARK,
    job="grow-2",
    job_begin_ms=2_000,
    failures=1,
    reason="ImagePull",
    message="no",
    failed_ms=3_000,
    circumstances="1 image",
    basis=BASIS,
)


def reassignment(**status: Any) -> ReassignmentObject:
    return ReassignmentObject(document={"metadata": {"name": "grow"}, "status": status})


def said(found: dict[ConditionType, Finding]) -> dict[str, str]:
    return {kind.value: f"{f.status} {f.reason}" for kind, f in found.items()}


def test_what_is_written_is_read() -> None:
    assert planning_of(reassignment(planning=PLANNING.to_document())) == PLANNING
    assert planning_of(reassignment()) == Planning()


@pytest.mark.parametrize(
    "document",
    [
        "x",
        {"attempt": "1", "engine": "Flink", "startTime": "today", "basedOn": {"partitions": 3}},
        {"attempt": -1, "failures": True, "reason": 7, "basedOn": [], "failureTime": 5},
    ],
)
def test_what_others_write_is_not_believed(document: object) -> None:
    assert planning_of(reassignment(planning=document)) == Planning()


def test_a_plan_that_was_is_not_told_of_any_more() -> None:
    pending = AttemptInProgress(findings={}, planning=PLANNING, delay_s=0.0)
    status = pending_status(
        reassignment(plan={"digest": "d"}, conditions=[1], controllerEpoch=3), pending, 4
    )
    assert status == {
        "planning": PLANNING.to_document(),
        "conditions": [1],
        "controllerEpoch": 4,
    }
    assert pending_status(reassignment(controllerEpoch=3), pending, None)["controllerEpoch"] == 3
    empty = AttemptInProgress(findings={}, planning=PLANNING, delay_s=0.0, plan={"digest": "d"})
    assert pending_status(reassignment(), empty, None)["plan"] == {"digest": "d"}


def test_findings() -> None:
    assert said(under_way("x"))["Planned"] == "Unknown Generating"
    assert said(under_way("x"))["Approved"] == "Unknown NotReconciled"
    assert said(put_off("ReassignmentsPending", "x"))["Progressing"] == "False ReassignmentsPending"
    assert said(failed(PLANNING, "then", needs_help=False))["Stalled"] == "False Progressing"
    assert said(failed(PLANNING, "then", needs_help=True))["Stalled"] == "True ImagePull"
    assert failed(PLANNING, "then", needs_help=True)[ConditionType.PLANNED].message == "no; then"
    assert said(nothing_to_do("d"))["Succeeded"] == "True Completed"
    assert said(given_up(LifecycleState.CANCELLED))["Succeeded"] == "False Cancelled"
