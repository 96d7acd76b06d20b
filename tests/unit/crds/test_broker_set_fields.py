"""The BrokerSet's schema and the code that reads and writes the object agree."""

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from ballast.broker.config.config import PROPERTIES
from ballast.brokersets.decide import decide, reject_spec
from ballast.brokersets.errors import InvalidBrokerSet
from ballast.brokersets.observation.observation import VolumeView
from ballast.brokersets.spec import parse as reading
from ballast.brokersets.spec import parse_template as template_reading
from ballast.brokersets.spec.config_keys import (
    ALLOWED_PREFIX,
    FORBIDDEN,
    FORBIDDEN_PREFIXES,
    UNSERVED,
    UNSERVED_PREFIXES,
    is_forbidden,
)
from ballast.brokersets.spec.parse import parse_broker_set
from ballast.brokersets.status.broker_states import BrokerState
from ballast.brokersets.status.conditions import ConditionType
from ballast.brokersets.steps.ensemble import Accepted, EnsembleState
from ballast.model.settings.table import BROKER_SETTINGS
from ballast.model.settings.values import ConfigType
from tests.unit.brokersets.builders import NOW_MS, cluster, decision_input, observation
from tests.unit.crds.schemas import (
    BROKER_SETS,
    REASSIGNMENTS,
    ROOT,
    complaints,
    paths_in,
    schema_of,
    walk,
    with_defaults,
)

SELECTOR: dict[str, Any] = {
    "matchLabels": {"a": "b"},
    "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}],
}
NODES: dict[str, Any] = {
    "matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}],
    "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["node-1"]}],
}
NEAR: dict[str, Any] = {"topologyKey": "zone", "labelSelector": SELECTOR}
PODS: dict[str, Any] = {
    "requiredDuringSchedulingIgnoredDuringExecution": [NEAR],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": NEAR}],
}
PROBE = {
    "initialDelaySeconds": 0,
    "periodSeconds": 5,
    "timeoutSeconds": 5,
    "failureThreshold": 3,
}
PEER: dict[str, Any] = {
    "podSelector": SELECTOR,
    "namespaceSelector": SELECTOR,
    "ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]},
}
AMOUNTS = {"cpu": "500m", "memory": "512Mi", "ephemeral-storage": "1Gi"}
MANAGED: dict[str, Any] = {
    "replicas": 4,
    "brokerIdOffset": 100,
    "zookeeper": {"connect": "z:2181,[::1]:2181", "chroot": "/p", "sessionTimeoutSeconds": 30},
    "image": "registry.example:5000/ballast:1@sha256:" + "0" * 64,
    "config": {"min.insync.replicas": "2"},
    "rack": {"topologyKey": "example.com/rack"},
    "storage": {
        "size": "10Gi",
        "storageClassName": "fast",
        "retention": {"whenScaled": "Delete", "whenDeleted": "Delete"},
    },
    "update": {"strategy": "OnDelete"},
    "scaleDown": {
        "policy": "Refuse",
        "reassignment": {
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
            }
        },
    },
    "rebalanceOnScaleOut": "Propose",
    "decommission": {"brokerIds": [101]},
    "disruption": {"policy": "Static"},
    "shutdown": {"gracePeriodSeconds": 60},
    "template": {
        "pod": {
            "labels": {"team": "data"},
            "annotations": {"example.com/owner": "data"},
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [NODES]
                    },
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 5, "preference": NODES}
                    ],
                },
                "podAffinity": PODS,
                "podAntiAffinity": PODS,
            },
            "tolerations": [
                {
                    "key": "dedicated",
                    "operator": "Equal",
                    "value": "brokers",
                    "effect": "NoExecute",
                    "tolerationSeconds": 60,
                }
            ],
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "minDomains": 3,
                    "labelSelector": SELECTOR,
                    "nodeAffinityPolicy": "Honor",
                    "nodeTaintsPolicy": "Ignore",
                }
            ],
            "priorityClassName": "high",
            "resources": {"requests": AMOUNTS, "limits": AMOUNTS},
            "nodeSelector": {"disk": "nvme"},
            "schedulerName": "other",
            "runtimeClassName": "gvisor",
            "imagePullSecrets": [{"name": "registry"}],
            "imagePullPolicy": "Always",
            "securityContext": {"runAsNonRoot": True},
            "containerSecurityContext": {"readOnlyRootFilesystem": True},
            "env": [{"name": "TZ", "value": "UTC"}],
            "volumes": [{"name": "ca", "secret": {"secretName": "ca"}}],
            "volumeMounts": [{"name": "ca", "mountPath": "/ca"}],
            "sidecars": [{"name": "exporter", "image": "exporter:1"}],
            "probes": {"startup": PROBE, "liveness": PROBE, "readiness": PROBE},
        },
        "serviceAccount": {"annotations": {"cloud/role": "r"}},
        "bootstrapService": {"annotations": {"dns/name": "kafka"}},
        "brokersService": {"annotations": {"mesh": "off"}},
    },
    "networkPolicy": {
        "enabled": True,
        "clients": {"from": [PEER]},
        "metrics": {"from": [PEER]},
    },
    "desiredState": "Paused",
}
EXISTING: dict[str, Any] = {"bootstrapServers": "kafka-0:9092,[::1]:9093"}
SMALL: dict[str, Any] = {
    "replicas": 3,
    "zookeeper": {"connect": "zookeeper:2181"},
    "storage": {"size": "1Gi"},
}
SPEC = schema_of(BROKER_SETS, "spec")
STATUS = schema_of(BROKER_SETS, "status")


