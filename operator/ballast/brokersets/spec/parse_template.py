"""Parses ``spec.template`` and ``spec.networkPolicy``: further fields of a set's objects.

Kubernetes checks the content of an affinity, a volume or a sidecar when pods are applied.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ballast.brokersets.spec.spec import NetworkAccess, ObjectAnnotations, PodTemplate
from ballast.model.fields import Reader, show, type_name

MAX_ENTRIES = 32
_RESERVED_LABELS = (
    "app.kubernetes.io/",
    "ballast.dev/",
    "statefulset.kubernetes.io/",
    "apps.kubernetes.io/",
    "controller-revision-hash",
)
_RESERVED_ANNOTATIONS = ("ballast.dev/",)
_TEMPLATE = ("pod", "serviceAccount", "bootstrapService", "brokersService")
_POD = (
    "labels",
    "annotations",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
    "priorityClassName",
    "resources",
    "nodeSelector",
    "schedulerName",
    "runtimeClassName",
    "imagePullSecrets",
    "imagePullPolicy",
    "securityContext",
    "containerSecurityContext",
    "env",
    "volumes",
    "volumeMounts",
    "sidecars",
    "probes",
)


_OWN_ENVIRONMENT = ("POD_NAME", "POD_NAMESPACE", "NODE_NAME", "BALLAST_")
_OWN_NAMES = frozenset({"broker", "data", "config", "tmp", "racks"})
"""Names of the broker's container and volumes."""
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_PROBES = ("startup", "liveness", "readiness")
_PROBE_FIELDS = ("periodSeconds", "timeoutSeconds", "failureThreshold", "initialDelaySeconds")
_PEERS = ("podSelector", "namespaceSelector", "ipBlock")


def parse_template(spec: Reader) -> PodTemplate:
    """Return the pods' template; errors are noted in the reader."""
    pod = spec.nested("template", _TEMPLATE).nested("pod", _POD)
    priority = pod.string("priorityClassName")
    if priority is not None and priority.startswith("system-"):
        pod.refuse("priorityClassName", "must not be a system class")
    _refuse_privileges(pod)
    policy = pod.string("imagePullPolicy")
    if policy is not None and policy not in _PULL_POLICIES:
        pod.refuse("imagePullPolicy", f"must be one of {', '.join(_PULL_POLICIES)}")
    return PodTemplate(
        labels=_texts(pod, "labels", _RESERVED_LABELS),
        annotations=_texts(pod, "annotations", _RESERVED_ANNOTATIONS),
        affinity=_mapping(pod, "affinity"),
        tolerations=_mappings(pod, "tolerations") or (),
        topology_spread_constraints=_mappings(pod, "topologySpreadConstraints"),
        priority_class_name=priority,
        resources=_resources(pod),
        node_selector=_texts(pod, "nodeSelector", ()),
        scheduler_name=pod.string("schedulerName"),
        runtime_class_name=pod.string("runtimeClassName"),
        image_pull_secrets=_mappings(pod, "imagePullSecrets"),
        image_pull_policy=policy,
        security_context=_mapping(pod, "securityContext"),
        container_security_context=_mapping(pod, "containerSecurityContext"),
        env=_named(pod, "env", lambda name: name.startswith(_OWN_ENVIRONMENT)),
        volumes=_named(pod, "volumes", _OWN_NAMES.__contains__),
        volume_mounts=_named(pod, "volumeMounts", _OWN_NAMES.__contains__),
        sidecars=_named(pod, "sidecars", _OWN_NAMES.__contains__),
        probes=_probes(pod),
    )


def parse_annotations(spec: Reader) -> ObjectAnnotations:
    """Return the annotations of a set's other objects."""
    template = spec.nested("template", _TEMPLATE)

    def of(name: str) -> dict[str, str]:
        return _texts(template.nested(name, ("annotations",)), "annotations", _RESERVED_ANNOTATIONS)

    return ObjectAnnotations(
        service_account=of("serviceAccount"),
        bootstrap_service=of("bootstrapService"),
        brokers_service=of("brokersService"),
    )


def parse_network(spec: Reader) -> NetworkAccess:
    """Return the peers that may reach the brokers."""
    policy = spec.nested("networkPolicy", ("enabled", "clients", "metrics"))

    def peers(name: str) -> tuple[Any, ...]:
        reader = policy.nested(name, ("from",))
        entries = _mappings(reader, "from") or ()
        for index, peer in enumerate(entries):
            if isinstance(peer, Mapping) and (not peer or not set(peer) <= set(_PEERS)):
                reader.refuse(f"from[{index}]", f"must have some of {', '.join(_PEERS)}")
        return entries

    return NetworkAccess(
        is_managed=policy.boolean("enabled", True),
        clients=peers("clients"),
        metrics=peers("metrics"),
    )


