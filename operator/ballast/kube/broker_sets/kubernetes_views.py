"""What a broker set's core sees of Kubernetes' objects: documents in, values out.

Documents are read without trust: a field that is missing or of another kind reads as not there.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ballast.brokersets import names
from ballast.brokersets.observation.observation import (
    GateView,
    PodView,
    Purpose,
    ReassignmentView,
    StatefulSetView,
    VolumeView,
)
from ballast.brokersets.observation.volumes import FAILED, PENDING
from ballast.kube.api.reassignment_object import milliseconds
from ballast.kube.api.resources import Document

_ON_THE_WAY: Final = frozenset({"ContainerCreating", "PodInitializing"})
"""Reasons of a waiting container that say no more than that it is about to run."""


def stateful_set_view(document: Document) -> StatefulSetView:
    """Return a StatefulSet as it is."""
    spec, status = _part(document, "spec"), _part(document, "status")
    strategy = _part(spec, "updateStrategy")
    is_rolling = strategy.get("type", "RollingUpdate") == "RollingUpdate"
    partition = _part(strategy, "rollingUpdate").get("partition", 0)
    claims = [item for item in spec.get("volumeClaimTemplates") or () if isinstance(item, Mapping)]
    sizes = [_requested(claim) for claim in claims]
    return StatefulSetView(
        replicas=int(spec.get("replicas", 1)),
        current_revision=str(status.get("currentRevision", "")),
        update_revision=str(status.get("updateRevision", "")),
        partition=int(partition) if is_rolling else None,
        storage_size=next((size for size in sizes if size), None),
    )


def pod_views(name: str, documents: Iterable[Document]) -> tuple[PodView, ...]:
    """Return the pods of a set's StatefulSet, by ordinal; others are left out."""
    views = []
    for document in documents:
        ordinal = _ordinal(f"{names.stateful_set(name)}-", document)
        if ordinal is not None:
            views.append(_pod_view(document, ordinal))
    return tuple(sorted(views, key=lambda view: view.ordinal))


def volume_views(name: str, documents: Iterable[Document]) -> tuple[VolumeView, ...]:
    """Return the claims of a set's brokers, by ordinal; those that are being deleted left out."""
    views = []
    for document in documents:
        ordinal = _ordinal(f"{names.DATA_VOLUME}-{names.stateful_set(name)}-", document)
        if ordinal is not None and "deletionTimestamp" not in document["metadata"]:
            views.append(_volume_view(document, ordinal))
    return tuple(sorted(views, key=lambda view: view.ordinal))


def _volume_view(document: Document, ordinal: int) -> VolumeView:
    status = document.get("status") or {}
    growth = {
        condition.get("type"): str(condition.get("message") or "")
        for condition in status.get("conditions") or ()
        if condition.get("status") == "True"
    }
    known = next((kind for kind in (*FAILED, PENDING) if kind in growth), "")
    return VolumeView(
        name=document["metadata"]["name"],
        ordinal=ordinal,
        requested=_requested(document),
        capacity=str((status.get("capacity") or {}).get("storage", "")),
        resize_condition=known,
        resize_message=growth.get(known, ""),
    )


def reassignment_views(uid: str, documents: Iterable[Document]) -> tuple[ReassignmentView, ...]:
    """Return the reassignments that the set of this uid has made for itself, by name."""
    views = []
    for document in documents:
        owners = document["metadata"].get("ownerReferences") or ()
        purpose = _labels(document).get(names.PURPOSE_LABEL)
        if any(owner.get("uid") == uid for owner in owners) and purpose in _PURPOSES:
            views.append(_reassignment_view(document, Purpose(purpose)))
    return tuple(sorted(views, key=lambda view: view.name))


def applied_digests(documents: Iterable[Document]) -> dict[tuple[str, str], str]:
    """Return what was last applied to each object, by kind and name."""
    return {
        (str(document.get("kind")), str(document["metadata"]["name"])): str(
            _annotations(document).get(names.DIGEST_ANNOTATION, "")
        )
        for document in documents
    }


def held_pods(name: str, documents: Iterable[Document]) -> frozenset[str]:
    """Return the pods that the disruption budget of held pods covers."""
    return frozenset(
        str(pod)
        for document in documents
        if document["metadata"]["name"] == names.held_budget(name)
        for expression in _part(_part(document, "spec"), "selector").get("matchExpressions") or ()
        for pod in expression.get("values") or ()
    )


