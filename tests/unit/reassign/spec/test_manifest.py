import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.model.fields import MAX_ERRORS, FieldError
from ballast.model.ids import TopicPartition
from ballast.reassign.errors import ManifestRejected
from ballast.reassign.generate.generate_manifest import PlanToGenerate
from ballast.reassign.spec.manifest import parse_manifest
from ballast.reassign.spec.plan_manifest import PlanConfigMap, PlanFile
from ballast.reassign.spec.spec import (
    ApprovalPolicy,
    Assignments,
    DeletionPolicy,
    DesiredState,
    MoveOrder,
    OnStalled,
)

Edit = Callable[[dict[str, Any]], None]


def document() -> dict[str, Any]:
    return {
        "apiVersion": "ballast.dev/v1alpha1",
        "kind": "PartitionReassignment",
        "metadata": {"name": "move-off-3"},
        "spec": {
            "brokerSetRef": {"name": "prod"},
            "plan": {
                "assignments": [
                    {"topic": "orders", "partition": 0, "replicas": [1, 2, 4]},
                    {"topic": "orders", "partition": 1, "replicas": [2, 4], "logDirs": ["any"] * 2},
                ]
            },
            "execution": {
                "throttle": {"rate": "50Mi"},
                "order": ["SmallestFirst"],
                "onStalled": "RollBack",
                "batchSize": 10,
            },
            "approval": {"policy": "Manual", "limits": {"maxBytesToMove": "2Ti"}},
            "desiredState": "Paused",
            "verification": {"electPreferredLeaders": False},
            "deletionPolicy": "Orphan",
            "ttlSecondsAfterFinished": 604800,
        },
    }


def errors_of(edit: Edit) -> list[str]:
    edited = copy.deepcopy(document())
    edit(edited)
    with pytest.raises(ManifestRejected) as caught:
        parse_manifest(edited)
    return [str(error) for error in caught.value.errors]


def test_a_whole_manifest_is_read() -> None:
    manifest = parse_manifest(document())
    assert manifest.name == "move-off-3"
    assert isinstance(manifest.plan, Assignments)
    spec = manifest.spec(manifest.plan, 3)
    assert spec.targets == {
        TopicPartition("orders", 0): (1, 2, 4),
        TopicPartition("orders", 1): (2, 4),
    }
    settings = spec.settings
    assert settings.desired_state is DesiredState.PAUSED
    assert settings.execution.throttle_bytes_per_second == 50 * 1024**2
    assert settings.execution.order == (MoveOrder.SMALLEST_FIRST,)
    assert settings.execution.on_stalled is OnStalled.ROLL_BACK
    assert settings.execution.batch_size == 10
    assert settings.approval.policy is ApprovalPolicy.MANUAL
    assert settings.approval.max_bytes_to_move == 2 * 1024**4
    assert not settings.elect_preferred_leaders
    assert spec.generation == 3


def test_what_matters_on_kubernetes_is_read() -> None:
    manifest = parse_manifest(document())
    assert manifest.broker_set == "prod"
    assert manifest.settings.deletion_policy is DeletionPolicy.ORPHAN
    bare = parse_manifest({**document(), "spec": {"plan": {"file": "x"}}})
    assert bare.broker_set is None
    assert bare.settings.deletion_policy is DeletionPolicy.CANCEL


@pytest.mark.parametrize(
    ("plan", "source"),
    [
        ({"file": "p.json"}, PlanFile(path="p.json")),
        ({"configMapRef": {"name": "p"}}, PlanConfigMap(name="p")),
        ({"configMapRef": {"name": "p", "key": "k"}}, PlanConfigMap(name="p", key="k")),
        (
            {"generate": {"strategy": "Rebalance"}},
            PlanToGenerate(strategy="Rebalance", options={"strategy": "Rebalance"}),
        ),
    ],
)
def test_a_plan_may_be_elsewhere(plan: dict[str, Any], source: object) -> None:
    assert parse_manifest({**document(), "spec": {"plan": plan}}).plan == source


