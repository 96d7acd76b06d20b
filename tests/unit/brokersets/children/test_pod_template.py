from typing import Any

from ballast.brokersets.children.pod_template import pod_template
from ballast.brokersets.children.properties import restart_digest
from ballast.brokersets.spec.spec import PodDefaults
from tests.unit.brokersets.builders import broker_set


def template(**fields: Any) -> dict[str, Any]:
    return pod_template(broker_set(**fields), "ballast:1", "cluster.local", PodDefaults())


def container(**fields: Any) -> dict[str, Any]:
    (only,) = template(**fields)["spec"]["containers"]
    assert isinstance(only, dict)
    return only


def test_the_pod_is_one_of_restricted_pod_security() -> None:
    spec = template()["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "fsGroup": 10001,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container()["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def test_it_waits_for_its_gate_and_has_its_time_to_stop() -> None:
    spec = template(shutdown={"gracePeriodSeconds": 77})["spec"]
    assert spec["readinessGates"] == [{"conditionType": "ballast.dev/in-sync"}]
    assert spec["terminationGracePeriodSeconds"] == 77
    assert spec["shareProcessNamespace"] is True


def test_what_only_the_pod_knows() -> None:
    environment = {
        entry["name"]: entry.get("value") or entry["valueFrom"]["fieldRef"]["fieldPath"]
        for entry in container(brokerIdOffset=5)["env"]
    }
    assert environment == {
        "POD_NAME": "metadata.name",
        "POD_NAMESPACE": "metadata.namespace",
        "NODE_NAME": "spec.nodeName",
        "BALLAST_BROKER_ID_OFFSET": "5",
        "BALLAST_SERVICE": "prod-brokers",
        "BALLAST_CLUSTER_DOMAIN": "cluster.local",
    }
    assert container()["args"] == ["broker", "--pod", "/etc/ballast/config/server.properties"]


def test_racks_are_mounted_when_they_are_asked_for() -> None:
    with_racks = template(rack={"topologyKey": "zone"})["spec"]
    (broker,) = with_racks["containers"]
    assert {"name": "BALLAST_RACKS_DIR", "value": "/etc/ballast/racks"} in broker["env"]
    assert "/etc/ballast/racks" in [mount["mountPath"] for mount in broker["volumeMounts"]]
    volume = {"name": "racks", "configMap": {"name": "prod-racks", "optional": True}}
    assert volume in with_racks["volumes"]
    assert [v["name"] for v in template()["spec"]["volumes"]] == ["config", "tmp"]


def test_only_its_own_folders_can_be_written() -> None:
    writable = [m["mountPath"] for m in container()["volumeMounts"] if not m.get("readOnly")]
    assert writable == ["/var/lib/ballast", "/tmp"]  # noqa: S108  a folder of the container's own
    (tmp,) = [v for v in template()["spec"]["volumes"] if v["name"] == "tmp"]
    assert tmp["emptyDir"]["sizeLimit"] == "64Mi"


def test_a_broker_that_recovers_its_logs_is_given_hours() -> None:
    probes = container()
    startup = probes["startupProbe"]
    assert startup["httpGet"] == {"path": "/readyz", "port": "http"}
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 3600
    assert probes["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert probes["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_pods_lie_apart_if_nothing_else_is_said() -> None:
    spec = template(rack={"topologyKey": "zone"})["spec"]
    anti = spec["affinity"]["podAntiAffinity"]
    (term,) = anti["preferredDuringSchedulingIgnoredDuringExecution"]
    assert term["podAffinityTerm"]["topologyKey"] == "kubernetes.io/hostname"
    (spread,) = spec["topologySpreadConstraints"]
    assert (spread["topologyKey"], spread["whenUnsatisfiable"]) == ("zone", "ScheduleAnyway")
    assert "topologySpreadConstraints" not in template()["spec"]


def test_the_user_places_them_otherwise() -> None:
    spec = template(
        rack={"topologyKey": "zone"},
        template={
            "pod": {
                "affinity": {"nodeAffinity": {}},
                "topologySpreadConstraints": [{"maxSkew": 2}],
                "tolerations": [{"key": "x"}],
                "priorityClassName": "high",
                "resources": {"limits": {"memory": "1Gi"}},
            }
        },
    )["spec"]
    assert spec["affinity"] == {"nodeAffinity": {}}
    assert spec["topologySpreadConstraints"] == [{"maxSkew": 2}]
    assert spec["tolerations"] == [{"key": "x"}]
    assert spec["priorityClassName"] == "high"
    assert spec["containers"][0]["resources"] == {"limits": {"memory": "1Gi"}}


def test_labels_of_the_set_win_and_the_config_is_remembered() -> None:
    fields = {"template": {"pod": {"labels": {"team": "data"}, "annotations": {"a": "b"}}}}
    metadata = template(**fields)["metadata"]
    assert metadata["labels"]["team"] == "data"
    assert metadata["labels"]["ballast.dev/broker-set"] == "prod"
    assert metadata["annotations"] == {
        "a": "b",
        "ballast.dev/config-digest": restart_digest(broker_set(**fields)),
    }


FULL: dict[str, Any] = {
    "nodeSelector": {"disk": "nvme"},
    "schedulerName": "other",
    "runtimeClassName": "gvisor",
    "imagePullPolicy": "Always",
    "imagePullSecrets": [{"name": "own"}],
    "securityContext": {"runAsNonRoot": True},
    "containerSecurityContext": {"readOnlyRootFilesystem": True},
    "env": [{"name": "TZ", "value": "UTC"}],
    "volumes": [{"name": "ca", "secret": {"secretName": "ca"}}],
    "volumeMounts": [{"name": "ca", "mountPath": "/ca"}],
    "sidecars": [{"name": "exporter", "image": "exporter:1"}],
    "probes": {"liveness": {"failureThreshold": 9}, "readiness": {"initialDelaySeconds": 0}},
}


def test_a_template_adds_to_the_pods_and_replaces_what_it_names() -> None:
    spec = template(template={"pod": FULL})["spec"]
    broker, sidecar = spec["containers"]
    assert sidecar == FULL["sidecars"][0]
    for name in ("nodeSelector", "schedulerName", "runtimeClassName", "imagePullSecrets"):
        assert spec[name] == FULL[name]
    assert spec["securityContext"] == {"runAsNonRoot": True}
    assert broker["securityContext"] == {"readOnlyRootFilesystem": True}
    assert broker["imagePullPolicy"] == "Always"
    assert broker["env"][-1] == FULL["env"][0]
    assert spec["volumes"][-1] == FULL["volumes"][0]
    assert broker["volumeMounts"][-1] == FULL["volumeMounts"][0]
    assert broker["livenessProbe"]["failureThreshold"] == 9
    assert broker["livenessProbe"]["periodSeconds"] == 10
    assert broker["readinessProbe"]["initialDelaySeconds"] == 0


def test_what_a_set_does_not_say_is_the_installations() -> None:
    defaults = PodDefaults(
        image_pull_secrets=("registry",),
        image_pull_policy="Always",
        security_context={"runAsNonRoot": True},
    )
    spec = pod_template(broker_set(), "ballast:1", "cluster.local", defaults)["spec"]
    assert spec["imagePullSecrets"] == [{"name": "registry"}]
    assert spec["securityContext"] == {"runAsNonRoot": True}
    assert spec["containers"][0]["imagePullPolicy"] == "Always"
    own = broker_set(template={"pod": {"imagePullSecrets": []}})
    assert "imagePullSecrets" not in pod_template(own, "b:1", "c", defaults)["spec"]
