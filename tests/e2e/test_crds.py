"""What a real API server makes of the custom resources: nothing here needs an operator.

Objects that have to exist are paused or belong to a broker set that does not exist, so that an
operator that happens to run leaves them alone.
"""

import json
import random
import re
import string
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from tests.e2e.cluster import CRDS, EXAMPLES, ROOT, CommandFailed, Namespace, call, eventually
from tests.unit.crds.schemas import BROKER_SETS, REASSIGNMENTS, schema_of, with_defaults
from tests.unit.crds.test_reassignment_fields import whole_status

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

INVALID = ROOT / "tests" / "e2e" / "invalid"
REFUSED = sorted(INVALID.glob("*.yaml"))
STRICT = ("--dry-run=server", "--validate=strict")
API = "/apis/ballast.dev/v1alpha1"
HEADER = {"apiVersion": "ballast.dev/v1alpha1"}
PLAN: dict[str, Any] = {"assignments": [{"topic": "orders", "partition": 0, "replicas": [1, 2]}]}
MOVE: dict[str, Any] = {"brokerSetRef": {"name": "absent"}, "plan": PLAN}
BROKERS: dict[str, Any] = {
    "replicas": 3,
    "zookeeper": {"connect": "zookeeper:2181", "chroot": "/prod"},
    "storage": {"size": "1Gi", "storageClassName": "fast"},
    "desiredState": "Paused",
}
EXISTING: dict[str, Any] = {"bootstrapServers": "kafka:9092", "desiredState": "Paused"}


def reassignment(name: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name}
    return {**HEADER, "kind": "PartitionReassignment", "metadata": metadata, "spec": MOVE | spec}


def broker_set(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {**HEADER, "kind": "BrokerSet", "metadata": {"name": name}, "spec": dict(spec)}


@pytest.fixture(scope="module")
def namespace(kubernetes: tuple[str, ...]) -> Iterator[Namespace]:
    """Apply the definitions, and a few objects in a namespace of their own."""
    assert kubernetes
    call("kubectl", "apply", "--server-side", "-f", str(CRDS))
    for plural in (BROKER_SETS, REASSIGNMENTS):
        name = f"crd/{plural}.ballast.dev"
        call("kubectl", "wait", "--for=condition=Established", name, "--timeout=60s")
    made = Namespace(f"ballast-crds-{''.join(random.choices(string.ascii_lowercase, k=6))}")
    call("kubectl", "create", "namespace", made.name)
    try:
        made.apply(
            reassignment("running"),
            reassignment("paused", desiredState="Paused"),
            reassignment("cancelled", desiredState="Cancelled"),
            reassignment("rolled-back", desiredState="RolledBack"),
            broker_set("three", BROKERS),
            broker_set("plain", BROKERS | {"zookeeper": {"connect": "z:2181"}}),
            broker_set("elsewhere", EXISTING),
        )
        yield made
    finally:
        made.kubectl("delete", "preassign,bset", "--all", "--timeout=60s")
        call("kubectl", "delete", "namespace", made.name, "--timeout=60s")


@pytest.fixture(scope="module")
def answers(namespace: Namespace) -> dict[str, list[str]]:
    """Return what the API server says to each manifest that it has to refuse."""
    with pytest.raises(CommandFailed) as failure:
        namespace.kubectl("apply", *STRICT, "-f", str(INVALID))
    said: dict[str, list[str]] = {path.name: [] for path in REFUSED}
    for line in str(failure.value).splitlines():
        named = re.search(r'error when (?:creating|applying patch)[^"]*"([^"]*)"', line)
        if named:
            said[named[1].rpartition("/")[2]].append(line)
    return said


@pytest.mark.parametrize("plural", [BROKER_SETS, REASSIGNMENTS])
def test_the_definition_is_established_and_structural(namespace: Namespace, plural: str) -> None:
    definition = namespace.get("crd", f"{plural}.ballast.dev")
    conditions = {found["type"]: found["status"] for found in definition["status"]["conditions"]}
    assert conditions["Established"] == "True"
    assert conditions["NamesAccepted"] == "True"
    assert conditions.get("NonStructuralSchema", "False") == "False"
    assert definition["status"]["storedVersions"] == ["v1alpha1"]


def test_one_category_lists_both_kinds(namespace: Namespace) -> None:
    listed = set(namespace.kubectl("get", "ballast", "-o", "name").split())
    assert {"brokerset.ballast.dev/three", "partitionreassignment.ballast.dev/paused"} <= listed


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
@pytest.mark.parametrize("how", [(), ("--server-side",)], ids=["client-side", "server-side"])
def test_an_example_is_accepted(namespace: Namespace, path: Any, how: tuple[str, ...]) -> None:
    said = namespace.kubectl("apply", *how, *STRICT, "-f", str(path))
    assert said.count("server dry run") == len(list(yaml.safe_load_all(path.read_text())))


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_it_is_refused_and_the_field_is_named(answers: Mapping[str, list[str]], path: Any) -> None:
    expected = path.read_text().splitlines()[0].removeprefix("# expect: ")
    (said,) = answers[path.name]
    assert expected in said


def test_server_side_apply_refuses_them_too(namespace: Namespace) -> None:
    with pytest.raises(CommandFailed) as failure:
        namespace.kubectl("apply", "--server-side", *STRICT, "-f", str(INVALID))
    assert "serverside-applied" not in str(failure.value)
    assert len(str(failure.value).splitlines()) >= len(REFUSED)


def test_what_the_operator_has_to_refuse_is_accepted_here(namespace: Namespace) -> None:
    """The API server cannot know what the cluster has: tests/e2e/test_refused.py."""
    folder = INVALID / "operator"
    count = sum(len(list(yaml.safe_load_all(p.read_text()))) for p in folder.glob("*.yaml"))
    said = namespace.kubectl("apply", *STRICT, "-f", str(folder))
    assert said.count("server dry run") == count > 20


def partitions(count: int, **changes: Any) -> list[dict[str, Any]]:
    return [{"topic": "t", "partition": n, "replicas": [1], **changes} for n in range(count)]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param(
            reassignment("many", plan={"assignments": partitions(501)}),
            "spec.plan.assignments: Too many",
            id="501 partitions",
        ),
        pytest.param(
            reassignment("huge", plan={"assignments": partitions(100_000)}),
            "too large",
            id="a hundred thousand partitions",
        ),
        pytest.param(
            reassignment("long", plan={"configMapRef": {"name": "x" * 2**20}}),
            "spec.plan.configMapRef.name: Too long",
            id="a name of one mebibyte",
        ),
        pytest.param(
            broker_set("wide", BROKERS | {"config": {f"a{n}": "1" for n in range(65)}}),
            "spec.config: Too many",
            id="65 properties",
        ),
    ],
)
def test_size_is_bounded(namespace: Namespace, document: dict[str, Any], expected: str) -> None:
    with pytest.raises(CommandFailed, match=expected):
        namespace.kubectl("create", *STRICT, "-f", "-", text=json.dumps(document))