def test_a_small_manifest_has_defaults() -> None:
    small = document()
    small["spec"] = {"plan": {"file": "plan.json"}}
    manifest = parse_manifest(small)
    assert manifest.plan == PlanFile(path="plan.json")
    assert manifest.settings.execution.throttle_bytes_per_second is None
    assert manifest.settings.approval.policy is ApprovalPolicy.AUTOMATIC
    assert manifest.settings.elect_preferred_leaders


def put(path: str, value: object) -> Edit:
    """Return an edit that sets the field at a dotted path; numbers index lists."""

    def edit(node: Any) -> None:
        *parents, last = [int(k) if k.isdecimal() else k for k in path.split(".")]
        for key in parents:
            node = node[key]
        node[last] = value

    return edit


def drop(*path: str) -> Edit:
    def edit(node: Any) -> None:
        for key in path[:-1]:
            node = node[key]
        del node[path[-1]]

    return edit


A = "spec.plan.assignments"


@pytest.mark.parametrize(
    ("edit", "error"),
    [
        (put("apiVersion", "v1"), "apiVersion: must be ballast.dev/v1alpha1"),
        (drop("apiVersion"), "apiVersion: is required: ballast.dev/v1alpha1"),
        (put("kind", "Pod"), "kind: must be PartitionReassignment"),
        (drop("metadata"), "metadata: is required"),
        (put("metadata", []), "metadata: must be a mapping, not a list"),
        (drop("metadata", "name"), "metadata.name: is required"),
        (put("metadata.name", "../x"), "metadata.name: must be lower case letters, digits, "),
        (put("metadata.name", "x" * 300), "metadata.name: must have 1 to 253 characters"),
        (drop("spec"), "spec: is required"),
        (put("spec.plans", {}), "spec.plans: unknown field"),
        (drop("spec", "plan"), "spec.plan: is required"),
        (put("spec.plan", {}), "spec.plan: must have exactly one of assignments, file, "),
        (put("spec.plan.file", "x"), "spec.plan: must have exactly one of assignments, file, "),
        (put("spec.plan", {"file": 5}), "spec.plan.file: must be a string, not an integer"),
        (put("spec.plan", {"configMapRef": {}}), "spec.plan.configMapRef.name: is required"),
        (
            put("spec.plan", {"configMapRef": {"name": "x", "namespace": "y"}}),
            "spec.plan.configMapRef.namespace: unknown field",
        ),
        (put("spec.ttlSecondsAfterFinished", -1), "spec.ttlSecondsAfterFinished: must be between"),
        (put(A, []), f"{A}: must have 1 to 500 items, not 0"),
        (put(A, [{}] * 100_000), f"{A}: must have 1 to 500 items, not 100000"),
        (put(f"{A}.0", 7), f"{A}[0]: must be a mapping, not an integer"),
        (put(f"{A}.0.topic", ".."), f'{A}[0].topic: Topic name cannot be "." or ".."'),
        (put(f"{A}.0.topic", "a b"), f"{A}[0].topic: Topic name 'a b' is illegal, it"),
        (put(f"{A}.0.topic", "x" * 10**6), f"{A}[0].topic: is not a legal topic name"),
        (put(f"{A}.0.topic", True), f"{A}[0].topic: must be a string, not a boolean"),
        (put(f"{A}.0.partition", -1), f"{A}[0].partition: must be between 0 and"),
        (put(f"{A}.0.partition", 2**31), f"{A}[0].partition: must be between 0 and"),
        (put(f"{A}.0.partition", True), f"{A}[0].partition: must be an integer, not a boolean"),
        (put(f"{A}.0.partition", "0"), f"{A}[0].partition: must be an integer, not a string"),
        (put(f"{A}.0.replicas", []), f"{A}[0].replicas: must have 1 to 32 items, not 0"),
        (put(f"{A}.0.replicas.1", 1), f"{A}[0].replicas[1]: broker 1 is already in the list"),
        (put(f"{A}.0.replicas.1", 1.5), f"{A}[0].replicas[1]: must be a broker id, not a number"),
        (put(f"{A}.0.replicas.1", True), f"{A}[0].replicas[1]: must be a broker id, not a bool"),
        (put(f"{A}.0.replicas.1", -3), f"{A}[0].replicas[1]: must be between 0 and"),
        (put(f"{A}.1.partition", 0), f"{A}[1]: partition orders-0 is already in {A}[0]"),
        (put(f"{A}.1.logDirs", ["any"]), f"{A}[1].logDirs: must have as many items as replicas: 2"),
        (put(f"{A}.1.logDirs", ["any", "d"]), f"{A}[1].logDirs[1]: must be an absolute path, or"),
        (put(f"{A}.1.logDirs", ["any", 1]), f"{A}[1].logDirs[1]: must be a path, not"),
        (put(f"{A}.1.logDirs", ["any", "/" * 256]), f"{A}[1].logDirs: must have at most 300"),
        (put("spec.desiredState", "Stopped"), "spec.desiredState: must be one of Running, Paused"),
        (put("spec.desiredState", None), "spec.desiredState: must be one of Running, Paused"),
        (put("spec.deletionPolicy", "x"), "spec.deletionPolicy: must be one of Cancel, "),
        (put("spec.brokerSetRef", {}), "spec.brokerSetRef.name: is required"),
        (put("spec.execution.throttle", {}), "spec.execution.throttle.rate: is required"),
        (
            put("spec.execution.throttle.rate", "1"),
            "spec.execution.throttle.rate: must be at least",
        ),
        (put("spec.execution.throttle.rate", math.nan), "spec.execution.throttle.rate: is not a"),
        (put("spec.execution.throttle.rate", "fast"), "spec.execution.throttle.rate: is not a"),
        (
            put("spec.execution.batchSize", 0),
            "spec.execution.batchSize: must be between 1 and 10000",
        ),
        (put("spec.execution.order", "x"), "spec.execution.order: must be a list, not a string"),
        (
            put("spec.execution.order", ["SmallestFirst"] * 2),
            "spec.execution.order: must not name anything twice",
        ),
        (put("spec.execution.order", ["x"]), "spec.execution.order[0]: must be one of AtMinISR"),
        (put("spec.approval.planDigest", "sha256:00"), "spec.approval.planDigest: must be sha256:"),
        (put("spec.verification", 1), "spec.verification: must be a mapping, not an integer"),
        (
            put("spec.verification.electPreferredLeaders", "no"),
            "spec.verification.electPreferredLeaders: must be true or false, not a string",
        ),
    ],
)
def test_errors_name_the_field_and_the_reason(edit: Edit, error: str) -> None:
    assert any(found.startswith(error) for found in errors_of(edit)), errors_of(edit)