def document(spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "ballast.dev/v1alpha1",
        "kind": "BrokerSet",
        "metadata": {"name": "prod", "namespace": "kafka", "uid": "u", "generation": 1},
        "spec": copy.deepcopy(spec),
    }


@pytest.mark.parametrize("spec", [MANAGED, EXISTING, SMALL], ids=["managed", "existing", "small"])
def test_every_field_of_the_schema_is_read(spec: dict[str, Any]) -> None:
    assert list(complaints(spec, SPEC)) == []
    assert parse_broker_set(document(spec)).identity.name == "prod"


def test_the_examples_above_set_every_field() -> None:
    given = {path for spec in (MANAGED, EXISTING) for path in paths_in(spec, SPEC)}
    assert {path for path, _ in walk(SPEC)} == given


@pytest.mark.parametrize(
    "spec",
    [
        EXISTING,
        SMALL,
        SMALL
        | {name: {} for name in ("rack", "update", "decommission", "disruption", "shutdown")}
        | {"networkPolicy": {"clients": {}, "metrics": {}}}
        | {"scaleDown": {"reassignment": {}}, "template": {"pod": {}}},
    ],
    ids=["existing", "small", "empty members"],
)
def test_defaults_are_those_of_the_code(spec: dict[str, Any]) -> None:
    stored = with_defaults(spec, SPEC)
    assert parse_broker_set(document(stored)) == parse_broker_set(document(spec))


def test_drains_are_executed_as_any_reassignment() -> None:
    """Defaults are left out: those of the reassignment that is made apply."""
    drains = schema_of(BROKER_SETS, "spec", "scaleDown", "reassignment", "execution")
    execution = schema_of(REASSIGNMENTS, "spec", "execution")
    assert drains["properties"] == execution["properties"]


def choices() -> Iterator[Any]:
    for path, schema in walk(SPEC):
        if path.startswith((".template", ".scaleDown.reassignment", ".networkPolicy")):
            continue
        for choice in schema.get("enum", ()):
            yield pytest.param(path.strip(".").split("."), choice, id=f"{path}={choice}")


@pytest.mark.parametrize(("path", "choice"), list(choices()))
def test_every_choice_is_understood(path: list[str], choice: str) -> None:
    changed = document(MANAGED)
    place = changed["spec"]
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = choice
    assert parse_broker_set(changed) != parse_broker_set(document(SMALL))


@pytest.mark.parametrize(
    ("path", "bound", "in_code"),
    [
        (("replicas",), "maximum", reading.MAX_REPLICAS),
        (("config",), "maxProperties", reading.MAX_CONFIG),
        (("decommission", "brokerIds"), "maxItems", reading.MAX_DECOMMISSIONED),
        (("template", "pod", "labels"), "maxProperties", template_reading.MAX_ENTRIES),
        (("template", "pod", "annotations"), "maxProperties", template_reading.MAX_ENTRIES),
        (("template", "pod", "tolerations"), "maxItems", template_reading.MAX_ENTRIES),
    ],
    ids=lambda value: ".".join(value) if isinstance(value, tuple) else str(value),
)
def test_bounds_are_those_of_the_code(path: tuple[str, ...], bound: str, in_code: int) -> None:
    assert schema_of(BROKER_SETS, "spec", *path)[bound] == in_code


def test_the_name_leaves_room_for_what_is_made_of_it() -> None:
    assert schema_of(BROKER_SETS, "metadata", "name")["maxLength"] == reading.MAX_NAME
    # A pod's label controller-revision-hash is <name>-broker-<ten characters>.
    assert reading.MAX_NAME + len("-broker-") + 10 <= 63