def test_aliases_do_not_explode(namespace: Namespace) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    text = "\n".join([*lines, yaml.safe_dump(reassignment("bomb")), "status: *a8"])
    with pytest.raises(CommandFailed, match="excessive aliasing"):
        namespace.kubectl("create", *STRICT, "-f", "-", text=text)


def test_the_largest_plan_that_is_allowed_fits(namespace: Namespace) -> None:
    """It is applied server-side: client-side, kubectl would copy it into an annotation."""
    largest = partitions(500, topic="t" * 249, replicas=list(range(2**31 - 33, 2**31 - 1)))
    text = json.dumps(reassignment("largest", plan={"assignments": largest}))
    namespace.kubectl("apply", "--server-side", "--validate=strict", "-f", "-", text=text)
    stored = namespace.get("preassign", "largest")
    namespace.delete("preassign", "largest")
    assert len(stored["spec"]["plan"]["assignments"]) == 500
    assert len(json.dumps(stored.get("metadata", {}).get("annotations", {}))) < 262_144
    with pytest.raises(CommandFailed, match=r"metadata\.annotations: Too long"):
        namespace.kubectl("apply", *STRICT, "-f", "-", text=text)


@pytest.mark.parametrize(
    ("kind", "name", "change", "expected"),
    [
        ("preassign", "running", {"plan": {"assignments": None}}, "plan must have exactly one"),
        ("preassign", "running", {"brokerSetRef": {"name": "b"}}, "brokerSetRef cannot be changed"),
        ("preassign", "cancelled", {"desiredState": "Running"}, "only be changed to RolledBack"),
        ("preassign", "cancelled", {"desiredState": "Paused"}, "only be changed to RolledBack"),
        ("preassign", "rolled-back", {"desiredState": "Running"}, "after RolledBack"),
        ("preassign", "rolled-back", {"desiredState": "Cancelled"}, "after RolledBack"),
        ("bset", "three", {"brokerIdOffset": 1}, "brokerIdOffset cannot be changed"),
        ("bset", "three", {"zookeeper": {"chroot": "/x"}}, "chroot cannot be changed"),
        ("bset", "three", {"zookeeper": {"chroot": None}}, "chroot cannot be changed"),
        ("bset", "plain", {"zookeeper": {"chroot": "/x"}}, "chroot cannot be changed"),
        ("bset", "three", {"storage": {"storageClassName": "x"}}, "ClassName cannot be changed"),
        ("bset", "three", {"storage": {"storageClassName": None}}, "ClassName cannot be changed"),
        ("bset", "three", {"storage": {"size": "1Mi"}}, "size can only grow"),
        ("bset", "three", {"storage": {"size": 2**20}}, "size can only grow"),
        ("bset", "three", {"replicas": None}, "exactly one of replicas and bootstrapServers"),
        (
            "bset",
            "elsewhere",
            {"bootstrapServers": None, **BROKERS},
            "bootstrapServers cannot be added or removed",
        ),
    ],
)
def test_a_change_is_refused(
    namespace: Namespace, kind: str, name: str, change: dict[str, Any], expected: str
) -> None:
    with pytest.raises(CommandFailed, match=expected):
        patch(namespace, kind, name, {"spec": change})


