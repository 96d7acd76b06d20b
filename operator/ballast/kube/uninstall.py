"""Steps of an uninstallation: check that nothing moves before it, remove finalizers after it.

Without the operator, an object with one of its finalizers could not be deleted. Nothing else is
changed: an operator that is installed later adds its finalizers again and continues.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ballast.kube.api.errors import ApiUnavailable, Conflict, NotFound
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import (
    BROKER_SETS,
    GROUP,
    PARTITION_REASSIGNMENTS,
    PODS,
    Document,
    Resource,
)
from ballast.reassign.ports import Clock

log = logging.getLogger(__name__)

OPERATOR_POLL_S: Final = 1.0
OPERATOR_TIMEOUT_S: Final = 90.0
"""Longer than the termination of the operator's pods takes."""
MAX_ATTEMPTS: Final = 5
"""For one object that others keep changing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorPods:
    """Namespace and labels of the operator's pods."""

    namespace: str
    labels: str


async def wait_for_end(api: KubernetesApi, clock: Clock, pods: OperatorPods) -> bool:
    """Return True when the operator's pods have ended, False after `OPERATOR_TIMEOUT_S`.

    A running operator would add every removed finalizer again.
    """
    until = clock.now() + OPERATOR_TIMEOUT_S
    while await api.list(PODS, pods.namespace, labels=pods.labels):
        if clock.now() >= until:
            return False
        await clock.sleep(OPERATOR_POLL_S)
    return True


async def moves_under_way(
    api: KubernetesApi, namespaces: Sequence[str | None]
) -> Sequence[tuple[str, str]]:
    """Return namespace and name of the reassignments that have begun and not ended.

    Without an operator they never end, and their throttles stay in the cluster. Raises
    `KubernetesError`.
    """
    reassignments = [
        ReassignmentObject(document=document)
        for namespace in namespaces
        for document in await _list_objects(api, PARTITION_REASSIGNMENTS, namespace)
    ]
    return sorted(
        (reassignment.namespace, reassignment.name)
        for reassignment in reassignments
        if reassignment.has_finalizer and not reassignment.is_settled
    )


async def remove_finalizers(api: KubernetesApi, namespaces: Sequence[str | None]) -> int:
    """Remove the operator's finalizers from all objects in the namespaces (None: in all).

    Returns the number of objects that had one; raises `KubernetesError`.
    """
    count = 0
    for resource in (PARTITION_REASSIGNMENTS, BROKER_SETS):
        for namespace in namespaces:
            for document in await _list_objects(api, resource, namespace):
                count += await _remove_from(api, resource, document)
    return count


async def _list_objects(
    api: KubernetesApi, resource: Resource, namespace: str | None
) -> Sequence[Document]:
    try:
        return await api.list(resource, namespace)
    except NotFound:
        return ()  # The CRDs have been deleted.


async def _remove_from(api: KubernetesApi, resource: Resource, document: Document) -> bool:
    """Remove the finalizers of one object; return whether it had any."""
    metadata = document["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    for _ in range(MAX_ATTEMPTS):
        finalizers = metadata.get("finalizers", [])
        others = [finalizer for finalizer in finalizers if not finalizer.startswith(f"{GROUP}/")]
        if others == finalizers:
            return False
        change = {"resourceVersion": metadata["resourceVersion"], "finalizers": others}
        try:
            await api.patch(resource, namespace, name, {"metadata": change})
        except Conflict:
            metadata = await _read_metadata(api, resource, namespace, name)
        except NotFound:
            return False
        else:
            log.info("removed the finalizers of %s %s/%s", resource.kind, namespace, name)
            return True
    raise ApiUnavailable(f"{resource.kind} {namespace}/{name} keeps changing")


async def _read_metadata(
    api: KubernetesApi, resource: Resource, namespace: str, name: str
) -> Document:
    """Return the current metadata of the object, empty if it has been deleted."""
    try:
        metadata: Document = (await api.get(resource, namespace, name))["metadata"]
    except NotFound:
        return {}
    return metadata
