"""The pods of a broker set: restricted Pod Security, probes, and what only the pod knows."""

from typing import Any, Final

from ballast.brokersets import names
from ballast.brokersets.properties import restart_digest
from ballast.brokersets.spec import BrokerSetSpec

USER_ID: Final = 10001
_DEFAULT_REQUESTS: Final = {"cpu": "100m", "memory": "256Mi"}
_TMP_SIZE: Final = "64Mi"

_STARTUP_PERIOD_SECONDS: Final = 2
_STARTUP_SECONDS: Final = 4 * 3600
"""How long a broker may take until it is registered: logs are recovered after a crash, and the
session before the crash has to expire. A broker that is at it must not be killed for it."""


def pod_template(spec: BrokerSetSpec, image: str, cluster_domain: str) -> dict[str, Any]:
    """Return the StatefulSet's ``spec.template``."""
    name = spec.identity.name
    return {
        "metadata": {
            "labels": {**spec.template.labels, **names.labels(name)},
            "annotations": {
                **spec.template.annotations,
                names.CONFIG_ANNOTATION: restart_digest(spec),
            },
        },
        "spec": {
            "serviceAccountName": names.stateful_set(name),
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            # The broker is then not process 1, to which the kernel passes no SIGTERM before there
            # is a handler for it: one that is deleted as it starts ends at once.
            "shareProcessNamespace": True,
            "terminationGracePeriodSeconds": spec.grace_period_seconds,
            "readinessGates": [{"conditionType": names.GATE}],
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": USER_ID,
                "runAsGroup": USER_ID,
                "fsGroup": USER_ID,
                "fsGroupChangePolicy": "OnRootMismatch",
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            **_placement(spec),
            "containers": [_container(spec, image, cluster_domain)],
            "volumes": _volumes(spec),
        },
    }


def _container(spec: BrokerSetSpec, image: str, cluster_domain: str) -> dict[str, Any]:
    file = f"{names.CONFIG_DIRECTORY}/{names.PROPERTIES_FILE}"
    return {
        "name": "broker",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": ["broker", "--pod", file],
        "env": _environment(spec, cluster_domain),
        "ports": [
            {"name": "kafka", "containerPort": names.CLIENT_PORT, "protocol": "TCP"},
            {"name": "http", "containerPort": names.HTTP_PORT, "protocol": "TCP"},
        ],
        "startupProbe": {
            **_probe("/readyz"),
            "periodSeconds": _STARTUP_PERIOD_SECONDS,
            "failureThreshold": _STARTUP_SECONDS // _STARTUP_PERIOD_SECONDS,
        },
        "livenessProbe": {**_probe("/healthz"), "periodSeconds": 10, "failureThreshold": 6},
        "readinessProbe": {**_probe("/readyz"), "periodSeconds": 2, "failureThreshold": 2},
        "resources": dict(spec.template.resources or {"requests": _DEFAULT_REQUESTS}),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
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
    return mounts


def _volumes(spec: BrokerSetSpec) -> list[dict[str, Any]]:
    name = spec.identity.name
    volumes: list[dict[str, Any]] = [
        {"name": "config", "configMap": {"name": names.config_map(name)}},
        {"name": "tmp", "emptyDir": {"sizeLimit": _TMP_SIZE}},
    ]
    if spec.rack_topology_key is not None:
        # Not optional to the broker, but to the pod: the broker waits and says what for.
        racks = {"name": names.racks_map(name), "optional": True}
        volumes.append({"name": "racks", "configMap": racks})
    return volumes


def _placement(spec: BrokerSetSpec) -> dict[str, Any]:
    template = spec.template
    placement: dict[str, Any] = {
        "affinity": template.affinity if template.affinity is not None else _apart(spec),
        "topologySpreadConstraints": _spread(spec),
        "tolerations": list(template.tolerations),
        "priorityClassName": template.priority_class_name,
    }
    return {name: value for name, value in placement.items() if value}


def _apart(spec: BrokerSetSpec) -> dict[str, Any]:
    """Prefer a node without a broker of the set: on a small cluster two may share one."""
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
    """Spread over racks as well as it goes.

    Were it demanded, a broker of a lost rack could not come back elsewhere; whoever wants that
    says so in the template.
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
