"""The conditions of a broker set.

``Ready`` is the summary. ``ScaleDownBlocked`` and ``UpdateBlocked`` are True if something blocks a
change; ``Progressing`` is True during a change; the others are True if all is well.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ballast.brokersets.observation import volumes
from ballast.brokersets.observation.observation import Observation, ZooKeeperState
from ballast.brokersets.observation.partition_counts import PartitionCounts
from ballast.brokersets.spec.config_keys import without_effect
from ballast.brokersets.spec.spec import BrokerSetSpec, DesiredState
from ballast.brokersets.steps.ensemble import EnsembleState
from ballast.brokersets.steps.rolling_update import RollingUpdate
from ballast.brokersets.steps.scale_in import ScaleInPlan
from ballast.model.conditions import ConditionStatus, Finding


class ConditionType(StrEnum):
    """The condition types."""

    READY = "Ready"
    AVAILABLE = "Available"
    IN_SYNC = "InSync"
    CONTROLLER_ELECTED = "ControllerElected"
    ZOOKEEPER_CONNECTED = "ZooKeeperConnected"
    PROGRESSING = "Progressing"
    SCALE_DOWN_BLOCKED = "ScaleDownBlocked"
    UPDATE_BLOCKED = "UpdateBlocked"
    CONFIG_HONOURED = "ConfigHonoured"
    VOLUMES_RESIZED = "VolumesResized"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The input of the conditions."""

    spec: BrokerSetSpec
    observation: Observation
    counts: PartitionCounts
    scaling: ScaleInPlan
    rolling_update: RollingUpdate
    ready_brokers: int
    """Ready pods that are not decommissioning."""
    is_configured: bool
    """Whether the dynamic configs are in force."""
    ensemble: EnsembleState = field(default_factory=EnsembleState)
    """The state of ``spec.zookeeper``."""


Findings = Mapping[ConditionType, Finding]


def findings(facts: Facts) -> Findings:
    """Return the finding of each condition."""
    by_type = {
        ConditionType.AVAILABLE: _available(facts),
        ConditionType.IN_SYNC: _in_sync(facts),
        ConditionType.CONTROLLER_ELECTED: _controller(facts),
        ConditionType.ZOOKEEPER_CONNECTED: _zookeeper(facts),
        ConditionType.PROGRESSING: _progressing(facts),
        ConditionType.SCALE_DOWN_BLOCKED: _scale_down(facts),
        ConditionType.UPDATE_BLOCKED: _update(facts),
        ConditionType.CONFIG_HONOURED: _config(facts),
        ConditionType.VOLUMES_RESIZED: volumes.finding(facts.spec, facts.observation.volumes),
    }
    return {ConditionType.READY: _ready(facts, by_type), **by_type}


def _true(reason: str, message: str = "") -> Finding:
    return Finding(status=ConditionStatus.TRUE, reason=reason, message=message)


def _false(reason: str, message: str = "") -> Finding:
    return Finding(status=ConditionStatus.FALSE, reason=reason, message=message)


def _unknown(reason: str, message: str = "") -> Finding:
    return Finding(status=ConditionStatus.UNKNOWN, reason=reason, message=message)


def _cluster_unknown(facts: Facts) -> Finding:
    return _unknown("ClusterUnknown", facts.observation.cluster_error or "no broker answers")


def _available(facts: Facts) -> Finding:
    if facts.observation.cluster is None:
        return _cluster_unknown(facts)
    if facts.counts.leaderless:
        return _false(
            "LeaderlessPartitions", f"{facts.counts.leaderless} partitions have no leader"
        )
    return _true("AllPartitionsLed")


def _in_sync(facts: Facts) -> Finding:
    counts = facts.counts
    if facts.observation.cluster is None:
        return _cluster_unknown(facts)
    if counts.under_min_isr:
        return _false(
            "UnderMinISR",
            f"{counts.under_min_isr} partitions are below min.insync.replicas, "
            f"{counts.under_replicated} are under-replicated",
        )
    if counts.under_replicated:
        return _false(
            "UnderReplicated", f"{counts.under_replicated} partitions are under-replicated"
        )
    return _true("AllReplicasInSync")


