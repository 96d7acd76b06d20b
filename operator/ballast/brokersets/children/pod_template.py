"""The pod template of a broker set: Pod Security, probes, environment, volumes, placement."""

from collections.abc import Mapping
from typing import Any, Final

from ballast.brokersets import names
from ballast.brokersets.children.properties import restart_digest
from ballast.brokersets.spec.spec import BrokerSetSpec, PodDefaults

USER_ID: Final = 10001
_DEFAULT_REQUESTS: Final = {"cpu": "100m", "memory": "256Mi"}
_TMP_SIZE: Final = "64Mi"

_STARTUP_PERIOD_S: Final = 2
_STARTUP_S: Final = 4 * 3600
"""How long a broker may take until it is registered: after a crash it recovers its logs, and its
old ZooKeeper session has to expire. It must not be killed meanwhile."""


RESTRICTED: Final = {
    "runAsNonRoot": True,
    "runAsUser": USER_ID,
    "runAsGroup": USER_ID,
    "fsGroup": USER_ID,
    "fsGroupChangePolicy": "OnRootMismatch",
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""The pods' security context unless the set or the installation overrides it."""

RESTRICTED_CONTAINER: Final = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def pod_template(
    spec: BrokerSetSpec, image: str, cluster_domain: str, defaults: PodDefaults
) -> dict[str, Any]:
    """Return the StatefulSet's ``spec.template``; ``defaults`` are the installation's."""
    name, template = spec.identity.name, spec.template
    return {
        "metadata": {
            "labels": {**template.labels, **names.labels(name)},
            "annotations": {
                **template.annotations,
                names.CONFIG_ANNOTATION: restart_digest(spec),
            },
        },
        "spec": {
            "serviceAccountName": names.stateful_set(name),
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            # Makes the broker not process 1, to which the kernel delivers no SIGTERM before a
            # handler exists: so a broker that is deleted during its start ends at once.
            "shareProcessNamespace": True,
            "terminationGracePeriodSeconds": spec.grace_period_seconds,
            "readinessGates": [{"conditionType": names.GATE}],
            "securityContext": _first_context(
                template.security_context, defaults.security_context, RESTRICTED
            ),
            **_pull_secrets(spec, defaults),
            **_placement(spec),
            "containers": [
                _container(spec, image, cluster_domain, defaults),
                *(dict(sidecar) for sidecar in template.sidecars),
            ],
            "volumes": _volumes(spec),
        },
    }


def _first_context(*contexts: Mapping[str, Any] | None) -> dict[str, Any]:
    return next(dict(context) for context in contexts if context is not None)


def _pull_secrets(spec: BrokerSetSpec, defaults: PodDefaults) -> dict[str, Any]:
    own = spec.template.image_pull_secrets
    secrets = [{"name": name} for name in defaults.image_pull_secrets] if own is None else list(own)
    return {"imagePullSecrets": secrets} if secrets else {}


def _container(
    spec: BrokerSetSpec, image: str, cluster_domain: str, defaults: PodDefaults
) -> dict[str, Any]:
    template = spec.template
    file = f"{names.CONFIG_DIRECTORY}/{names.PROPERTIES_FILE}"
    return {
        "name": "broker",
        "image": image,
        "imagePullPolicy": template.image_pull_policy or defaults.image_pull_policy,
        "args": ["broker", "--pod", file],
        "env": [*_environment(spec, cluster_domain), *template.env],
        "ports": [
            {"name": "kafka", "containerPort": names.CLIENT_PORT, "protocol": "TCP"},
            {"name": "http", "containerPort": names.HTTP_PORT, "protocol": "TCP"},
        ],
        "startupProbe": {
            **_probe("/readyz"),
            "periodSeconds": _STARTUP_PERIOD_S,
            "failureThreshold": _STARTUP_S // _STARTUP_PERIOD_S,
            **template.probes.get("startup", {}),
        },
        "livenessProbe": {
            **_probe("/healthz"),
            "periodSeconds": 10,
            "failureThreshold": 6,
            **template.probes.get("liveness", {}),
        },
        "readinessProbe": {
            **_probe("/readyz"),
            "periodSeconds": 2,
            "failureThreshold": 2,
            **template.probes.get("readiness", {}),
        },
        "resources": dict(template.resources or {"requests": _DEFAULT_REQUESTS}),
        "securityContext": _first_context(
            template.container_security_context, RESTRICTED_CONTAINER
        ),
        "volumeMounts": _mounts(spec),
    }


def _probe(path: str) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": "http"}, "timeoutSeconds": 5}


def _environment(spec: BrokerSetSpec, cluster_domain: str) -> list[dict[str, Any]]:
    fields = {
        "POD_NAME": "metadata.name",
        "POD_NAMESPACE": "metadata.namespace",
        "NODE_NAME": "spec.nodeName",
    }
    values = {
        "BALLAST_BROKER_ID_OFFSET": str(spec.broker_id_offset),
        "BALLAST_SERVICE": names.brokers_service(spec.identity.name),
        "BALLAST_CLUSTER_DOMAIN": cluster_domain,
    }
    if spec.rack_topology_key is not None:
        values["BALLAST_RACKS_DIR"] = names.RACKS_DIRECTORY
    return [
        *(
            {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
            for name, path in fields.items()
        ),
        *({"name": name, "value": value} for name, value in values.items()),
    ]


def _mounts(spec: BrokerSetSpec) -> list[dict[str, Any]]:
    mounts: list[dict[str, Any]] = [
        {"name": names.DATA_VOLUME, "mountPath": names.DATA_DIRECTORY},
        {"name": "config", "mountPath": names.CONFIG_DIRECTORY, "readOnly": True},
        {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108  a folder of the container's own
    ]
    if spec.rack_topology_key is not None:
        mounts.append({"name": "racks", "mountPath": names.RACKS_DIRECTORY, "readOnly": True})
    return [*mounts, *spec.template.volume_mounts]


def _volumes(spec: BrokerSetSpec) -> list[dict[str, Any]]:
    name = spec.identity.name
    volumes: list[dict[str, Any]] = [
        {"name": "config", "configMap": {"name": names.config_map(name)}},
        {"name": "tmp", "emptyDir": {"sizeLimit": _TMP_SIZE}},
    ]
    if spec.rack_topology_key is not None:
        # Optional for the pod only: the broker waits for the file and logs that.
        racks = {"name": names.racks_map(name), "optional": True}
        volumes.append({"name": "racks", "configMap": racks})
    return [*volumes, *spec.template.volumes]


def _placement(spec: BrokerSetSpec) -> dict[str, Any]:
    template = spec.template
    placement: dict[str, Any] = {
        "affinity": template.affinity if template.affinity is not None else _anti_affinity(spec),
        "topologySpreadConstraints": _spread(spec),
        "tolerations": list(template.tolerations),
        "priorityClassName": template.priority_class_name,
        "nodeSelector": dict(template.node_selector),
        "schedulerName": template.scheduler_name,
        "runtimeClassName": template.runtime_class_name,
    }
    return {name: value for name, value in placement.items() if value}


def _anti_affinity(spec: BrokerSetSpec) -> dict[str, Any]:
    """Prefer nodes without a broker of the set; on a small cluster two may share one."""
    return {
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 100,
                    "podAffinityTerm": {
                        "topologyKey": "kubernetes.io/hostname",
                        "labelSelector": _selector(spec),
                    },
                }
            ]
        }
    }


def _spread(spec: BrokerSetSpec) -> list[Any]:
    """Spread brokers over racks as far as possible.

    A strict rule would keep a broker of a lost rack from starting elsewhere; a template can state
    one.
    """
    if spec.template.topology_spread_constraints is not None:
        return list(spec.template.topology_spread_constraints)
    if spec.rack_topology_key is None:
        return []
    return [
        {
            "maxSkew": 1,
            "topologyKey": spec.rack_topology_key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": _selector(spec),
        }
    ]


def _selector(spec: BrokerSetSpec) -> dict[str, Any]:
    return {"matchLabels": names.selector_labels(spec.identity.name)}
