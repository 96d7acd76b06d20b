"""Where the cluster of a BrokerSet is reached: one that runs here, or one that runs elsewhere."""

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
    """Of its controller, as the BrokerSet's status shows it; None = not known."""
    is_deleted: bool
    """Whether the BrokerSet is being deleted."""


async def find_cluster(
    api: KubernetesApi, namespace: str, name: str, cluster_domain: str
) -> ClusterAddress:
    """Return where a broker set's cluster is. Raises `NotFound` and other `KubernetesError`."""
    if not name:
        raise NotFound("no BrokerSet is named")
    return cluster_address(await api.get(BROKER_SETS, namespace, name), cluster_domain)


def cluster_address(document: Document, cluster_domain: str) -> ClusterAddress:
    """Return where the cluster of a BrokerSet is."""
    metadata = document["metadata"]
    spec: Mapping[str, Any] = document.get("spec") or {}
    controller = (document.get("status") or {}).get("controller") or {}
    epoch = controller.get("epoch")
    # The headless Service first: the one for clients has ready pods only, and a move must go on,
    # and give its throttle back, while every gate is shut.
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
