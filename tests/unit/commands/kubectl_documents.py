"""Documents as the API server has them, for the tests of ``kubectl ballast``."""

import base64
import gzip
import json
from collections.abc import Mapping

from ballast.cli.kubectl.client import Document
from ballast.cli.kubectl.plan import STATE_KEY
from ballast.model.ids import TopicPartition
from ballast.reassign.plan.chunks import ChunkedPlan, write_plan
from ballast.reassign.plan.plan import Plan
from ballast.reassign.state.persisted_state import PersistedState

PLAN = Plan.of(
    {TopicPartition("orders", 0): (1, 2), TopicPartition("orders", 1): (2, 1)},
    {TopicPartition("orders", 0): (3, 2), TopicPartition("orders", 1): (3, 1)},
)
UID = "0f5b6f0c-0000-4000-8000-000000000001"


def condition(kind: str, status: str, reason: str, message: str = "") -> Document:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def reassignment(
    state: str = "Executing",
    *,
    name: str = "move",
    status: Mapping[str, object] | None = None,
    spec: Mapping[str, object] | None = None,
    conditions: tuple[Document, ...] = (),
    plan: Plan | ChunkedPlan = PLAN,
) -> Document:
    """Return a PartitionReassignment; ``Succeeded`` is as its state demands."""
    ended = {"Completed": "True", "Cancelled": "False", "RolledBack": "False", "Failed": "False"}
    succeeded = condition("Succeeded", ended.get(state, "Unknown"), state, f"is {state}")
    summary = (plan if isinstance(plan, ChunkedPlan) else write_plan(plan.moves)).summary
    return {
        "kind": "PartitionReassignment",
        "metadata": {"name": name, "uid": UID},
        "spec": {"brokerSetRef": {"name": "prod"}, "plan": {}, **(spec or {})},
        "status": {
            "plan": {
                "digest": summary.digest,
                "partitions": summary.partitions,
                "replicaMoves": summary.replica_moves,
                "leaderChanges": summary.leader_changes,
                "bytesToMove": 2 * 1024**3,
            },
            "conditions": [*conditions, succeeded],
            **(status or {}),
        },
    }


def broker_set(**status: object) -> Document:
    """Return a BrokerSet of three brokers."""
    brokers = [
        {"id": 1, "replicas": 10, "leaders": 4, "bytes": 5 * 1024**3, "podName": "prod-broker-1"},
        {"id": 2, "replicas": 10, "leaders": 4, "bytes": 5 * 1024**3, "podName": "prod-broker-2"},
        {"id": 3, "replicas": 12, "leaders": 6, "bytes": 6 * 1024**3, "podName": "prod-broker-3"},
    ]
    return {
        "kind": "BrokerSet",
        "metadata": {"name": "prod"},
        "spec": {"replicas": 3},
        "status": {
            "readyReplicas": 2,
            "brokers": brokers,
            "partitions": {"total": 16, "underReplicated": 3},
            "controller": {"identity": "operator-a", "epoch": 7},
            "conditions": [condition("Ready", "False", "BrokersNotReady", "1 of 3 is not ready")],
            **status,
        },
    }


def saved_state(plan: Plan = PLAN, *, uid: str = UID, parts: int = 0) -> list[Document]:
    """Return the ConfigMaps in which a move remembers its plan: the index, and its parts."""
    text = json.dumps(PersistedState(name="move", plan=plan).to_document())
    packed = gzip.compress(text.encode(), mtime=0)
    size = -(-len(packed) // parts) if parts else 0
    pieces = [packed[start : start + size] for start in range(0, len(packed), size or 1)]
    names = [f"move-state-1-abc-{number}" for number in range(len(pieces))] if parts else []
    index = config_map(
        "move-state",
        data={"parts": json.dumps([{"name": name, "digest": "sha256:…"} for name in names])},
        binary={} if parts else {STATE_KEY: packed},
    )
    index["metadata"]["ownerReferences"] = [{"uid": uid}]
    stored = zip(names, pieces, strict=True) if parts else ()
    return [index, *(config_map(name, binary={STATE_KEY: piece}) for name, piece in stored)]


def config_map(
    name: str, *, data: Mapping[str, str] | None = None, binary: Mapping[str, bytes] | None = None
) -> Document:
    return {
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": dict(data or {}),
        "binaryData": {
            key: base64.b64encode(value).decode() for key, value in (binary or {}).items()
        },
    }