def _controller(facts: Facts) -> Finding:
    controller = facts.observation.controller
    if controller is not None:
        return _true("Elected", controller.identity)
    if facts.spec.is_external and facts.observation.cluster is None:
        return _cluster_unknown(facts)
    return _false("NoController", "the cluster has no controller")


def _zookeeper(facts: Facts) -> Finding:
    state = facts.observation.zookeeper
    if facts.spec.is_external:
        return _unknown("NotManaged", "the ZooKeeper of an existing cluster is not observed")
    if state is None:
        return _unknown("NoSession", "this operator has no session yet")
    if state is ZooKeeperState.CONNECTED:
        return _true(state.value)
    return _false(state.value, "ZooKeeper does not answer")


def _progressing(facts: Facts) -> Finding:
    if facts.spec.is_external:
        return _false("NotManaged", "only reassignments of an existing cluster are managed")
    if facts.spec.desired_state is DesiredState.PAUSED:
        return _false("Paused", "nothing is changed until desiredState is Running")
    ensemble = facts.ensemble
    if ensemble.block is not None and ensemble.is_stopped:
        return _false(ensemble.block.reason, ensemble.block.message)
    return next(_under_way(facts), _false("Stable"))


def _under_way(facts: Facts) -> Iterator[Finding]:
    spec, stateful_set = facts.spec, facts.observation.stateful_set
    if stateful_set is None:
        yield _true("Creating")
        return
    if facts.scaling.decommissioning and facts.scaling.blockage is not None:
        yield _true("Draining", facts.scaling.blockage.message)
    if stateful_set.replicas > spec.replicas:
        yield _true("ScalingIn", f"from {stateful_set.replicas} to {spec.replicas} brokers")
    if facts.rolling_update.old:
        yield _true("RollingUpdate", f"{facts.rolling_update.old} pods have an old revision")
    if facts.ready_brokers < spec.replicas:
        missing = spec.replicas - facts.ready_brokers
        yield _true("BrokersStarting", f"{missing} brokers are not ready")
    if facts.ensemble.block is not None:
        yield _true("ZooKeeperPending", facts.ensemble.block.message)
    if not facts.is_configured:
        yield _true("ConfigPending", "dynamic configs of the spec are not set on the brokers yet")


def _scale_down(facts: Facts) -> Finding:
    blockage = facts.scaling.blockage
    if blockage is not None:
        return _true(blockage.reason, blockage.message)
    return _false("NothingLeaves" if not facts.scaling.decommissioning else "BrokersAreEmpty")


def _update(facts: Facts) -> Finding:
    block = facts.ensemble.block or facts.rolling_update.block
    if block is not None:
        return _true(block.reason, block.message)
    return _false("RollingUpdate" if facts.rolling_update.old else "UpToDate")


def _config(facts: Facts) -> Finding:
    if facts.spec.is_external:
        return _unknown("NotManaged", "the properties of an existing cluster are not observed")
    ignored = without_effect(facts.spec.config)
    if ignored:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in ignored.items())
        return _false("PropertiesIgnored", reasons)
    return _true("AllPropertiesHonoured")


def _ready(facts: Facts, by_type: Findings) -> Finding:
    """Return the first reason why clients cannot work as the spec promises."""
    ensemble = facts.ensemble
    if ensemble.block is not None and ensemble.is_stopped:
        return _false(ensemble.block.reason, ensemble.block.message)
    for kind, reason in (
        (ConditionType.ZOOKEEPER_CONNECTED, "ZooKeeperDisconnected"),
        (ConditionType.CONTROLLER_ELECTED, "NoController"),
        (ConditionType.AVAILABLE, "LeaderlessPartitions"),
    ):
        if by_type[kind].status is ConditionStatus.FALSE:
            return _false(reason, by_type[kind].message)
    if facts.spec.is_external:
        if facts.observation.cluster is not None:
            return _true("Ready")
        return _false("ClusterUnknown", _cluster_unknown(facts).message)
    summary = f"{facts.ready_brokers} of {facts.spec.replicas} brokers are ready"
    if facts.ready_brokers < facts.spec.replicas:
        return _false("BrokersNotReady", summary)
    return _true("Ready", summary)
