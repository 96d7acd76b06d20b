"""The bootstrap address of a BrokerSet's cluster, which runs here or elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ballast.brokersets import names
from ballast.kube.api.errors import NotFound
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.resources import BROKER_SETS, Document


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAddress:
    """One cluster, as its BrokerSet describes it."""

    bootstrap: str
    """``host:port[,…]``."""
    epoch: int | None
    """The controller epoch in the BrokerSet's status; None = unknown."""
    is_deleted: bool
    """Whether the BrokerSet is being deleted."""


async def find_cluster(
    api: KubernetesApi, namespace: str, name: str, cluster_domain: str
) -> ClusterAddress:
    """Return the address of a BrokerSet's cluster; raises `NotFound`, `KubernetesError`."""
    if not name:
        raise NotFound("no BrokerSet is named")
    return cluster_address(await api.get(BROKER_SETS, namespace, name), cluster_domain)


def cluster_address(document: Document, cluster_domain: str) -> ClusterAddress:
    """Return the address that a BrokerSet describes."""
    metadata = document["metadata"]
    spec: Mapping[str, Any] = document.get("spec") or {}
    controller = (document.get("status") or {}).get("controller") or {}
    epoch = controller.get("epoch")
    # The headless Service comes first: the one for clients has ready pods only, and a reassignment
    # must go on, and remove its throttle, while no pod is ready.
    name = metadata["name"]
    services = (names.brokers_service(name), names.bootstrap_service(name))
    managed = ",".join(
        f"{service}.{metadata['namespace']}.svc.{cluster_domain}:{names.CLIENT_PORT}"
        for service in services
    )
    return ClusterAddress(
        bootstrap=str(spec.get("bootstrapServers") or managed),
        epoch=epoch if isinstance(epoch, int) else None,
        is_deleted="deletionTimestamp" in metadata,
    )
