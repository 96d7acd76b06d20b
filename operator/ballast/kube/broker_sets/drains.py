"""Plans, stores and creates the reassignments of a broker set itself: drains and repairs.

A plan of up to `MAX_INLINE` partitions is part of the object. A larger one is written in chunks
before the object, so that a reader that finds the object finds the plan. The chunks belong to the
set at first, and to the reassignment once it exists.
"""

import asyncio
import base64
import logging
from collections.abc import Mapping
from typing import Any, Final

from ballast.brokersets import names
from ballast.brokersets.children.children import reassignment_document
from ballast.brokersets.children.resources import owner_reference
from ballast.brokersets.observation.observation import Purpose
from ballast.brokersets.observation.room import capacities, room_problem
from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.brokersets.steps.steps import CreateReassignment
from ballast.kube.api.errors import AlreadyExists, KubernetesError
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import (
    CONFIG_MAPS,
    PARTITION_REASSIGNMENTS,
    PERSISTENT_VOLUME_CLAIMS,
    Document,
)
from ballast.kube.broker_sets.kubernetes_views import volume_views
from ballast.kube.broker_sets.observe import BrokerSetObserver
from ballast.kube.broker_sets.replica_room import ReplicaRoom, read_room
from ballast.kube.runtime.context import ClosableAdmin, OperatorContext
from ballast.model.ids import TopicPartition
from ballast.planner.drain import drain_targets
from ballast.planner.errors import PlannerError
from ballast.planner.snapshot.collector import SnapshotCollector
from ballast.planner.snapshot.columns import ClusterColumns
from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry
from ballast.reassign.plan.chunks import ChunkedPlan, write_plan
from ballast.reassign.plan.index import CHUNK_KEY, DIGEST_LABEL, INDEX_KEY, object_name
from ballast.reassign.plan.plan import Plan
from ballast.reassign.ports import ClusterView
from ballast.reassign.spec.plan_manifest import MAX_INLINE_ASSIGNMENTS

log = logging.getLogger(__name__)

MAX_INLINE: Final = MAX_INLINE_ASSIGNMENTS
MAX_PARTITIONS: Final = 50_000
"""Of one reassignment: what is left goes with the next one."""

Targets = Mapping[TopicPartition, tuple[int, ...]]


class PlanInfeasible(Exception):
    """The reassignment cannot be planned as the cluster is now; the text says why."""


async def create_reassignment(
    operator: OperatorContext,
    reader: BrokerSetObserver,
    spec: BrokerSetSpec,
    step: CreateReassignment,
) -> None:
    """Plan the reassignment of a step and create it; a share for new brokers is planned there.

    Raises `PlanInfeasible`, `ClusterUnavailable` and `KubernetesError`.
    """
    if step.purpose is Purpose.REBALANCE:
        share = {"strategy": "AddBrokers", "brokerIds": list(step.broker_ids)}
        await _create(operator.api, spec, reassignment_document(spec, step, {"generate": share}))
        return
    if reader.admin is None:
        raise PlanInfeasible("no broker answers")
    plan = await _plan(operator.api, reader.admin, spec, step)
    if len(plan.moves) <= MAX_INLINE:
        document = reassignment_document(spec, step, {"assignments": _inline(plan)})
        await _create(operator.api, spec, document)
        return
    chunked = write_plan(plan.moves)
    name = object_name(step.name, chunked.summary.digest)
    owner = owner_reference(spec)
    for stored in _objects(spec, step.name, chunked, owner):
        await operator.api.apply(
            CONFIG_MAPS, spec.identity.namespace, stored["metadata"]["name"], stored
        )
    reference = {"configMapRef": {"name": name, "key": INDEX_KEY}}
    created = await _create(operator.api, spec, reassignment_document(spec, step, reference))
    if created is not None:
        await _hand_over(operator.api, spec, chunked, ReassignmentObject(document=created))


async def _plan(
    api: KubernetesApi, admin: ClosableAdmin, spec: BrokerSetSpec, step: CreateReassignment
) -> Plan:
    """Return the moves, from the cluster as it is now: bytes count, and room on volumes.

    What is being reassigned is left for the next time: where it will be is not settled.
    """
    pending = dict(await admin.list_reassignments())
    view = await admin.describe_cluster()
    # Once more: what began between the two is seen with all its replicas, old and new.
    pending |= await admin.list_reassignments()
    room = await read_room(admin, view, pending)
    current = {tp: seen.replicas for tp, seen in view.partitions.items()}
    wanted = frozenset(step.broker_ids)
    try:
        moved = {tp: assignment.target_replicas for tp, assignment in pending.items()}
        snapshot = snapshot_of(view, wanted | step.excluded, moved, room.bytes_of)
        targets = await asyncio.to_thread(drain_targets, snapshot, wanted)
    except PlannerError as error:
        raise PlanInfeasible(str(error)) from error
    chosen = [tp for tp in sorted(targets) if tp not in pending and targets[tp] != current[tp]]
    if not chosen:
        raise PlanInfeasible("all that is to move is being reassigned: waiting for its end")
    plan = Plan.of({tp: targets[tp] for tp in chosen[:MAX_PARTITIONS]}, current)
    lacking = room_problem(room.held, _coming(plan, room), await _capacities(api, spec))
    if lacking:
        raise PlanInfeasible(lacking)
    return plan


