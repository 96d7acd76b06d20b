"""Reads the observation for a BrokerSet's decision from Kubernetes and the brokers."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ballast.brokersets import names
from ballast.brokersets.observation.observation import Cluster, Observation, PodView
from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.kube.api.errors import Forbidden, NotFound
from ballast.kube.api.resources import (
    CONFIG_MAPS,
    NETWORK_POLICIES,
    PARTITION_REASSIGNMENTS,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFUL_SETS,
    Document,
    ObjectKey,
    Resource,
)
from ballast.kube.broker_sets.cluster_view import ClusterReader, controller_of
from ballast.kube.broker_sets.kubernetes_views import (
    applied_digests,
    held_pods,
    pod_views,
    reassignment_views,
    stateful_set_view,
    volume_views,
)
from ballast.kube.broker_sets.node_topology import NodeRacks
from ballast.kube.runtime.context import ClosableAdmin, OperatorContext

APPLIED: Final = (
    STATEFUL_SETS,
    SERVICES,
    CONFIG_MAPS,
    SERVICE_ACCOUNTS,
    POD_DISRUPTION_BUDGETS,
    NETWORK_POLICIES,
)
"""Kinds of objects that are made from a set's spec."""
SPARED: Final = tuple(resource for resource in APPLIED if resource != STATEFUL_SETS)
"""Kinds that may be unreadable, for want of rights: the set is reconciled without them."""
_SEEN: Final = (*APPLIED, PODS, PERSISTENT_VOLUME_CLAIMS, PARTITION_REASSIGNMENTS)


class BadBootstrapServers(Exception):
    """``bootstrapServers`` that no client can use."""


class BrokerSetObserver:
    """Observes one broker set. It keeps connections to the brokers."""

    def __init__(self, operator: OperatorContext, key: ObjectKey) -> None:
        self._operator = operator
        self._key = key
        self._bootstrap = ""
        self._admin: ClosableAdmin | None = None
        self._cluster: ClusterReader | None = None
        self._nodes = NodeRacks(operator.api, operator.clock)
        self._unread: dict[str, str] = {}
        """Kinds that could not be listed in the last observation, and why."""

    @property
    def admin(self) -> ClosableAdmin | None:
        """The brokers' admin API; None before the first observation, and without an address."""
        return self._admin

    @property
    def cluster(self) -> ClusterReader | None:
        """The reader of the brokers' cluster, with its last view; None as for `admin`."""
        return self._cluster

    @property
    def refusals(self) -> Sequence[str]:
        """What could not be read in the last observation, and why; for people."""
        return tuple(self._unread.values())

    async def close(self) -> None:
        """Close every connection."""
        admin, self._admin, self._cluster, self._bootstrap = self._admin, None, None, ""
        if admin is not None:
            await admin.close()

    async def observe(self, spec: BrokerSetSpec, *, last: Observation | None = None) -> Observation:
        """Return the observation.

        ``last`` is the last observation, if Kubernetes' objects are known to be as they were: then
        only the brokers are asked. Raises `KubernetesError` and `BadBootstrapServers`.
        """
        if spec.is_external:
            cluster = await self._read_cluster(spec, str(spec.bootstrap_servers))
            seen = controller_of(self._cluster.view if self._cluster else None)
            error = self._cluster.error if self._cluster is not None else ""
            return Observation(cluster=cluster, controller=seen, cluster_error=error)
        if last is not None:
            return await self._observe_cluster(spec, last)
        documents = await self._read_objects()
        name = spec.identity.name
        pods = pod_views(name, documents[PODS])
        candidate = self._operator.candidate_of(self._key)
        return Observation(
            stateful_set=next(
                (
                    stateful_set_view(document)
                    for document in documents[STATEFUL_SETS]
                    if document["metadata"]["name"] == names.stateful_set(name)
                ),
                None,
            ),
            pods=pods,
            cluster=await self._managed_cluster(
                spec, is_anyone_up=any(pod.containers_ready for pod in pods)
            ),
            cluster_error=self._cluster.error if self._cluster is not None else "",
            controller=candidate.controller,
            zookeeper=candidate.zookeeper,
            racks=await self._racks(spec, pods),
            volumes=volume_views(name, documents[PERSISTENT_VOLUME_CLAIMS]),
            reassignments=reassignment_views(spec.identity.uid, documents[PARTITION_REASSIGNMENTS]),
            unread=frozenset(self._unread),
            held_pods=held_pods(name, documents[POD_DISRUPTION_BUDGETS]),
            applied=applied_digests(
                document for resource in APPLIED for document in documents[resource]
            ),
        )

    async def _observe_cluster(self, spec: BrokerSetSpec, last: Observation) -> Observation:
        is_anyone_up = any(pod.containers_ready for pod in last.pods)
        cluster = await self._managed_cluster(spec, is_anyone_up=is_anyone_up)
        candidate = self._operator.candidate_of(self._key)
        return replace(
            last,
            cluster=cluster,
            cluster_error=self._cluster.error if self._cluster is not None else "",
            controller=candidate.controller,
            zookeeper=candidate.zookeeper,
        )

    async def _read_objects(self) -> Mapping[Resource, Sequence[Document]]:
        """Return the objects with the set's label, all kinds at once."""
        labels = f"{names.SET_LABEL}={self._key.name}"
        # Not a TaskGroup: one that fails as it is left leaves the task marked as being cancelled
        # (Python < 3.13), and what comes after it takes that for the truth, as Python's own
        # timeouts do before 3.11.3.
        self._unread = {}
        answers = await asyncio.gather(
            *(
                self._operator.api.list(resource, self._key.namespace, labels=labels)
                for resource in _SEEN
            ),
            return_exceptions=True,
        )
        documents: dict[Resource, Sequence[Document]] = {}
        for resource, answer in zip(_SEEN, answers, strict=True):
            if isinstance(answer, Forbidden | NotFound) and resource in SPARED:
                self._unread[resource.kind] = f"list {resource.plural}: {answer}"
                documents[resource] = ()
            elif isinstance(answer, BaseException):
                raise answer
            else:
                documents[resource] = answer
        return documents

    async def _racks(
        self, spec: BrokerSetSpec, pods: Sequence[PodView]
    ) -> Mapping[str, str] | None:
        if spec.rack_topology_key is None:
            return None
        nodes = [pod.node for pod in pods if pod.node is not None]
        return await self._nodes.read(spec.rack_topology_key, nodes)

    async def _managed_cluster(self, spec: BrokerSetSpec, *, is_anyone_up: bool) -> Cluster | None:
        """Ask the brokers once one of them runs: before that each request would time out."""
        if not is_anyone_up:
            return None
        # The headless Service, not the one for clients: that one knows ready pods only, and pods
        # become ready by what is read here.
        service = names.brokers_service(spec.identity.name)
        host = f"{service}.{self._key.namespace}.svc.{self._operator.cluster_domain}"
        return await self._read_cluster(spec, f"{host}:{names.CLIENT_PORT}")

    async def _read_cluster(self, spec: BrokerSetSpec, bootstrap: str) -> Cluster | None:
        if bootstrap != self._bootstrap:
            await self.close()
        if self._cluster is None:
            try:
                self._admin = self._operator.admin_for(bootstrap)
            except ValueError as error:
                raise BadBootstrapServers(str(error)) from error
            self._cluster = ClusterReader(self._admin, self._operator.clock)
            self._bootstrap = bootstrap
        return await self._cluster.read(spec)
