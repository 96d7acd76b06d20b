"""The state of each broker in the status."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ballast.brokersets.observation.observation import Cluster, Observation, PodView
from ballast.brokersets.observation.partition_counts import PartitionCounts
from ballast.brokersets.observation.readiness import GateDecision
from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.brokersets.steps.rolling_update import is_stuck
from ballast.model.conditions import timestamp

_DIGITS: Final = 3


class BrokerState(StrEnum):
    """``status.brokers[].state``."""

    STARTING = "Starting"
    """Its pod is being created, or recovers its logs."""
    CATCHING_UP = "CatchingUp"
    ONLINE = "Online"
    DRAINING = "Draining"
    SHUTTING_DOWN = "ShuttingDown"
    OFFLINE = "Offline"
    DECOMMISSIONED = "Decommissioned"
    """It is cordoned and holds no replicas."""


_WELL: Final = frozenset({BrokerState.ONLINE, BrokerState.DECOMMISSIONED})


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStatus:
    """One entry of ``status.brokers``."""

    broker_id: int
    pod_name: str | None
    state: BrokerState
    rack: str | None
    leaders: int
    replicas: int
    under_replicated: int
    bytes: int | None
    """Rounded, so that the status does not change with each record."""
    last_seen: str | None = None
    """RFC 3339; only of a broker that is not registered."""

    @property
    def is_well(self) -> bool:
        """Whether it needs no attention."""
        return self.state in _WELL and not self.under_replicated

    def to_document(self) -> dict[str, Any]:
        """Return the entry as JSON."""
        document = {
            "id": self.broker_id,
            "podName": self.pod_name,
            "state": self.state.value,
            "rack": self.rack,
            "leaders": self.leaders,
            "replicas": self.replicas,
            "underReplicated": self.under_replicated,
            "bytes": self.bytes,
            "lastHeartbeatTime": self.last_seen,
        }
        return {name: value for name, value in document.items() if value is not None}


def broker_statuses(
    spec: BrokerSetSpec,
    observation: Observation,
    counts: PartitionCounts,
    gate_decisions: Mapping[int, GateDecision],
    *,
    before: Mapping[str, Any],
    now_ms: int,
) -> tuple[BrokerStatus, ...]:
    """Return an entry for each broker that is desired, exists or holds replicas, by id.

    ``before`` is the last status: it has the time when a broker that is down was last seen.
    """
    live = observation.cluster.live_brokers if observation.cluster is not None else frozenset()
    pods = {} if spec.is_external else {spec.broker_id(p.ordinal): p for p in observation.pods}
    ids = live | frozenset(pods) | counts.holders
    ids |= {spec.broker_id(ordinal) for ordinal in range(spec.replicas)}
    seen_before = _seen_before(before)
    bytes_by_broker = observation.cluster.bytes_by_broker if observation.cluster is not None else {}
    statuses = []
    for broker_id in sorted(ids):
        pod, count = pods.get(broker_id), counts.of(broker_id)
        is_live = broker_id in live
        gate_decision = None if pod is None else gate_decisions.get(pod.ordinal)
        statuses.append(
            BrokerStatus(
                broker_id=broker_id,
                pod_name=None if pod is None else pod.name,
                state=_state(spec, observation.cluster, broker_id, pod, gate_decision, counts),
                rack=_rack(observation, pod),
                leaders=count.leaders,
                replicas=count.replicas,
                under_replicated=count.under_replicated,
                bytes=_rounded(bytes_by_broker.get(broker_id)),
                last_seen=None if is_live else _last_seen(broker_id, seen_before, now_ms),
            )
        )
    return tuple(statuses)


def _state(
    spec: BrokerSetSpec,
    cluster: Cluster | None,
    broker_id: int,
    pod: PodView | None,
    gate_decision: GateDecision | None,
    counts: PartitionCounts,
) -> BrokerState:
    if cluster is None or broker_id not in cluster.live_brokers:
        return _state_of_unregistered(pod, is_cluster_seen=cluster is not None)
    if pod is not None and pod.is_terminating:
        return BrokerState.SHUTTING_DOWN
    if spec.is_cordoned(broker_id):
        is_empty = broker_id not in counts.holders
        return BrokerState.DECOMMISSIONED if is_empty else BrokerState.DRAINING
    is_shut = gate_decision is not None and not gate_decision.is_true
    if is_shut or counts.of(broker_id).under_replicated:
        return BrokerState.CATCHING_UP
    return BrokerState.ONLINE


def _state_of_unregistered(pod: PodView | None, *, is_cluster_seen: bool) -> BrokerState:
    """Return the state of a broker without a session.

    The conditions of a pod on a lost node are stale: they still say that it runs or terminates.
    """
    if pod is None or pod.phase not in ("Pending", "Running") or is_stuck(pod):
        return BrokerState.OFFLINE
    if is_cluster_seen and (pod.is_terminating or pod.containers_ready):
        return BrokerState.OFFLINE
    return BrokerState.SHUTTING_DOWN if pod.is_terminating else BrokerState.STARTING


def _rack(observation: Observation, pod: PodView | None) -> str | None:
    if pod is None or pod.node is None or observation.racks is None:
        return None
    return observation.racks.get(pod.node) or None


def _rounded(count: int | None) -> int | None:
    if count is None:
        return None
    surplus = max(0, len(str(count)) - _DIGITS)
    return round(count, -surplus)


def _seen_before(before: Mapping[str, Any]) -> dict[int, str | None]:
    """Return the brokers of the last status; those that were down with their last-seen time."""
    entries = before.get("brokers")
    last_seen: dict[int, str | None] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("id"), int):
            last = entry.get("lastHeartbeatTime")
            is_down = entry.get("state") in (BrokerState.STARTING, BrokerState.OFFLINE)
            if isinstance(last, str) or not is_down:
                last_seen[entry["id"]] = last if isinstance(last, str) else None
    return last_seen


def _last_seen(broker_id: int, seen_before: Mapping[int, str | None], now_ms: int) -> str | None:
    """Return when a broker that is not registered was last seen; None if it never was."""
    if broker_id not in seen_before:
        return None
    return seen_before[broker_id] or timestamp(now_ms)