def _coming(plan: Plan, room: ReplicaRoom) -> dict[int, int]:
    """Return the bytes that each broker gets."""
    coming: dict[int, int] = {}
    for move in plan.moves:
        for broker in move.adding:
            coming[broker] = coming.get(broker, 0) + room.size(move.topic_partition)
    return coming


async def _capacities(api: KubernetesApi, spec: BrokerSetSpec) -> dict[int, int]:
    labels = f"{names.SET_LABEL}={spec.identity.name}"
    claims = await api.list(PERSISTENT_VOLUME_CLAIMS, spec.identity.namespace, labels=labels)
    return capacities(spec, volume_views(spec.identity.name, claims))


def snapshot_of(
    view: ClusterView,
    cordoned: frozenset[int],
    moved: Targets,
    bytes_of: Mapping[TopicPartition, int] | None = None,
) -> ClusterColumns:
    """Return the cluster as it will be when what is ``moved`` now has arrived.

    ``bytes_of`` are the sizes of a replica of each partition, where they are known.
    Brokers that are not alive are cordoned too. A topic that is not shown whole is left out: it is
    just being made, or deleted.
    """
    live = {broker.broker_id: broker.rack for broker in view.brokers}
    ids = {*live, *(i for seen in view.partitions.values() for i in seen.replicas)}
    collector = SnapshotCollector(
        [
            BrokerEntry(
                id=broker_id,
                rack=live.get(broker_id),
                cordoned=broker_id in cordoned or broker_id not in live,
            )
            for broker_id in sorted(ids)
        ]
    )
    topics: dict[str, dict[int, tuple[int, ...]]] = {}
    for tp in sorted(view.partitions):
        replicas = moved.get(tp, view.partitions[tp].replicas)
        topics.setdefault(tp.topic, {})[tp.partition] = replicas
    for topic, partitions in topics.items():
        if max(partitions) == len(partitions) - 1:
            entry = TopicEntry(topic=topic, replicas=[list(ids) for ids in partitions.values()])
            if bytes_of:
                entry.bytes = [bytes_of.get(TopicPartition(topic, n), 0) for n in partitions]
            collector.add(entry, topic)
    return collector.columns()


def _inline(plan: Plan) -> list[dict[str, Any]]:
    return [
        {
            "topic": move.topic_partition.topic,
            "partition": move.topic_partition.partition,
            "replicas": list(move.target),
        }
        for move in plan.moves
    ]


async def _create(api: KubernetesApi, spec: BrokerSetSpec, document: Document) -> Document | None:
    """Create the reassignment; None when one of its name is there: it is seen at the next look."""
    try:
        return await api.create(PARTITION_REASSIGNMENTS, spec.identity.namespace, document)
    except AlreadyExists:
        log.info("the reassignment %s is there already", document["metadata"]["name"])
        return None


def _objects(
    spec: BrokerSetSpec, name: str, chunked: ChunkedPlan, owner: Mapping[str, Any]
) -> list[Document]:
    """Return the ConfigMaps of a plan, the index last."""
    index = chunked.index(name)
    metadata = {
        "labels": {
            **names.selector_labels(spec.identity.name),
            "app.kubernetes.io/managed-by": "ballast-operator",
            DIGEST_LABEL: index.digest.removeprefix("sha256:")[:63],
        },
        "ownerReferences": [dict(owner)],
    }
    chunks = [
        {
            "metadata": {**metadata, "name": reference.name},
            "immutable": True,
            "binaryData": {CHUNK_KEY: base64.b64encode(chunk.data).decode()},
        }
        for reference, chunk in zip(index.chunks, chunked.chunks, strict=True)
    ]
    last = {
        "metadata": {**metadata, "name": object_name(name, index.digest)},
        "immutable": True,
        "data": {INDEX_KEY: index.encode()},
    }
    return [*chunks, last]


async def _hand_over(
    api: KubernetesApi, spec: BrokerSetSpec, chunked: ChunkedPlan, created: ReassignmentObject
) -> None:
    """Have the plan go with its reassignment; if that fails it goes with the set."""
    owner = {**created.owner_reference(), "blockOwnerDeletion": False}
    try:
        for stored in _objects(spec, created.name, chunked, owner):
            await api.apply(
                CONFIG_MAPS, spec.identity.namespace, stored["metadata"]["name"], stored
            )
    except KubernetesError as error:
        log.warning("the plan of %s is kept until its set goes: %s", created.name, error)
