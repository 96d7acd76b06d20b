"""Names, labels and annotations of a broker set's objects; ports and paths of its pods."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final

CLIENT_PORT: Final = 9092
HTTP_PORT: Final = 8080
CONFIG_DIRECTORY: Final = "/etc/ballast/config"
RACKS_DIRECTORY: Final = "/etc/ballast/racks"
DATA_DIRECTORY: Final = "/var/lib/ballast"
LOG_DIRECTORY: Final = "/var/lib/ballast/data"
PROPERTIES_FILE: Final = "server.properties"
DATA_VOLUME: Final = "data"

GATE: Final = "ballast.dev/in-sync"
"""The readiness gate: a condition of the pod that the operator sets."""

POD_NAME_LABEL: Final = "statefulset.kubernetes.io/pod-name"
"""The StatefulSet controller sets it on every pod at its creation."""

SET_LABEL: Final = "ballast.dev/broker-set"
PURPOSE_LABEL: Final = "ballast.dev/purpose"
"""On a reassignment of a set: its purpose."""
BROKER_IDS_ANNOTATION: Final = "ballast.dev/broker-ids"
"""On such a reassignment: the brokers that it drains or fills, comma separated."""
WITHDRAWN_ANNOTATION: Final = "ballast.dev/withdrawn"
"""On such a reassignment: it is obsolete, and is deleted when it has ended."""
DIGEST_ANNOTATION: Final = "ballast.dev/applied-digest"
"""On every object built from a spec: the digest of what was last applied."""
CONFIG_ANNOTATION: Final = "ballast.dev/config-digest"
"""On pods: the digest of the configs that need a restart."""


def stateful_set(name: str) -> str:
    """Return the name of a set's StatefulSet, disruption budget, service account and policy."""
    return f"{name}-broker"


def held_budget(name: str) -> str:
    """Return the name of the disruption budget of the pods that must not be evicted."""
    return f"{stateful_set(name)}-held"


def pod(name: str, ordinal: int) -> str:
    """Return the name of a broker's pod."""
    return f"{stateful_set(name)}-{ordinal}"


def volume_claim(name: str, ordinal: int) -> str:
    """Return the name of a broker's PersistentVolumeClaim."""
    return f"{DATA_VOLUME}-{pod(name, ordinal)}"


def brokers_service(name: str) -> str:
    """Return the name of the headless Service that gives each broker its address."""
    return f"{name}-brokers"


def bootstrap_service(name: str) -> str:
    """Return the name of the Service for bootstrap connections of clients."""
    return f"{name}-bootstrap"


def config_map(name: str) -> str:
    """Return the name of the ConfigMap with the properties file."""
    return f"{name}-config"


def racks_map(name: str) -> str:
    """Return the name of the ConfigMap from nodes to racks."""
    return f"{name}-racks"


def reassignment(
    name: str, purpose: str, broker_ids: Iterable[int], names_in_use: Iterable[str]
) -> str:
    """Return an unused name for a reassignment of some brokers: ``prod-drain-3``.

    Only the first brokers are part of it. If the name would be too long for a label's value, a
    digest replaces them. ``names_in_use`` are not returned.
    """
    ids = sorted(broker_ids)
    some = "-".join(str(broker_id) for broker_id in ids[:_NAMED_BROKERS])
    more = f"-and-{len(ids) - _NAMED_BROKERS}" if len(ids) > _NAMED_BROKERS else ""
    base = f"{name}-{purpose}-{some}{more}"
    if len(base) > _MAX_BASE:
        digest = hashlib.sha256(f"{name} {ids}".encode()).hexdigest()[:10]
        base = f"{name[: _MAX_BASE - len(purpose) - 12]}-{purpose}-{digest}"
    used = frozenset(names_in_use)
    attempt, free = 1, base
    while free in used:
        attempt += 1
        free = f"{base}-try-{attempt}"
    return free


_NAMED_BROKERS: Final = 4
_MAX_BASE: Final = 54
"""A PartitionReassignment's name may have 63 characters; the rest is for ``-try-999``."""


def selector_labels(name: str) -> dict[str, str]:
    """Return the labels by which a set's pods are selected; they never change."""
    return {
        "app.kubernetes.io/name": "ballast",
        "app.kubernetes.io/instance": name,
        "app.kubernetes.io/component": "broker",
    }


def labels(name: str, purpose: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the labels of every object of a set."""
    return {
        **selector_labels(name),
        "app.kubernetes.io/managed-by": "ballast-operator",
        SET_LABEL: name,
        **(purpose or {}),
    }


def selector(name: str) -> str:
    """Return ``status.selector``: the pods' labels as a query."""
    return ",".join(f"{key}={value}" for key, value in selector_labels(name).items())
