"""Broker sets, pods and clusters for the tests of this package."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ballast.brokersets.children.resources import digest_of
from ballast.brokersets.observation.observation import (
    Cluster,
    ControllerView,
    GateView,
    Observation,
    PartitionState,
    PendingChange,
    PodView,
    Purpose,
    ReassignmentView,
    StatefulSetView,
    ZooKeeperState,
)
from ballast.brokersets.spec.parse import parse_broker_set
from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.brokersets.steps.decision_input import DecisionInput, InstallationDefaults
from ballast.brokersets.steps.steps import (
    AlterBrokerConfigs,
    Apply,
    CreateReassignment,
    Decision,
    Delete,
    DeletePod,
    DeleteReassignment,
    PatchGate,
    ResizeVolume,
    Step,
    WithdrawReassignment,
)
from ballast.model.ids import TopicPartition

NOW_MS = 1_700_000_000_000
OLD, NEW = "rev-1", "rev-2"
SURROUNDINGS = InstallationDefaults(image="ballast:1")

Placement = tuple[tuple[int, ...], tuple[int, ...]]
"""Replicas and ISR; the first in-sync replica leads."""


def document(**fields: Any) -> dict[str, Any]:
    """Return a BrokerSet of three brokers whose spec has these fields instead; None takes out."""
    spec: dict[str, Any] = {
        "replicas": 3,
        "zookeeper": {"connect": "zk:2181", "chroot": "/prod"},
        "storage": {"size": "10Gi"},
    }
    spec |= fields
    return {
        "metadata": {"name": "prod", "namespace": "kafka", "uid": "u-1", "generation": 4},
        "spec": {name: value for name, value in spec.items() if value is not None},
    }


def broker_set(**fields: Any) -> BrokerSetSpec:
    return parse_broker_set(document(**fields))


def opened(container_id: str) -> GateView:
    message = f"every replica was brought in sync by container {container_id}"
    return GateView(is_true=True, reason="InSync", message=message)


def pod(ordinal: int, **fields: Any) -> PodView:
    """Return a pod that is up and in sync, but for the fields."""
    values: dict[str, Any] = {
        "name": f"prod-broker-{ordinal}",
        "uid": f"pod-{ordinal}",
        "ordinal": ordinal,
        "revision": OLD,
        "node": f"node-{ordinal}",
        "phase": "Running",
        "is_ready": True,
        "containers_ready": True,
        "container_id": f"c{ordinal}",
        "gate": opened(f"c{ordinal}"),
    }
    return PodView(**(values | fields))


def starting(ordinal: int, **fields: Any) -> PodView:
    """Return a pod whose broker is not registered yet."""
    values: dict[str, Any] = {"is_ready": False, "containers_ready": False, "gate": None}
    return pod(ordinal, **(values | fields))


def stuck(ordinal: int, reason: str = "ImagePullBackOff", **fields: Any) -> PodView:
    return starting(ordinal, **({"phase": "Pending", "waiting_reason": reason} | fields))


def cluster(
    *placements: Placement,
    live: Iterable[int] = (0, 1, 2),
    min_isr: int = 2,
    pending: Mapping[int, PendingChange] | None = None,
    **fields: Any,
) -> Cluster:
    """Return a cluster with a topic ``t`` that has these partitions."""
    alive = frozenset(live)
    return Cluster(
        live_brokers=alive,
        partitions={
            TopicPartition("t", number): PartitionState(
                leader=next((b for b in isr if b in alive), -1), replicas=replicas, isr=isr
            )
            for number, (replicas, isr) in enumerate(placements)
        },
        pending={TopicPartition("t", n): p for n, p in (pending or {}).items()},
        default_min_isr=min_isr,
        **({"dynamic_defaults": {}} | fields),
    )


FULL: Placement = ((0, 1, 2), (0, 1, 2))
HEALTHY = cluster(FULL)


def stateful_set(**fields: Any) -> StatefulSetView:
    values: dict[str, Any] = {
        "replicas": 3,
        "current_revision": OLD,
        "update_revision": OLD,
        "partition": 0,
        "storage_size": "10Gi",
    }
    return StatefulSetView(**(values | fields))


def drain(name: str, *broker_ids: int, **fields: Any) -> ReassignmentView:
    return ReassignmentView(
        name=name, purpose=Purpose.DRAIN, broker_ids=frozenset(broker_ids), **fields
    )


def observation(**fields: Any) -> Observation:
    """Return a set of three brokers at rest, but for the fields."""
    values: dict[str, Any] = {
        "stateful_set": stateful_set(),
        "pods": (pod(0), pod(1), pod(2)),
        "cluster": HEALTHY,
        "controller": ControllerView(identity="operator-0", epoch=7, elected_ms=NOW_MS),
        "zookeeper": ZooKeeperState.CONNECTED,
    }
    return Observation(**(values | fields))


def decision_input(
    spec: BrokerSetSpec | None = None, seen: Observation | None = None, **fields: Any
) -> DecisionInput:
    return DecisionInput(
        spec=spec or broker_set(),
        installation=SURROUNDINGS,
        observation=seen or observation(),
        **({"now_ms": NOW_MS} | fields),
    )


# -- what becomes of a world when steps are done ------------------------------------------------


def after(before: DecisionInput, decision: Decision) -> DecisionInput:
    """Return the world after all steps of a decision, and nothing else."""
    seen = before.observation
    for step in decision.steps:
        seen = _done(seen, step)
    return replace(before, observation=seen, status=decision.status)


def _done(seen: Observation, step: Step) -> Observation:  # noqa: PLR0911  (a table)
    match step:
        case Apply():
            key = (step.kind, step.name)
            seen = replace(seen, applied={**seen.applied, key: digest_of(step.document)})
            return _resized(seen, step) if step.kind == "StatefulSet" else seen
        case Delete(kind=kind, name=name):
            kept = {key: digest for key, digest in seen.applied.items() if key != (kind, name)}
            return replace(seen, applied=kept)
        case ResizeVolume(name=name, size=size):
            return replace(
                seen,
                volumes=tuple(
                    replace(v, requested=size) if v.name == name else v for v in seen.volumes
                ),
            )
        case PatchGate():
            return replace(seen, pods=tuple(_gated(p, step) for p in seen.pods))
        case DeletePod(uid=uid):
            return replace(seen, pods=tuple(p for p in seen.pods if p.uid != uid))
        case AlterBrokerConfigs(changes=changes):
            assert seen.cluster is not None
            values = {**(seen.cluster.dynamic_defaults or {}), **changes}
            defaults = {name: value for name, value in values.items() if value is not None}
            return replace(seen, cluster=replace(seen.cluster, dynamic_defaults=defaults))
        case CreateReassignment(name=name, purpose=purpose, broker_ids=ids):
            made = ReassignmentView(name=name, purpose=purpose, broker_ids=frozenset(ids))
            return replace(seen, reassignments=(*seen.reassignments, made))
        case WithdrawReassignment(name=name):
            return _reassigned(seen, name, is_withdrawn=True)
        case DeleteReassignment(name=name):
            return _reassigned(seen, name, is_terminating=True)


def _resized(seen: Observation, step: Apply) -> Observation:
    fields = step.document["spec"]
    old = seen.stateful_set or stateful_set()
    rolling = fields["updateStrategy"].get("rollingUpdate", {})
    return replace(
        seen,
        stateful_set=replace(old, replicas=fields["replicas"], partition=rolling.get("partition")),
    )


def _gated(view: PodView, step: PatchGate) -> PodView:
    if view.uid != step.uid:
        return view
    gate = GateView(is_true=step.value, reason=step.reason, message=step.message)
    return replace(view, gate=gate, is_ready=step.value and view.containers_ready)


def _reassigned(seen: Observation, name: str, **fields: Any) -> Observation:
    return replace(
        seen,
        reassignments=tuple(
            replace(r, **fields) if r.name == name else r for r in seen.reassignments
        ),
    )