def _refuse_privileges(pod: Reader) -> None:
    """Refuse access to the node: the right to write a BrokerSet does not include it."""
    for name in ("securityContext", "containerSecurityContext"):
        _refuse_root(pod, name, pod.raw(name))
    for index, sidecar in enumerate(_entries(pod, "sidecars")):
        _refuse_root(pod, f"sidecars[{index}].securityContext", sidecar.get("securityContext"))
    for index, volume in enumerate(_entries(pod, "volumes")):
        if "hostPath" in volume:
            pod.refuse(f"volumes[{index}].hostPath", "must not be used: it is a folder of the node")


def _refuse_root(pod: Reader, name: str, context: object) -> None:
    if not isinstance(context, Mapping):
        return
    for field in ("runAsUser", "runAsGroup", "fsGroup"):
        if context.get(field) == 0:
            pod.refuse(f"{name}.{field}", "must not be 0 (root)")
    for field in ("privileged", "allowPrivilegeEscalation"):
        if context.get(field):
            pod.refuse(f"{name}.{field}", "must not be true")


def _entries(pod: Reader, name: str) -> list[Mapping[Any, Any]]:
    value = pod.raw(name)
    return (
        [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []
    )


def _named(pod: Reader, name: str, is_own: Callable[[str], bool]) -> tuple[Any, ...]:
    """Return entries with names; a name of the broker's own is an error."""
    entries = _mappings(pod, name) or ()
    for index, entry in enumerate(entries):
        own = entry.get("name") if isinstance(entry, Mapping) else None
        if isinstance(entry, Mapping) and not isinstance(own, str):
            pod.refuse(f"{name}[{index}].name", "is required")
        elif isinstance(own, str) and is_own(own):
            pod.refuse(f"{name}[{index}].name", "is Ballast's own and cannot be set")
    return entries


def _probes(pod: Reader) -> dict[str, dict[str, int]]:
    probes = pod.nested("probes", _PROBES)
    probes_by_name = {}
    for name in _PROBES:
        reader = probes.nested(name, _PROBE_FIELDS)
        given = [field for field in _PROBE_FIELDS if reader.has(field)]
        least = {field: 0 if field == "initialDelaySeconds" else 1 for field in given}
        probes_by_name[name] = {
            field: reader.integer(field, 1, minimum=least[field]) for field in given
        }
    return {name: fields for name, fields in probes_by_name.items() if fields}


def _texts(pod: Reader, name: str, reserved: tuple[str, ...]) -> dict[str, str]:
    texts = {}
    for key, value in (_mapping(pod, name) or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            pod.refuse(f"{name}.{show(key)}", f"must be a string, not {type_name(value)}")
        elif key.startswith(reserved):
            pod.refuse(f"{name}.{show(key)}", "is Ballast's own and cannot be set")
        else:
            texts[key] = value
    return texts


def _mapping(pod: Reader, name: str) -> Mapping[Any, Any] | None:
    if not pod.has(name):
        return None
    value = pod.raw(name)
    if not isinstance(value, Mapping):
        pod.refuse(name, f"must be a mapping, not {type_name(value)}")
        return None
    if len(value) > MAX_ENTRIES:
        pod.refuse(name, f"must have at most {MAX_ENTRIES} entries")
        return None
    return value


def _mappings(pod: Reader, name: str) -> tuple[Any, ...] | None:
    if not pod.has(name):
        return None
    items = tuple(pod.sequence(name, max_items=MAX_ENTRIES))
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            pod.refuse(f"{name}[{index}]", f"must be a mapping, not {type_name(item)}")
    return items


def _resources(pod: Reader) -> Mapping[str, Any] | None:
    if not pod.has("resources"):
        return None
    resources = pod.nested("resources", ("requests", "limits"))
    amounts = {name: _mapping(resources, name) for name in ("requests", "limits")}
    for name in amounts:
        reader = resources.nested(name, ("cpu", "memory", "ephemeral-storage"))
        for resource in ("cpu", "memory", "ephemeral-storage"):
            reader.quantity(resource, minimum=1)
    return {name: dict(value) for name, value in amounts.items() if value is not None}
