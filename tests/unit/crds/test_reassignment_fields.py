"""The PartitionReassignment's schema and the code that reads and writes the object agree."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from ballast.kube.reassignments.planning.plan_explanations import read_explanation
from ballast.kube.reassignments.state_store import StoredObject
from ballast.model.conditions import ConditionStatus, Finding
from ballast.reassign.generate.generate_manifest import Engine
from ballast.reassign.generate.generation import AUTO_SPARK_PARTITIONS, Basis, Planning
from ballast.reassign.plan.progress import Progress
from ballast.reassign.spec.manifest import parse_manifest
from ballast.reassign.spec.spec import Execution
from ballast.reassign.state.conditions import (
    ConditionType,
    LifecycleState,
    updated,
)
from ballast.reassign.state.queueing import YIELDING, QueuePlace
from ballast.reassign.state.status import Failure, PlanStatus, Status, ThrottleStatus
from tests.unit.crds.schemas import (
    REASSIGNMENTS,
    complaints,
    paths_in,
    schema_of,
    walk,
    with_defaults,
)

DIGEST = "sha256:" + "5f" * 32
PLANS: dict[str, dict[str, Any]] = {
    "assignments": {
        "assignments": [
            {"topic": "orders", "partition": 0, "replicas": [1, 2], "logDirs": ["any", "any"]}
        ]
    },
    "configMapRef": {"configMapRef": {"name": "plan-42", "key": "reassignment.json"}},
    "generate": {
        "generate": {
            "strategy": "SetReplicationFactor",
            "brokerIds": [1, 2],
            "replicationFactor": 3,
            "topics": {"include": ["^team-a"], "exclude": ["^__"]},
            "maxReplicaMoves": 100,
            "maxBytesToMove": "1Ti",
            "startIndex": 2,
            "objective": "BytesInPerSecond",
            "load": {
                "windowSeconds": 600,
                "percentile": 95,
                "byHourOfDay": True,
                "growthSeconds": 604800,
            },
            "engine": "Spark",
            "seed": 7,
            "spark": {
                "executors": 4,
                "driverMemory": "4Gi",
                "executorMemory": "8Gi",
                "deadlineSeconds": 600,
                "maxAttempts": 2,
            },
        }
    },
}
WHOLE_SPEC: dict[str, Any] = {
    "brokerSetRef": {"name": "prod"},
    "plan": {},
    "approval": {
        "policy": "Manual",
        "planDigest": DIGEST,
        "limits": {"maxBytesToMove": "2Ti", "maxReplicaMoves": 20000},
    },
    "desiredState": "Paused",
    "execution": {
        "maxConcurrentMovesPerBroker": 1,
        "maxConcurrentMoves": 2,
        "maxConcurrentLeaderChanges": 3,
        "batchSize": 4,
        "order": ["SmallestFirst"],
        "throttle": {"rate": "50Mi"},
        "whenUnderMinISR": "SlowDown",
        "progressDeadlineSeconds": 60,
        "onStalled": "RollBack",
    },
    "verification": {"electPreferredLeaders": False},
    "deletionPolicy": "Orphan",
    "ttlSecondsAfterFinished": 3600,
}
SCHEMA = schema_of(REASSIGNMENTS)
STATUS_SCHEMA = schema_of(REASSIGNMENTS, "status")


def manifest(spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "ballast.dev/v1alpha1",
        "kind": "PartitionReassignment",
        "metadata": {"name": "move"},
        "spec": copy.deepcopy(spec),
    }


def whole_status() -> Status:
    """Return a status in which nothing is absent and every text is as long as it gets."""
    finding = Finding(status=ConditionStatus.FALSE, reason="UnknownTopic", message="m" * 5000)
    succeeded = Finding(
        status=ConditionStatus.UNKNOWN, reason=LifecycleState.EXECUTING, message="m" * 5000
    )
    findings = dict.fromkeys(ConditionType, finding) | {ConditionType.SUCCEEDED: succeeded}
    failure = Failure(
        topic="t" * 249, partition=7, reason="TargetBrokerOffline", message="m" * 5000
    )
    return Status(
        observed_generation=4,
        update_time_ms=1_700_000_000_000,
        conditions=updated({}, findings, generation=4, now_ms=1_700_000_000_000),
        plan=PlanStatus(
            digest=DIGEST,
            rollback_digest=DIGEST,
            partitions=1_000_000,
            replica_moves=3_000_000,
            leader_changes=1_000_000,
            log_dir_moves=1,
            bytes_to_move=2**60,
        ),
        progress=Progress(
            pending=1_000_000,
            in_progress=500,
            completed=1200,
            failed=1,
            skipped=2,
            bytes_moved=2**60,
            bytes_remaining=2**62,
        ),
        bytes_per_second=1e9,
        batch=(3, 97),
        throttle=ThrottleStatus(
            applied_bytes_per_second=2**63 - 1, broker_ids=tuple(range(2000)), restored=False
        ),
        failures=(failure,) * 20,
        failures_total=100_000,
        start_time_ms=1_700_000_000_000,
        completion_time_ms=1_700_000_100_000,
        place=QueuePlace(position=1000, blocked_by=tuple(f"{i:0253d}" for i in range(1000))),
    )


@pytest.mark.parametrize("plan", PLANS)
def test_every_field_of_the_schema_is_read(plan: str) -> None:
    document = manifest({**WHOLE_SPEC, "plan": PLANS[plan]})
    assert list(complaints(document, SCHEMA)) == []
    assert parse_manifest(document).broker_set == "prod"


def test_the_examples_above_set_every_field() -> None:
    documents = [{**WHOLE_SPEC, "plan": plan} for plan in PLANS.values()]
    spec = schema_of(REASSIGNMENTS, "spec")
    given = {path for document in documents for path in paths_in(document, spec)}
    assert given == {path for path, _ in walk(spec)}


def test_defaults_are_those_of_the_code() -> None:
    """An object from the API server, and the same manifest on the command line, mean the same."""
    written = manifest(
        {
            "brokerSetRef": {"name": "prod"},
            "plan": {"assignments": [{"topic": "orders", "partition": 0, "replicas": [1]}]},
        }
    )
    stored = with_defaults(written, SCHEMA)
    assert stored["spec"]["execution"]["batchSize"] == Execution().batch_size
    assert "policy" not in stored["spec"].get("approval", {})
    assert parse_manifest(stored) == parse_manifest(written)


def test_every_setting_of_the_execution_has_its_default_in_the_schema() -> None:
    execution = schema_of(REASSIGNMENTS, "spec", "execution")
    without = {name for name, field in execution["properties"].items() if "default" not in field}
    assert without == {"throttle"}


def choices() -> Iterator[Any]:
    """Yield each field that takes one of several words, and each of the words."""
    for path, schema in walk(schema_of(REASSIGNMENTS, "spec")):
        for choice in schema.get("enum", ()):
            yield pytest.param(path.replace("[]", ".0").strip(".").split("."), choice, id=choice)


@pytest.mark.parametrize(("path", "choice"), list(choices()))
def test_every_choice_is_understood(path: list[str], choice: str) -> None:
    plan = path[1] if path[0] == "plan" else "assignments"
    document = manifest({**WHOLE_SPEC, "plan": PLANS[plan]})
    place: Any = document["spec"]
    for name in path[:-1]:
        place = place[int(name) if name.isdigit() else name]
    place[int(path[-1]) if path[-1].isdigit() else path[-1]] = choice
    assert parse_manifest(document).name == "move"


def test_everything_that_is_reported_is_in_the_schema() -> None:
    """What is not in the schema, the API server would drop without a word."""
    document = json.loads(json.dumps(whole_status().to_document()))
    assert list(complaints(document, STATUS_SCHEMA, "status")) == []


def test_a_first_status_is_in_the_schema() -> None:
    status = Status(
        observed_generation=1,
        update_time_ms=0,
        conditions=updated({}, {}, generation=1, now_ms=0),
    )
    assert list(complaints(status.to_document(), STATUS_SCHEMA)) == []


def generated() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what ``status.plan`` has of a generated plan, and ``status.planning``."""
    basis = Basis(
        snapshot_digest=DIGEST, partitions=8, cluster_id="c", controller_epoch=3, time_ms=1000
    )
    planning = Planning(
        layout="sha256:0",
        attempt=2,
        begin_ms=1000,
        engine=Engine.SPARK,
        job="grow-1",
        job_begin_ms=2000,
        failures=1,
        reason="ImagePull",
        message="no",
        failed_ms=3000,
        circumstances="1 image",
        basis=basis,
    )
    counts = {"before": 2, "after": 1}
    level = {"before": {"least": 0, "most": 2}, "after": {"least": 1, "most": 1}}
    busiest = {"brokerId": 1, "bytes": 5}
    summary = {
        "partitions": 1,
        "replicaMoves": 1,
        "replicaMovesLeast": 1,
        "bytesToMove": 5,
        "bytesToMoveLeast": 5,
        "leaderChanges": 1,
        "rackViolations": counts,
        "copysets": counts,
        "spread": dict.fromkeys(("replicas", "leaders", "bytes", "bytesInPerSecond"), level),
        "busiestBroker": {"in": busiest, "out": busiest, "within": busiest},
        **dict.fromkeys(("logDirMoves", "logDirBytes", "logDirBytesLeast"), 1),
        "fullestLogDirPercent": counts,
        "mostMovesPerBroker": 1,
    }
    details = {
        "engine": "Spark",
        "sparkApplicationName": "grow-1",
        "basedOn": basis.to_document(),
        "summary": {
            **read_explanation(json.dumps(summary)),
            "expectedSeconds": 7,
            "expectedBatches": 1,
        },
    }
    return details, planning.to_document()


def test_everything_in_the_schema_is_reported() -> None:
    """The operator adds ConfigMaps, the controller's epoch, and what a generated plan is like."""
    document: dict[str, Any] = whole_status().to_document()
    stored = StoredObject(name="move-state", digest=DIGEST).to_document()
    document["controllerEpoch"] = 17
    document["queue"] = {**document["queue"], **YIELDING.to_document()}
    document["queue"]["blockedBy"] = ["another"]
    for part in ("plan", "rollback"):
        document[part] = {**document[part], "objects": [stored]}
    details, planning = generated()
    document["plan"] |= details
    document["planning"] = planning
    assert list(complaints(json.loads(json.dumps(document)), STATUS_SCHEMA, "status")) == []
    reported = set(paths_in(document, STATUS_SCHEMA))
    assert {path for path, _ in walk(STATUS_SCHEMA)} - reported == set()


def test_it_is_said_from_where_on_spark_is_taken() -> None:
    engine = schema_of(REASSIGNMENTS, "spec", "plan", "generate", "engine")
    assert f" {AUTO_SPARK_PARTITIONS} partitions" in engine["description"]
