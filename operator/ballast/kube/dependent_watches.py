"""Watches what BrokerSets are made of, and wakes whom a change concerns.

Only metadata is asked for: what is there is read by whoever is woken. The API server selects by
label, but for ConfigMaps, which users name as plans without a label of ours, and for Nodes.

A namespace in which all kinds are followed needs no polling: what was read there stays true until
its BrokerSet is woken. A watch that had to list again may have missed something, and wakes all.
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
    """WorkQueue objects because of changes of others, in some namespaces (None = all)."""

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
        self._followed: set[tuple[str | None, Resource]] = set()
        """What has been listed once, by namespace as it was asked for."""

    def is_complete(self, namespace: str) -> bool:
        """Whether each change of what a BrokerSet of the namespace is made of wakes it by now."""
        asked = namespace if namespace in self._namespaces else None
        return all((asked, resource) in self._followed for resource in (*OWNED, CONFIG_MAPS))

    async def run(self) -> None:
        """Run until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for namespace in self._namespaces:
                for resource in OWNED:
                    tasks.create_task(self._follow(resource, namespace, LABEL))
                tasks.create_task(self._follow(CONFIG_MAPS, namespace, None))
            if self._is_watching_nodes:
                tasks.create_task(self._follow_nodes())

    async def _follow(self, resource: Resource, namespace: str | None, labels: str | None) -> None:
        changes = self._api.watch(resource, namespace, labels=labels, is_metadata_only=True)
        async for change in changes:
            if change.type is ChangeType.SYNCED:
                self._synced(resource, namespace)
            # What is there at the beginning is read by every reconciler when it begins.
            if change.type not in (ChangeType.LISTED, ChangeType.SYNCED):
                self._wake(change.document["metadata"], is_plan=resource == CONFIG_MAPS)

    def _synced(self, resource: Resource, namespace: str | None) -> None:
        if (namespace, resource) in self._followed:
            for key in self._broker_sets():
                if namespace in (None, key.namespace):
                    self._queue.enqueue(key)
        self._followed.add((namespace, resource))

    def _wake(self, metadata: Mapping[str, Any], is_plan: bool) -> None:
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

    async def _follow_nodes(self) -> None:
        """Wake all BrokerSets when a node comes, goes, or gets other labels (such as its zone)."""
        seen: dict[str, object] = {}
        async for change in self._api.watch(NODES, None, is_metadata_only=True):
            if change.type is ChangeType.SYNCED:
                continue
            metadata = change.document["metadata"]
            is_gone = change.type is ChangeType.DELETED
            labels = None if is_gone else metadata.get("labels", {})
            was_known = metadata["name"] in seen
            before = seen.pop(metadata["name"], None)
            if not is_gone:
                seen[metadata["name"]] = labels
            if before != labels and (was_known or change.type is not ChangeType.LISTED):
                for key in self._broker_sets():
                    self._queue.enqueue(key)