def test_a_plan_cannot_be_changed(namespace: Namespace) -> None:
    other = {"assignments": [{"topic": "orders", "partition": 0, "replicas": [2, 1]}]}
    with pytest.raises(CommandFailed, match="plan cannot be changed"):
        patch(namespace, "preassign", "running", {"spec": {"plan": other}})


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("preassign", "running", {"desiredState": "Paused"}),
        ("preassign", "paused", {"desiredState": "Running"}),
        ("preassign", "running", {"desiredState": "Cancelled"}),
        ("preassign", "running", {"desiredState": "RolledBack"}),
        ("preassign", "cancelled", {"desiredState": "RolledBack"}),
        ("preassign", "running", {"execution": {"throttle": {"rate": "10Mi"}}}),
        ("preassign", "running", {"execution": {"throttle": {"rate": 52428800}}}),
        ("preassign", "running", {"approval": {"planDigest": "sha256:" + "0" * 64}}),
        ("preassign", "running", {"deletionPolicy": "Orphan"}),
        ("bset", "three", {"replicas": 4}),
        ("bset", "three", {"storage": {"size": "1024Mi"}}),
        ("bset", "three", {"storage": {"size": "2Gi"}}),
        ("bset", "three", {"config": {"min.insync.replicas": "2"}}),
        ("bset", "three", {"zookeeper": {"connect": "z1:2181,z2:2181,[::1]:2181"}}),
        ("bset", "three", {"image": "registry.example:5000/a/b:1@sha256:" + "0" * 64}),
        ("bset", "elsewhere", {"bootstrapServers": "kafka-0.kafka.svc:9092,10.0.0.1:9093"}),
    ],
)
def test_a_change_is_accepted(
    namespace: Namespace, kind: str, name: str, change: dict[str, Any]
) -> None:
    patch(namespace, kind, name, {"spec": change})


def patch(namespace: Namespace, kind: str, name: str, change: dict[str, Any], *words: str) -> str:
    """Try a change; nothing is stored."""
    merge = ("--type=merge", "-p", json.dumps(change))
    return namespace.kubectl("patch", kind, name, "--dry-run=server", *merge, *words)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(reassignment("new"), id="reassignment"),
        pytest.param(
            reassignment("new", plan={"generate": {"strategy": "Rebalance", "spark": {}}}),
            id="reassignment to generate",
        ),
        pytest.param(broker_set("new", BROKERS), id="broker set"),
        pytest.param(
            broker_set(
                "new",
                BROKERS
                | {
                    member: {}
                    for member in ("rack", "update", "decommission", "disruption", "shutdown")
                }
                | {"scaleDown": {"reassignment": {"execution": {}}}},
            ),
            id="broker set with empty members",
        ),
        pytest.param(broker_set("new", EXISTING), id="existing cluster"),
    ],
)
def test_defaults_are_filled_in_as_the_unit_tests_believe(
    namespace: Namespace, document: dict[str, Any]
) -> None:
    plural = BROKER_SETS if document["kind"] == "BrokerSet" else REASSIGNMENTS
    said = namespace.kubectl("create", *STRICT, "-o", "json", "-f", "-", text=json.dumps(document))
    assert json.loads(said)["spec"] == with_defaults(document, schema_of(plural))["spec"]


def test_nothing_of_a_status_is_dropped(namespace: Namespace) -> None:
    status = json.loads(json.dumps(whole_status().to_document()))
    words = ("--subresource=status", "-o", "json")
    said = patch(namespace, "preassign", "paused", {"status": status}, *words)
    assert json.loads(said)["status"] == status


def test_a_write_of_the_status_leaves_the_spec_alone(namespace: Namespace) -> None:
    change = {"spec": {"deletionPolicy": "Orphan"}, "status": {"observedGeneration": 1}}
    said = patch(namespace, "preassign", "paused", change, "--subresource=status", "-o", "json")
    assert json.loads(said)["spec"]["deletionPolicy"] == "Cancel"


