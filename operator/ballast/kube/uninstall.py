"""What must happen around an uninstallation: nothing moves before it, and finalizers go after it.

An object with a finalizer of an operator that is no more could never be deleted. Nothing else is
changed: an operator that is installed later puts its finalizers on again and goes on.
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
"""Longer than the operator's pods take to end."""
MAX_ATTEMPTS: Final = 5
"""At one object that others keep changing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorPods:
    """Where the operator's pods are, and by which labels they are known."""

    namespace: str
    labels: str


async def wait_for_end(api: KubernetesApi, clock: Clock, pods: OperatorPods) -> bool:
    """Return whether the operator's pods are gone; False after `OPERATOR_TIMEOUT_S`.

    While one lives it puts back every finalizer that is taken off.
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

    Without an operator nobody ends them, and the throttles that they have set stay in the cluster.
    Raises `KubernetesError`.
    """
    found = [
        ReassignmentObject(document=document)
        for namespace in namespaces
        for document in await _existing(api, PARTITION_REASSIGNMENTS, namespace)
    ]
    return sorted(
        (seen.namespace, seen.name) for seen in found if seen.has_finalizer and not seen.is_settled
    )


async def remove_finalizers(api: KubernetesApi, namespaces: Sequence[str | None]) -> int:
    """Take the operator's finalizers off everything in the namespaces (None: in all).

    Returns how many objects had one; raises `KubernetesError`.
    """
    count = 0
    for resource in (PARTITION_REASSIGNMENTS, BROKER_SETS):
        for namespace in namespaces:
            for document in await _existing(api, resource, namespace):
                count += await _release(api, resource, document)
    return count


async def _existing(
    api: KubernetesApi, resource: Resource, namespace: str | None
) -> Sequence[Document]:
    try:
        return await api.list(resource, namespace)
    except NotFound:
        return ()  # The kinds themselves have been deleted.


async def _release(api: KubernetesApi, resource: Resource, document: Document) -> bool:
    """Take the finalizers off one object; return whether it had any."""
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
            metadata = await _again(api, resource, namespace, name)
        except NotFound:
            return False
        else:
            log.info("took the finalizers off %s %s/%s", resource.kind, namespace, name)
            return True
    raise ApiUnavailable(f"{resource.kind} {namespace}/{name} keeps changing")


async def _again(api: KubernetesApi, resource: Resource, namespace: str, name: str) -> Document:
    """Return the object's metadata as it is now, empty when it is gone."""
    try:
        metadata: Document = (await api.get(resource, namespace, name))["metadata"]
    except NotFound:
        return {}
    return metadata
