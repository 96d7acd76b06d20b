"""docs/runbook.md has a line for every reason that the operator gives, and no other."""

import ast
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest

from ballast.brokersets.status.conditions import ConditionType as BrokerSetCondition
from ballast.brokersets.steps.rolling_update import STUCK_REASONS
from ballast.kube.runtime.planner_process import PLANNER_FAILED
from ballast.reassign.decision.admission import BELOW_MIN_ISR, UNKNOWN_BROKER, UNKNOWN_TOPIC
from ballast.reassign.generate.spark_application import (
    DRIVER_FAILED,
    IMAGE_PULL,
    OUT_OF_MEMORY,
    SUBMISSION_FAILED,
)
from ballast.reassign.state.conditions import FINAL_STATUS, LifecycleState
from ballast.reassign.state.conditions import ConditionType as ReassignmentCondition
from tests.unit.crds.schemas import ROOT

RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
PACKAGE = ROOT / "operator" / "ballast"
ROW = re.compile(r"\| (True|False|Unknown) \| ([A-Z][A-Za-z]+) \| (.+) \| (.+) \|")
WORD = re.compile(r"[A-Z][a-z]+([A-Z][A-Za-z]*)?")

SOURCES = {
    "PartitionReassignment": [
        *("model/conditions.py", "reassign/decision/admission.py", "reassign/state/conditions.py"),
        *(
            "reassign/decision/decide.py",
            "reassign/decision/executing.py",
            "reassign/decision/closing.py",
        ),
        *(
            "reassign/decision/waiting.py",
            "reassign/report.py",
            "kube/reassignments/deletion.py",
            "kube/reassignments/large_plans.py",
        ),
        *(
            "kube/reassignments/status.py",
            "kube/reassignments/reconciler.py",
            "kube/reassignments/planning/planning_status.py",
        ),
        *(
            "kube/reassignments/planning/plan_engines.py",
            "kube/reassignments/planning/plan_generator.py",
            "reassign/generate/generation.py",
        ),
    ],
    "BrokerSet": [
        *(
            "model/conditions.py",
            "brokersets/observation/availability.py",
            "brokersets/status/conditions.py",
        ),
        *(
            "brokersets/decide.py",
            "brokersets/steps/rolling_update.py",
            "brokersets/steps/scale_in.py",
        ),
        *(
            "brokersets/steps/ensemble.py",
            "brokersets/observation/volumes.py",
            "kube/broker_sets/failed_steps.py",
        ),
    ],
}
"""Where the reasons of a kind's conditions are written."""

NOT_REASONS = {
    *("True", "False", "Unknown"),
    *ReassignmentCondition,
    *BrokerSetCondition,
    "Completed",  # a state of a reassignment that a broker set looks at
    "LeftBehind",  # an Event
    *("ControllerResizeError", "NodeResizeError"),  # conditions of a volume claim
    "Paused",  # as Completed
    "PartitionNotVisible",  # of one partition, in status.failures
}
JOBS = {DRIVER_FAILED, IMAGE_PULL, OUT_OF_MEMORY, SUBMISSION_FAILED, PLANNER_FAILED}
"""Why no plan was made: `job_state` and `plan_apart`, whose modules have other words too."""
ZOOKEEPER = {"Connected", "Connecting", "SessionLost"}
"""Reasons that are the members of an enumeration elsewhere: `ZooKeeperState`."""


def section(level: int, title: str) -> str:
    """Return the text below a heading, up to the next of its level."""
    (text,) = re.findall(
        rf"^{'#' * level} {re.escape(title)}$(.*?)(?=^{'#' * level} |\Z)",
        RUNBOOK,
        re.MULTILINE | re.DOTALL,
    )
    return str(text)


def rows(kind: str, condition: str) -> list[tuple[str, str]]:
    """Return the status and reason of each row of a condition."""
    text = re.split(r"^## ", section(2, kind), maxsplit=1, flags=re.MULTILINE)[0]
    (table,) = re.findall(rf"^### {condition}$(.*?)(?=^### |\Z)", text, re.MULTILINE | re.DOTALL)
    return [(status, reason) for status, reason, _, _ in ROW.findall(table)]


def conditions(kind: str) -> list[str]:
    return re.findall(r"^### (.+)$", section(2, kind), re.MULTILINE)


def words_in(path: Path) -> Iterator[str]:
    """Yield the string constants of a module that look like a reason."""
    for node in ast.walk(ast.parse(path.read_text())):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str) and WORD.fullmatch(value):
            yield value


def reasons(kind: str) -> set[str]:
    found = {word for name in SOURCES[kind] for word in words_in(PACKAGE / name)}
    return found - NOT_REASONS


@pytest.mark.parametrize(
    ("kind", "types"),
    [("PartitionReassignment", ReassignmentCondition), ("BrokerSet", BrokerSetCondition)],
    ids=["PartitionReassignment", "BrokerSet"],
)
def test_every_condition_has_its_section(kind: str, types: type[StrEnum]) -> None:
    assert conditions(kind) == [str(member) for member in types]


@pytest.mark.parametrize("kind", SOURCES)
def test_every_reason_has_its_line(kind: str) -> None:
    explained = {reason for name in conditions(kind) for _, reason in rows(kind, name)}
    assert reasons(kind) - explained == set()


@pytest.mark.parametrize("kind", SOURCES)
def test_no_line_is_about_what_nobody_says(kind: str) -> None:
    explained = {reason for name in conditions(kind) for _, reason in rows(kind, name)}
    said = reasons(kind) | set(conditions(kind)) | JOBS | ZOOKEEPER | {"Completed", "Paused"}
    assert explained - said == set()


@pytest.mark.parametrize("kind", SOURCES)
def test_no_line_is_there_twice(kind: str) -> None:
    for name in conditions(kind):
        lines = rows(kind, name)
        assert len(lines) == len(set(lines)) > 1
        assert ("Unknown", "NotReconciled") in lines


def test_every_state_is_explained() -> None:
    _, *lines = rows("PartitionReassignment", "Succeeded")
    assert lines == [
        (FINAL_STATUS[state].value if state in FINAL_STATUS else "Unknown", state.value)
        for state in LifecycleState
    ]


def test_every_failure_of_a_job_is_explained() -> None:
    assert {("False", reason) for reason in JOBS} <= set(rows("PartitionReassignment", "Planned"))


def test_every_refusal_is_explained() -> None:
    refusals = {reason for _, reason in rows("PartitionReassignment", "Accepted")}
    assert {BELOW_MIN_ISR, UNKNOWN_BROKER, UNKNOWN_TOPIC} <= refusals


def test_every_reason_that_keeps_a_pod_down_is_explained() -> None:
    assert {reason for _, reason in rows("BrokerSet", "UpdateBlocked")} >= STUCK_REASONS


def test_the_readiness_gate_is_explained() -> None:
    said = set(words_in(PACKAGE / "brokersets" / "observation" / "readiness.py"))
    explained = {found[1] for found in ROW.findall(section(2, "Pods of a BrokerSet"))}
    assert said - NOT_REASONS - explained == set()


def test_every_expectation_of_a_refusal_is_explained() -> None:
    for path in sorted((ROOT / "tests" / "e2e" / "invalid" / "operator").glob("*.yaml")):
        condition, reason = path.read_text().split("\n")[0].removeprefix("# expect: ").split()
        kind = "BrokerSet" if path.name.startswith("brokerset-") else "PartitionReassignment"
        name, _, status = condition.partition("=")
        assert (status, reason) in rows(kind, name), path.name
