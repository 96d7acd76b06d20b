"""Reading ``spec.template.pod``: where the pods run and what they may use, and nothing else.

What is inside an affinity or a toleration is Kubernetes' to check, when the pods are applied.
"""

from collections.abc import Mapping
from typing import Any

from ballast.brokersets.spec import PodTemplate
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


def read_template(spec: Reader) -> PodTemplate:
    """Return the template; what is wrong is noted in the reader's errors."""
    pod = spec.nested("template", ("pod",)).nested(
        "pod",
        (
            "labels",
            "annotations",
            "affinity",
            "tolerations",
            "topologySpreadConstraints",
            "priorityClassName",
            "resources",
        ),
    )
    priority = pod.string("priorityClassName")
    if priority is not None and priority.startswith("system-"):
        pod.refuse("priorityClassName", "must not be one of the system's")
    return PodTemplate(
        labels=_texts(pod, "labels", _RESERVED_LABELS),
        annotations=_texts(pod, "annotations", _RESERVED_ANNOTATIONS),
        affinity=_mapping(pod, "affinity"),
        tolerations=_mappings(pod, "tolerations") or (),
        topology_spread_constraints=_mappings(pod, "topologySpreadConstraints"),
        priority_class_name=priority,
        resources=_resources(pod),
    )


def _texts(pod: Reader, name: str, reserved: tuple[str, ...]) -> dict[str, str]:
    read = {}
    for key, value in (_mapping(pod, name) or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            pod.refuse(f"{name}.{show(key)}", f"must be a string, not {type_name(value)}")
        elif key.startswith(reserved):
            pod.refuse(f"{name}.{show(key)}", "is Ballast's own and cannot be set")
        else:
            read[key] = value
    return read


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