def test_all_errors_are_found_at_once_and_bounded() -> None:
    found = errors_of(put(A, [{"topic": "/", "partition": "x", "replicas": [True]}] * 400))
    assert len(found) == MAX_ERRORS


@pytest.mark.parametrize("value", [None, 5, "x", [], [1], True, math.nan])
def test_a_document_that_is_no_mapping(value: object) -> None:
    with pytest.raises(ManifestRejected):
        parse_manifest(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)
PATHS = [
    *("apiVersion", "metadata", "spec", "metadata.name", "spec.plan", "spec.execution", A),
    *(f"{A}.0", f"{A}.0.topic", f"{A}.0.partition", f"{A}.0.replicas", f"{A}.0.replicas.0"),
    *("spec.execution.throttle", "spec.execution.throttle.rate", "spec.execution.order"),
    *("spec.approval", "spec.approval.limits", "spec.desiredState", f"{A}.1.logDirs"),
]


@given(st.sampled_from(PATHS), JSON)
def test_hostile_fields_give_typed_errors_only(path: str, value: object) -> None:
    hostile = document()
    put(path, value)(hostile)
    found: Sequence[FieldError] = ()
    try:
        parse_manifest(hostile)
    except ManifestRejected as rejected:
        found = rejected.errors
    assert all(error.path and len(str(error)) < 400 for error in found)