def config_rules() -> str:
    rules = schema_of(BROKER_SETS, "spec", "config")["x-kubernetes-validations"]
    return "\n".join(rule["rule"] for rule in rules)


def named(pattern: str) -> set[str]:
    """Return the quoted names in the list that the rules have before ``pattern``."""
    (names,) = re.findall(rf"\[([^\[\]]*)\]\s*{pattern}", config_rules())
    return set(re.findall(r"'([^']+)'", names))


def test_the_forbidden_properties_are_those_of_the_code() -> None:
    lists = re.findall(r"name in \[([^\]]*)\]", config_rules())
    assert [set(re.findall(r"'([^']+)'", names)) for names in lists] == [FORBIDDEN, UNSERVED]
    prefixes = set(re.findall(r"startsWith\('([^']+)'\)", config_rules()))
    assert prefixes == {*FORBIDDEN_PREFIXES, ALLOWED_PREFIX, *UNSERVED_PREFIXES}


def properties(*kinds: ConfigType) -> set[str]:
    return {
        name for name, row in PROPERTIES.items() if row.type in kinds and not is_forbidden(name)
    }


def known(names: set[str], *kinds: ConfigType) -> bool:
    return all(BROKER_SETTINGS[name].type in kinds for name in names)


def test_the_properties_that_are_numbers_are_the_brokers() -> None:
    unlimited = named(r"\.all\(name, !\(name in self\) \|\| self\[name\] == '-1'")
    assert unlimited == {
        "log.retention.bytes",
        "log.retention.hours",
        "log.retention.minutes",
        "log.retention.ms",
        "queued.max.request.bytes",
    }
    others = named(r"\.all\(name, !\(name in self\) \|\| self\[name\]\.matches")
    assert not unlimited & others
    kinds = (ConfigType.INT, ConfigType.SHORT, ConfigType.LONG)
    assert properties(*kinds) <= unlimited | others
    assert known(unlimited | others, *kinds)


def test_the_properties_that_are_switches_are_the_brokers() -> None:
    switches = named(r"\.all\(name, !\(name in self\) \|\| self\[name\] in")
    assert properties(ConfigType.BOOLEAN) <= switches
    assert known(switches, ConfigType.BOOLEAN)


def reported() -> dict[str, Any]:
    """Return the status of a set that was well, and of which broker 2 has then gone."""
    before = decide(decision_input()).status
    gone = observation(
        racks={f"node-{n}": f"zone-{n}" for n in range(3)},
        cluster=cluster(((0, 1, 2), (0, 1)), live=(0, 1), bytes_by_broker={0: 2**60}),
        volumes=(VolumeView(name="data-0", ordinal=0, requested="10Gi", capacity="10Gi"),),
    )
    found = EnsembleState(accepted=Accepted(connect="zk:2181", cluster_id="abc"))
    status = decide(decision_input(None, gone, status=before, ensemble=found)).status
    return dict(json.loads(json.dumps(status)))


def test_everything_that_is_reported_is_in_the_schema() -> None:
    status = reported()
    assert list(complaints(status, STATUS, "status")) == []
    assert set(paths_in(status, STATUS)) == {path for path, _ in walk(STATUS)}


def test_a_first_status_is_in_the_schema() -> None:
    empty = observation(stateful_set=None, pods=(), cluster=None, controller=None, zookeeper=None)
    status = json.loads(json.dumps(decide(decision_input(None, empty)).status))
    assert list(complaints(status, STATUS, "status")) == []


def test_a_refusal_is_in_the_schema() -> None:
    bad = document(SMALL | {"replicas": 0})
    with pytest.raises(InvalidBrokerSet) as failure:
        parse_broker_set(bad)
    decision = reject_spec(bad["metadata"], {}, failure.value, now_ms=NOW_MS)
    assert list(complaints(json.loads(json.dumps(decision.status)), STATUS)) == []


def test_the_states_of_a_broker_are_those_of_the_code() -> None:
    states = dict(walk(STATUS))[".brokers[].state"]["enum"]
    assert states == [state.value for state in BrokerState]


def test_the_conditions_are_those_of_the_code() -> None:
    words = STATUS["properties"]["conditions"]["description"]
    assert [kind for kind in ConditionType if kind not in words] == []


def test_what_only_the_operator_refuses_it_refuses() -> None:
    folder = ROOT / "tests" / "e2e" / "invalid" / "operator"
    manifests = sorted(folder.glob("brokerset-*.yaml"))
    assert manifests
    for path in manifests:
        with pytest.raises(InvalidBrokerSet):
            parse_broker_set(yaml.safe_load(path.read_text()))
