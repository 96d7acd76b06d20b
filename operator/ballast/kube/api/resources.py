"""The kinds of objects that the operator reads and writes, their paths, and object keys."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

Document = dict[str, Any]
"""An object as JSON, with camelCase keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One kind of object."""

    group: str
    """Empty for the core group."""
    version: str
    plural: str
    kind: str
    is_namespaced: bool = True

    @property
    def api_version(self) -> str:
        """``apiVersion`` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str | None, name: str = "", subresource: str = "") -> str:
        """Return the path of one object, of its subresource, or (without name) of all objects.

        The form is ``/apis/GROUP/VERSION/namespaces/NAMESPACE/PLURAL/NAME/SUBRESOURCE``.
        """
        assert self.is_namespaced or namespace is None, f"{self.plural} have no namespace"
        assert name or not subresource, "only objects have subresources"
        parts = ["apis", self.group] if self.group else ["api"]
        parts.append(self.version)
        if namespace is not None:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.plural, name, subresource) if part]
        return "/" + "/".join(quote(part, safe="") for part in parts)


@dataclass(frozen=True, slots=True, order=True)
class ObjectKey:
    """One object; ``plural`` names its kind."""

    plural: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.plural}/{self.namespace}/{self.name}"


GROUP: Final = "ballast.dev"
VERSION: Final = "v1alpha1"
FIELD_MANAGER: Final = "ballast-operator"

PARTITION_REASSIGNMENTS: Final = Resource(
    group=GROUP, version=VERSION, plural="partitionreassignments", kind="PartitionReassignment"
)
BROKER_SETS: Final = Resource(group=GROUP, version=VERSION, plural="brokersets", kind="BrokerSet")

PODS: Final = Resource(group="", version="v1", plural="pods", kind="Pod")
NODES: Final = Resource(group="", version="v1", plural="nodes", kind="Node", is_namespaced=False)
CONFIG_MAPS: Final = Resource(group="", version="v1", plural="configmaps", kind="ConfigMap")
SERVICES: Final = Resource(group="", version="v1", plural="services", kind="Service")
SERVICE_ACCOUNTS: Final = Resource(
    group="", version="v1", plural="serviceaccounts", kind="ServiceAccount"
)
PERSISTENT_VOLUME_CLAIMS: Final = Resource(
    group="", version="v1", plural="persistentvolumeclaims", kind="PersistentVolumeClaim"
)
EVENTS: Final = Resource(group="events.k8s.io", version="v1", plural="events", kind="Event")
STATEFUL_SETS: Final = Resource(
    group="apps", version="v1", plural="statefulsets", kind="StatefulSet"
)
POD_DISRUPTION_BUDGETS: Final = Resource(
    group="policy", version="v1", plural="poddisruptionbudgets", kind="PodDisruptionBudget"
)
NETWORK_POLICIES: Final = Resource(
    group="networking.k8s.io", version="v1", plural="networkpolicies", kind="NetworkPolicy"
)
LEASES: Final = Resource(group="coordination.k8s.io", version="v1", plural="leases", kind="Lease")
SPARK_APPLICATIONS: Final = Resource(
    group="sparkoperator.k8s.io",
    version="v1beta2",
    plural="sparkapplications",
    kind="SparkApplication",
)
"""Kubeflow's; Apache's operator has a kind of the same name in another group."""
