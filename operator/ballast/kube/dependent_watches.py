"""Watches the objects that BrokerSets and reassignments depend on, and enqueues their owners.

Only metadata is watched: the reconciler reads the object itself. The API server selects by label,
except for Nodes, and for ConfigMaps, which users name as plans without a label of ours.

A namespace in which all kinds are listed needs no polling: what a reconciler read stays valid until
its BrokerSet is enqueued. A watch that had to list again may have missed a change, and enqueues all
BrokerSets.

These watches are not kopf's, although kopf watches BrokerSets and reassignments, because kopf
* watches whole objects, and plans are large: in a namespace with 100 ConfigMaps of 200 kB, kopf
  received 15.2 MB at the start and grew by 23 MB; metadata took 0.05 MB and 2 MB, for all kinds;
* does not report that a kind is listed completely, on which the absence of polling rests;
* runs only while the Lease is held, whereas every replica watches BrokerSets for its candidates.
The loop of list and watch is `api.watch` in both cases that are not kopf's.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from ballast.kube.api.ports import ChangeType, KubernetesApi
from ballast.kube.api.resources import (
    BROKER_SETS,
    CONFIG_MAPS,
    NETWORK_POLICIES,
    NODES,
    PARTITION_REASSIGNMENTS,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFUL_SETS,
    ObjectKey,
    Resource,
)
from ballast.kube.runtime.work_queue import WorkQueue
from ballast.reassign.generate.generation_names import REASSIGNMENT_LABEL

LABEL: Final = "ballast.dev/broker-set"
OWNED: Final = (
    PODS,
    STATEFUL_SETS,
    PERSISTENT_VOLUME_CLAIMS,
    SERVICES,
    SERVICE_ACCOUNTS,
    POD_DISRUPTION_BUDGETS,
    NETWORK_POLICIES,
)

Reassignments = Callable[[str, str], Iterable[ObjectKey]]
"""From namespace and ConfigMap to the reassignments whose plan is in it."""
BrokerSets = Callable[[], Iterable[ObjectKey]]


class DependentWatches:
    """Enqueues the owners of changed objects, in some namespaces (None = all)."""

    def __init__(
        self,
        api: KubernetesApi,
        queue: WorkQueue,
        namespaces: Sequence[str | None],
        *,
        reassignments: Reassignments,
        broker_sets: BrokerSets,
        is_watching_nodes: bool,
    ) -> None:
        self._api = api
        self._queue = queue
        self._namespaces = namespaces
        self._reassignments = reassignments
        self._broker_sets = broker_sets
        self._is_watching_nodes = is_watching_nodes
        self._listed: set[tuple[str | None, Resource]] = set()
        """Kinds that have been listed at least once, by the namespace that is watched."""

    def is_complete(self, namespace: str) -> bool:
        """Whether every change of a BrokerSet's children in the namespace now enqueues it."""
        watched = namespace if namespace in self._namespaces else None
        return all((watched, resource) in self._listed for resource in (*OWNED, CONFIG_MAPS))

    async def run(self) -> None:
        """Run until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for namespace in self._namespaces:
                for resource in OWNED:
                    tasks.create_task(self._watch(resource, namespace, LABEL))
                tasks.create_task(self._watch(CONFIG_MAPS, namespace, None))
            if self._is_watching_nodes:
                tasks.create_task(self._watch_nodes())

    async def _watch(self, resource: Resource, namespace: str | None, labels: str | None) -> None:
        changes = self._api.watch(resource, namespace, labels=labels, is_metadata_only=True)
        async for change in changes:
            if change.type is ChangeType.SYNCED:
                self._on_synced(resource, namespace)
            # Every reconciler reads the listed objects itself when it starts.
            if change.type not in (ChangeType.LISTED, ChangeType.SYNCED):
                self._enqueue_dependents(
                    change.document["metadata"], is_plan=resource == CONFIG_MAPS
                )

    def _on_synced(self, resource: Resource, namespace: str | None) -> None:
        if (namespace, resource) in self._listed:
            for key in self._broker_sets():
                if namespace in (None, key.namespace):
                    self._queue.enqueue(key)
        self._listed.add((namespace, resource))

    def _enqueue_dependents(self, metadata: Mapping[str, Any], is_plan: bool) -> None:
        namespace = metadata["namespace"]
        broker_set = metadata.get("labels", {}).get(LABEL)
        if broker_set:
            self._queue.enqueue(ObjectKey(BROKER_SETS.plural, namespace, broker_set))
        reassignment = metadata.get("labels", {}).get(REASSIGNMENT_LABEL)
        if reassignment:
            self._queue.enqueue(ObjectKey(PARTITION_REASSIGNMENTS.plural, namespace, reassignment))
        if is_plan:
            for key in self._reassignments(namespace, metadata["name"]):
                self._queue.enqueue(key)

    async def _watch_nodes(self) -> None:
        """Enqueue all BrokerSets when a node is added, removed, or gets other labels (its zone)."""
        labels_by_node: dict[str, object] = {}
        async for change in self._api.watch(NODES, None, is_metadata_only=True):
            if change.type is ChangeType.SYNCED:
                continue
            metadata = change.document["metadata"]
            is_deleted = change.type is ChangeType.DELETED
            labels = None if is_deleted else metadata.get("labels", {})
            was_known = metadata["name"] in labels_by_node
            previous = labels_by_node.pop(metadata["name"], None)
            if not is_deleted:
                labels_by_node[metadata["name"]] = labels
            if previous != labels and (was_known or change.type is not ChangeType.LISTED):
                for key in self._broker_sets():
                    self._queue.enqueue(key)
