"""The conditions of a broker set: what is said in each, and why.

``Ready`` is the summary. ``ScaleDownBlocked`` and ``UpdateBlocked`` are True when something is in
the way; the others are True when all is well, ``Progressing`` while the set is on its way.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ballast.brokersets.observation import volumes
from ballast.brokersets.observation.observed import Observed, ZooKeeperState
from ballast.brokersets.observation.partition_counts import Census
from ballast.brokersets.spec.config_keys import without_effect
from ballast.brokersets.spec.spec import BrokerSetSpec, DesiredState
from ballast.brokersets.steps.ensemble import EnsembleState
from ballast.brokersets.steps.rolling_update import Roll
from ballast.brokersets.steps.scaling import Scaling
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
    """What the conditions are made from."""

    spec: BrokerSetSpec
    observed: Observed
    census: Census
    scaling: Scaling
    roll: Roll
    ready_brokers: int
    """Pods that are ready and are to stay."""
    is_configured: bool
    """Whether the configs that go without a restart are in force."""
    ensemble: EnsembleState = field(default_factory=EnsembleState)
    """What becomes of ``spec.zookeeper``."""


Findings = Mapping[ConditionType, Finding]


def findings(facts: Facts) -> Findings:
    """Return what is to be said in each condition."""
    found = {
        ConditionType.AVAILABLE: _available(facts),
        ConditionType.IN_SYNC: _in_sync(facts),
        ConditionType.CONTROLLER_ELECTED: _controller(facts),
        ConditionType.ZOOKEEPER_CONNECTED: _zookeeper(facts),
        ConditionType.PROGRESSING: _progressing(facts),
        ConditionType.SCALE_DOWN_BLOCKED: _scale_down(facts),
        ConditionType.UPDATE_BLOCKED: _update(facts),
        ConditionType.CONFIG_HONOURED: _config(facts),
        ConditionType.VOLUMES_RESIZED: volumes.finding(facts.spec, facts.observed.volumes),
    }
    return {ConditionType.READY: _ready(facts, found), **found}


def _true(reason: str, message: str = "") -> Finding:
    return Finding(status=ConditionStatus.TRUE, reason=reason, message=message)


def _false(reason: str, message: str = "") -> Finding:
    return Finding(status=ConditionStatus.FALSE, reason=reason, message=message)


def _unknown(reason: str, message: str = "") -> Finding:
    return Finding(status=ConditionStatus.UNKNOWN, reason=reason, message=message)


def _cluster_unknown(facts: Facts) -> Finding:
    return _unknown("ClusterUnknown", facts.observed.cluster_error or "no broker answers")


def _available(facts: Facts) -> Finding:
    if facts.observed.cluster is None:
        return _cluster_unknown(facts)
    if facts.census.leaderless:
        return _false(
            "LeaderlessPartitions", f"{facts.census.leaderless} partitions have no leader"
        )
    return _true("AllPartitionsLed")


def _in_sync(facts: Facts) -> Finding:
    census = facts.census
    if facts.observed.cluster is None:
        return _cluster_unknown(facts)
    if census.under_min_isr:
        return _false(
            "UnderMinISR",
            f"{census.under_min_isr} partitions are under min.insync.replicas, "
            f"{census.under_replicated} lack a replica",
        )
    if census.under_replicated:
        return _false("UnderReplicated", f"{census.under_replicated} partitions lack a replica")
    return _true("AllReplicasInSync")


def _controller(facts: Facts) -> Finding:
    controller = facts.observed.controller
    if controller is not None:
        return _true("Elected", controller.identity)
    if facts.spec.is_external and facts.observed.cluster is None:
        return _cluster_unknown(facts)
    return _false("NoController", "nobody is the cluster's controller")


def _zookeeper(facts: Facts) -> Finding:
    state = facts.observed.zookeeper
    if facts.spec.is_external:
        return _unknown("NotManaged", "an existing cluster's ZooKeeper is not looked at")
    if state is None:
        return _unknown("NoSession", "this operator has no session yet")
    if state is ZooKeeperState.CONNECTED:
        return _true(state.value)
    return _false(state.value, "ZooKeeper does not answer")


def _progressing(facts: Facts) -> Finding:
    if facts.spec.is_external:
        return _false("NotManaged", "of an existing cluster nothing but reassignments is managed")
    if facts.spec.desired_state is DesiredState.PAUSED:
        return _false("Paused", "nothing is changed until desiredState is Running")
    ensemble = facts.ensemble
    if ensemble.hold is not None and ensemble.is_stopped:
        return _false(ensemble.hold.reason, ensemble.hold.message)
    return next(_under_way(facts), _false("Stable"))


def _under_way(facts: Facts) -> Iterator[Finding]:
    spec, stateful_set = facts.spec, facts.observed.stateful_set
    if stateful_set is None:
        yield _true("Creating")
        return
    if facts.scaling.leaving and facts.scaling.blockage is not None:
        yield _true("Draining", facts.scaling.blockage.message)
    if stateful_set.replicas > spec.replicas:
        yield _true("ScalingIn", f"from {stateful_set.replicas} to {spec.replicas} brokers")
    if facts.roll.old:
        yield _true("RollingUpdate", f"{facts.roll.old} pods are of an old revision")
    if facts.ready_brokers < spec.replicas:
        missing = spec.replicas - facts.ready_brokers
        yield _true("BrokersStarting", f"{missing} brokers are not ready")
    if facts.ensemble.hold is not None:
        yield _true("ZooKeeperPending", facts.ensemble.hold.message)
    if not facts.is_configured:
        yield _true("ConfigPending", "configs of the spec are not set on the brokers yet")


def _scale_down(facts: Facts) -> Finding:
    blockage = facts.scaling.blockage
    if blockage is not None:
        return _true(blockage.reason, blockage.message)
    return _false("NothingLeaves" if not facts.scaling.leaving else "BrokersAreEmpty")


def _update(facts: Facts) -> Finding:
    hold = facts.ensemble.hold or facts.roll.hold
    if hold is not None:
        return _true(hold.reason, hold.message)
    return _false("RollingUpdate" if facts.roll.old else "UpToDate")


def _config(facts: Facts) -> Finding:
    if facts.spec.is_external:
        return _unknown("NotManaged", "an existing cluster's properties are not looked at")
    ignored = without_effect(facts.spec.config)
    if ignored:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in ignored.items())
        return _false("PropertiesIgnored", reasons)
    return _true("AllPropertiesHonoured")


def _ready(facts: Facts, found: Findings) -> Finding:
    """Say the first of what keeps clients from working as the spec promises."""
    ensemble = facts.ensemble
    if ensemble.hold is not None and ensemble.is_stopped:
        return _false(ensemble.hold.reason, ensemble.hold.message)
    for kind, reason in (
        (ConditionType.ZOOKEEPER_CONNECTED, "ZooKeeperDisconnected"),
        (ConditionType.CONTROLLER_ELECTED, "NoController"),
        (ConditionType.AVAILABLE, "LeaderlessPartitions"),
    ):
        if found[kind].status is ConditionStatus.FALSE:
            return _false(reason, found[kind].message)
    if facts.spec.is_external:
        if facts.observed.cluster is not None:
            return _true("Ready")
        return _false("ClusterUnknown", _cluster_unknown(facts).message)
    summary = f"{facts.ready_brokers} of {facts.spec.replicas} brokers are ready"
    if facts.ready_brokers < facts.spec.replicas:
        return _false("BrokersNotReady", summary)
    return _true("Ready", summary)