_PURPOSES: Final = frozenset(str(purpose) for purpose in Purpose)


def _pod_view(document: Document, ordinal: int) -> PodView:
    metadata, status = document["metadata"], _part(document, "status")
    conditions = {
        str(condition.get("type")): condition
        for condition in status.get("conditions") or ()
        if isinstance(condition, Mapping)
    }
    container = _container(status)
    reason, message = _waiting(_part(container, "state"), conditions)
    return PodView(
        name=metadata["name"],
        uid=metadata["uid"],
        ordinal=ordinal,
        revision=str(_labels(document).get("controller-revision-hash", "")),
        node=_part(document, "spec").get("nodeName"),
        phase=str(status.get("phase", "Pending")),
        is_ready=_is_true(conditions, "Ready"),
        containers_ready=_is_true(conditions, "ContainersReady"),
        container_id=_running_id(container),
        waiting_reason=reason,
        waiting_message=message,
        is_terminating="deletionTimestamp" in metadata,
        gate=_gate(conditions.get(names.GATE)),
    )


def _container(status: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the status of the broker's container."""
    for container in status.get("containerStatuses") or ():
        if isinstance(container, Mapping) and container.get("name") == "broker":
            return container
    return {}


def _running_id(container: Mapping[str, Any]) -> str:
    """Return the id of a container that runs: ``containerd://5e1f`` is ``5e1f``."""
    is_running = "running" in _part(container, "state")
    return str(container.get("containerID", "")).rpartition("//")[2] if is_running else ""


def _waiting(
    state: Mapping[str, Any], conditions: Mapping[str, Mapping[str, Any]]
) -> tuple[str | None, str]:
    for field in ("waiting", "terminated"):
        why = _part(state, field)
        reason = why.get("reason")
        if reason and reason not in _ON_THE_WAY:
            return str(reason), str(why.get("message", ""))
    scheduled = conditions.get("PodScheduled", {})
    if scheduled.get("status") == "False":
        return str(scheduled.get("reason", "Unschedulable")), str(scheduled.get("message", ""))
    return None, ""


def _gate(condition: Mapping[str, Any] | None) -> GateView | None:
    if condition is None:
        return None
    return GateView(
        is_true=condition.get("status") == "True",
        reason=str(condition.get("reason", "")),
        message=str(condition.get("message", "")),
    )


def _reassignment_view(document: Document, purpose: Purpose) -> ReassignmentView:
    status, annotations = _part(document, "status"), _annotations(document)
    succeeded: Mapping[str, Any] = next(
        (
            condition
            for condition in status.get("conditions") or ()
            if isinstance(condition, Mapping) and condition.get("type") == "Succeeded"
        ),
        {},
    )
    ids = str(annotations.get(names.BROKER_IDS_ANNOTATION, "")).split(",")
    return ReassignmentView(
        name=document["metadata"]["name"],
        purpose=purpose,
        broker_ids=frozenset(int(text) for text in ids if text.isascii() and text.isdecimal()),
        state=str(succeeded.get("reason", "Pending")),
        message=str(succeeded.get("message", "")),
        is_final=succeeded.get("status") in ("True", "False"),
        completion_ms=milliseconds(status.get("completionTime")),
        is_withdrawn=names.WITHDRAWN_ANNOTATION in annotations,
        is_terminating="deletionTimestamp" in document["metadata"],
    )


def _ordinal(prefix: str, document: Document) -> int | None:
    """Return the number behind the prefix in an object's name; None when it is named otherwise."""
    name = str(document["metadata"]["name"])
    number = name.removeprefix(prefix)
    is_one = name.startswith(prefix) and number.isascii() and number.isdecimal()
    return int(number) if is_one and len(number) <= 6 else None


def _requested(claim: Mapping[str, Any]) -> str:
    """Return ``spec.resources.requests.storage``, or an empty string."""
    resources = _part(_part(claim, "spec"), "resources")
    return str(_part(resources, "requests").get("storage", ""))


def _is_true(conditions: Mapping[str, Mapping[str, Any]], condition_type: str) -> bool:
    return conditions.get(condition_type, {}).get("status") == "True"


def _labels(document: Document) -> Mapping[str, Any]:
    return _part(document["metadata"], "labels")


def _annotations(document: Document) -> Mapping[str, Any]:
    return _part(document["metadata"], "annotations")


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a nested mapping, empty when it is not there."""
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}