def columns(namespace: Namespace, kind: str, name: str, *words: str) -> dict[str, str]:
    """Return what ``kubectl get`` shows of one object, by column."""
    header, row = namespace.kubectl("get", kind, name, *words).splitlines()
    starts = [found.start() for found in re.finditer(r"\S+(?: \S+)*", header)]
    ends = [*starts[1:], None]
    return {
        header[start:end].strip(): row[start:end].strip()
        for start, end in zip(starts, ends, strict=True)
    }


def test_reassignments_show_how_far_they_are(namespace: Namespace) -> None:
    status = json.loads(json.dumps(whole_status().to_document()))
    change = json.dumps({"status": status})
    words = ("--type=merge", "--subresource=status", "-p", change)

    def shown() -> dict[str, str] | None:
        """Write, and look before an operator that may be running writes what it thinks."""
        namespace.kubectl("patch", "preassign", "paused", *words)
        found = columns(namespace, "preassign", "paused", "-o", "wide")
        return found if found["PROGRESS"] == status["progress"]["summary"] else None

    wide = eventually("the columns", shown, timeout_s=30)
    assert list(columns(namespace, "preassign", "paused")) == [
        *("NAME", "STATE", "PROGRESS", "REMAINING", "ETA", "BROKERSET", "AGE")
    ]
    assert list(wide)[7:] == ["RATE", "THROTTLE", "BATCH", "PLAN", "MESSAGE"]
    assert wide["STATE"] == "Executing"
    assert wide["REMAINING"] == status["progress"]["remaining"]
    assert wide["ETA"] == status["progress"]["eta"]
    assert wide["BROKERSET"] == "absent"
    assert wide["PLAN"] == status["plan"]["digest"]


def test_broker_sets_show_how_they_are(namespace: Namespace) -> None:
    assert list(columns(namespace, "bset", "three", "-o", "wide")) == [
        *("NAME", "READY", "URP", "OFFLINE", "CONTROLLER", "STATUS", "AGE"),
        *("REASSIGNING", "MESSAGE"),
    ]


def test_reassignments_are_found_by_their_broker_set(namespace: Namespace) -> None:
    def found(name: str) -> list[str]:
        selector = f"--field-selector=spec.brokerSetRef.name={name}"
        return namespace.kubectl("get", "preassign", selector, "-o", "name").split()

    assert len(found("absent")) >= 4
    assert found("three") == []


def test_a_broker_set_is_scaled(namespace: Namespace) -> None:
    namespace.apply(broker_set("scaled", BROKERS))
    path = f"{API}/namespaces/{namespace.name}/brokersets/scaled/scale"
    assert json.loads(namespace.kubectl("get", "--raw", path))["spec"]["replicas"] == 3
    namespace.kubectl("scale", "bset/scaled", "--replicas=4")
    assert namespace.get("bset", "scaled")["spec"]["replicas"] == 4
    with pytest.raises(CommandFailed, match=r"spec\.replicas"):
        namespace.kubectl("scale", "bset/scaled", "--replicas=0")
    with pytest.raises(CommandFailed, match="exactly one of replicas and bootstrapServers"):
        namespace.kubectl("scale", "bset/elsewhere", "--replicas=3")


def test_the_scale_subresource_shows_pods_and_selector(namespace: Namespace) -> None:
    status = {"replicas": 2, "selector": "app.kubernetes.io/instance=three"}
    words = ("--type=merge", "--subresource=status", "-p", json.dumps({"status": status}))
    path = f"{API}/namespaces/{namespace.name}/brokersets/three/scale"

    def shown() -> bool:
        namespace.kubectl("patch", "bset", "three", *words)
        return bool(json.loads(namespace.kubectl("get", "--raw", path))["status"] == status)

    eventually("the scale", shown, timeout_s=30)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("preassign.spec.execution.throttle.rate", "Bytes per second"),
        ("preassign.status.conditions", "The reason of Succeeded is the lifecycle state"),
        ("bset.spec.template.pod.affinity.podAntiAffinity", "Which other pods are to be near"),
        ("bset.status.brokers.state", "Decommissioned"),
    ],
)
def test_kubectl_explains_it(namespace: Namespace, field: str, words: str) -> None:
    said = " ".join(namespace.kubectl("explain", field).split())
    assert words in said


@pytest.mark.parametrize("kind", ["preassign", "bset"])
def test_kubectl_explains_everything(namespace: Namespace, kind: str) -> None:
    said = namespace.kubectl("explain", kind, "--recursive")
    assert "<no description>" not in said
    assert "spec" in said
    assert "lastTransitionTime" in said
