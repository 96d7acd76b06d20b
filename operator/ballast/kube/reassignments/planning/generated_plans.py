"""The plan of an attempt in ConfigMaps: its chunks, and then its index.

The in-process engine writes them here; the Spark job writes the same. An index that exists names a
whole plan, or says why there is none.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from ballast.kube.api.errors import AlreadyExists, NotFound
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import CONFIG_MAPS, FIELD_MANAGER
from ballast.kube.reassignments.planning.plan_attempt import Attempt
from ballast.kube.runtime.planner_process import InfeasiblePlan, WrittenPlan
from ballast.reassign.generate.generation_names import (
    CHUNK_LABEL,
    INFEASIBLE_KEY,
    PLAN_LABEL,
    REASSIGNMENT_LABEL,
    SNAPSHOT_DIGEST_ANNOTATION,
    SNAPSHOT_LABEL,
    SUMMARY_KEY,
    plan_object,
)
from ballast.reassign.plan.index import (
    CHUNK_KEY,
    DIGEST_LABEL,
    INDEX_KEY,
    ChunkReference,
    PlanIndex,
)
from ballast.reassign.plan.plan import PLAN_FORMAT

_MANAGED: Final = {"app.kubernetes.io/managed-by": FIELD_MANAGER}
_SHOWN_OF_DIGEST: Final = 63
_MAX_DIGITS: Final = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredIndex:
    """The index of an attempt's plan."""

    name: str
    snapshot_digest: str
    """The digest of the snapshot that it was made from, as its writer says."""
    infeasible: str | None
    """JSON: why there is no plan; None = there is one."""
    summary: str
    """JSON: the summary of the plan, or empty."""


async def find_index(api: KubernetesApi, attempt: Attempt) -> StoredIndex | None:
    """Return the index of an attempt, None while there is none. Raises `KubernetesError`."""
    name = plan_object(attempt.plan)
    try:
        document = await api.get(CONFIG_MAPS, attempt.owner.namespace, name)
    except NotFound:
        return None
    if not attempt.owner.owns(document):
        return None
    data: Mapping[str, str] = document.get("data") or {}
    annotations: Mapping[str, str] = document["metadata"].get("annotations") or {}
    return StoredIndex(
        name=name,
        snapshot_digest=annotations.get(SNAPSHOT_DIGEST_ANNOTATION, ""),
        infeasible=data.get(INFEASIBLE_KEY),
        summary=data.get(SUMMARY_KEY, ""),
    )


async def last_attempt(api: KubernetesApi, owner: ReassignmentObject) -> int:
    """Return the number of the last attempt with stored objects; 0 = there is none.

    Used when the status was lost: an attempt with a plan must not be repeated. Raises
    `KubernetesError`.
    """
    found = await api.list(
        CONFIG_MAPS, owner.namespace, labels=f"{REASSIGNMENT_LABEL}={owner.name}"
    )
    labels = [one["metadata"]["labels"] for one in found if owner.owns(one)]
    words = [of.get(label, "") for of in labels for label in (PLAN_LABEL, SNAPSHOT_LABEL)]
    numbers = [int(word) for word in words if word.isdecimal() and len(word) <= _MAX_DIGITS]
    return max(numbers, default=0)


async def write_plan_chunks(
    api: KubernetesApi, attempt: Attempt, made: WrittenPlan | InfeasiblePlan, snapshot_digest: str
) -> None:
    """Store the result of an attempt, the index last. Raises `KubernetesError`.

    The same snapshot gives the same plan, so the objects that a killed writer left are the same.
    """
    if isinstance(made, InfeasiblePlan):
        data = {INFEASIBLE_KEY: msgspec.json.encode(made.infeasible).decode()}
        await _create(api, attempt, _document(attempt, None, snapshot_digest, {}, data))
        return
    index = _index(attempt, made)
    labels = {DIGEST_LABEL: made.digest.removeprefix("sha256:")[:_SHOWN_OF_DIGEST]}
    for number, chunk in enumerate(made.chunks):
        document = _document(attempt, number, snapshot_digest, labels)
        document["binaryData"] = {CHUNK_KEY: base64.b64encode(chunk.data).decode()}
        await _create(api, attempt, document)
    data = {INDEX_KEY: index.encode(), SUMMARY_KEY: msgspec.json.encode(made.summary).decode()}
    await _create(api, attempt, _document(attempt, None, snapshot_digest, labels, data))


async def delete_plan_chunks(api: KubernetesApi, attempt: Attempt) -> None:
    """Delete an attempt's plan, its index first. Raises `KubernetesError`."""
    labels = f"{REASSIGNMENT_LABEL}={attempt.owner.name},{PLAN_LABEL}={attempt.number}"
    found = await api.list(CONFIG_MAPS, attempt.owner.namespace, labels=labels)
    ours = [one["metadata"] for one in found if attempt.owner.owns(one)]
    # The name of the index is the beginning of the chunks' names.
    for metadata in sorted(ours, key=lambda one: str(one["name"])):
        try:
            await api.delete(
                CONFIG_MAPS, attempt.owner.namespace, metadata["name"], uid=metadata["uid"]
            )
        except NotFound:
            continue


def _index(attempt: Attempt, made: WrittenPlan) -> PlanIndex:
    return PlanIndex(
        format=PLAN_FORMAT,
        digest=made.digest,
        partitions=made.partitions,
        replica_moves=made.replica_moves,
        leader_changes=made.leader_changes,
        log_dir_moves=made.log_dir_moves,
        chunks=tuple(
            ChunkReference(
                name=plan_object(attempt.plan, number),
                digest=chunk.digest,
                stored_bytes=len(chunk.data),
                text_bytes=chunk.text_bytes,
                partitions=chunk.partitions,
            )
            for number, chunk in enumerate(made.chunks)
        ),
    )


async def _create(api: KubernetesApi, attempt: Attempt, document: dict[str, Any]) -> None:
    """Create an object, in place of one of the same name with other contents."""
    namespace, name = attempt.owner.namespace, document["metadata"]["name"]
    try:
        await api.create(CONFIG_MAPS, namespace, document)
    except AlreadyExists:
        there = await api.get(CONFIG_MAPS, namespace, name)
        if all(there.get(part) == document.get(part) for part in ("data", "binaryData")):
            return
        await api.delete(CONFIG_MAPS, namespace, name, uid=there["metadata"]["uid"])
        await api.create(CONFIG_MAPS, namespace, document)


def _document(
    attempt: Attempt,
    number: int | None,
    snapshot_digest: str,
    labels: Mapping[str, str],
    data: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    chunk = {} if number is None else {CHUNK_LABEL: str(number)}
    document: dict[str, Any] = {
        "metadata": {
            "name": plan_object(attempt.plan, number),
            "namespace": attempt.owner.namespace,
            "labels": {
                **_MANAGED,
                REASSIGNMENT_LABEL: attempt.owner.name,
                PLAN_LABEL: str(attempt.number),
                **chunk,
                **labels,
            },
            "annotations": {SNAPSHOT_DIGEST_ANNOTATION: snapshot_digest},
            "ownerReferences": [attempt.owner.owner_reference()],
        },
        "immutable": True,
    }
    if data is not None:
        document["data"] = dict(data)
    return document
