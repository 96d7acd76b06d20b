"""The steps that a broker set needs now, from its spec and what is observed. Pure.

Order of the steps; it is safe to stop after each of them:

1. Objects that differ from their desired state. The StatefulSet's size and its update partition are
   among them: both are in force before a readiness gate opens.
2. Volumes whose size grew in the spec.
3. Dynamic configs of running brokers; then the readiness gates of pods.
4. Pods that are stuck with an old revision.
5. Reassignments that drain brokers, or propose replicas for new ones.

A paused set gets its gates and its status only; an existing cluster gets its status only.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ballast.brokersets.children.disruption import Disruption, plan_disruption
from ballast.brokersets.children.resources import ResourceInputs
from ballast.brokersets.errors import InvalidBrokerSet
from ballast.brokersets.objects import object_steps, volume_steps
from ballast.brokersets.observation.availability import Availability
from ballast.brokersets.observation.observation import Cluster
from ballast.brokersets.observation.partition_counts import PartitionCounts, count_partitions
from ballast.brokersets.observation.readiness import GateDecision, decide_gate
from ballast.brokersets.observation.shapes import shapes_of
from ballast.brokersets.spec.spec import DesiredState
from ballast.brokersets.status.broker_states import broker_statuses
from ballast.brokersets.status.conditions import ConditionType, Facts, Findings, findings
from ballast.brokersets.status.status import rejected_status, status_document
from ballast.brokersets.steps.decision_input import DecisionInput
from ballast.brokersets.steps.dynamic_config import due_changes, is_in_force
from ballast.brokersets.steps.rebalancing import plan_rebalance
from ballast.brokersets.steps.rolling_update import RollingUpdate, plan_rolling_update
from ballast.brokersets.steps.scale_in import ScaleInPlan, plan_scale_in
from ballast.brokersets.steps.steps import AlterBrokerConfigs, Decision, PatchGate, Step
from ballast.model.conditions import ConditionStatus, Finding

BUSY_S = 1.0
UNDER_WAY_S = 2.0
IDLE_S = 10.0
EXTERNAL_S = 30.0
REFUSED_S = 300.0


def decide(inputs: DecisionInput) -> Decision:
    """Return the steps towards the spec, and the status."""
    if inputs.spec.is_external:
        return _decide_external(inputs)
    spec, observation = inputs.spec, inputs.observation
    cluster = observation.cluster
    shapes = () if cluster is None else shapes_of(cluster)
    counts = PartitionCounts() if cluster is None else count_partitions(cluster, shapes)
    availability = Availability(
        _without_terminating_brokers(inputs),
        members=frozenset(spec.broker_id(ordinal) for ordinal in range(_size(inputs))),
        has_controller=observation.has_controller,
        shapes=shapes,
    )
    gate_decisions = _verdicts(inputs, counts)
    scaling = plan_scale_in(inputs, counts)
    rolling_update = plan_rolling_update(
        spec, observation.stateful_set, observation.pods, gate_decisions, availability
    )
    disruption = plan_disruption(
        spec,
        # A pod that is removed by the scale-in still counts until it is gone.
        min(_size(inputs), scaling.replicas),
        {pod.ordinal: pod for pod in observation.pods},
        availability,
        counts,
        observation.held_pods,
    )
    facts = Facts(
        spec=spec,
        observation=observation,
        counts=counts,
        scaling=scaling,
        rolling_update=rolling_update,
        ensemble=inputs.ensemble,
        ready_brokers=sum(pod.is_ready and pod.ordinal < spec.replicas for pod in observation.pods),
        is_configured=is_in_force(spec, cluster),
    )
    gates = _gate_steps(inputs, gate_decisions)
    steps: tuple[Step, ...] = gates
    if spec.desired_state is DesiredState.RUNNING and not inputs.ensemble.is_stopped:
        steps = (
            *object_steps(inputs, _resource_inputs(inputs, scaling, rolling_update, disruption)),
            *volume_steps(inputs),
            *_config_steps(inputs),
            *gates,
            *rolling_update.deletions,
            *scaling.steps,
            *plan_rebalance(inputs, counts, scaling.decommissioning, gate_decisions),
        )
    return _decision(inputs, facts, gate_decisions, steps)


def reject_spec(
    metadata: Mapping[str, Any], status: Mapping[str, Any], error: InvalidBrokerSet, *, now_ms: int
) -> Decision:
    """Return the status of a set whose spec is invalid; nothing is changed.

    ``metadata`` and ``status`` are the object's own.
    """
    generation = metadata.get("generation")
    finding = Finding(status=ConditionStatus.FALSE, reason="InvalidSpec", message=str(error))
    document = rejected_status(
        {ConditionType.READY: finding},
        before=status,
        generation=generation if isinstance(generation, int) else 0,
        now_ms=now_ms,
    )
    return Decision(steps=(), status=document, requeue_after_s=REFUSED_S)


def _decide_external(inputs: DecisionInput) -> Decision:
    cluster = inputs.observation.cluster
    counts = PartitionCounts() if cluster is None else count_partitions(cluster)
    facts = Facts(
        spec=inputs.spec,
        observation=inputs.observation,
        counts=counts,
        scaling=ScaleInPlan(replicas=0),
        rolling_update=RollingUpdate(),
        ensemble=inputs.ensemble,
        ready_brokers=0,
        is_configured=True,
    )
    return _decision(inputs, facts, {}, ())


def _decision(
    inputs: DecisionInput,
    facts: Facts,
    gate_decisions: Mapping[int, GateDecision],
    steps: tuple[Step, ...],
) -> Decision:
    findings_by_type = findings(facts)
    brokers = broker_statuses(
        inputs.spec,
        inputs.observation,
        facts.counts,
        gate_decisions,
        before=inputs.status,
        now_ms=inputs.now_ms,
    )
    status = status_document(
        facts, findings_by_type, brokers, before=inputs.status, now_ms=inputs.now_ms
    )
    quiet_s = _quiet_after_s(findings_by_type)
    return Decision(
        steps=steps,
        status=status,
        requeue_after_s=BUSY_S if steps else quiet_s,
        idle_requeue_after_s=quiet_s,
    )


def _quiet_after_s(findings_by_type: Findings) -> float:
    """Return when to observe again without a step: changes inside the cluster cause no event."""
    if findings_by_type[ConditionType.PROGRESSING].reason == "NotManaged":
        return EXTERNAL_S
    is_under_way = findings_by_type[ConditionType.PROGRESSING].status is ConditionStatus.TRUE
    is_well = all(
        findings_by_type[kind].status is ConditionStatus.TRUE
        for kind in (ConditionType.READY, ConditionType.IN_SYNC)
    )
    return UNDER_WAY_S if is_under_way or not is_well else IDLE_S


def _verdicts(inputs: DecisionInput, counts: PartitionCounts) -> dict[int, GateDecision]:
    """Return the gate of each pod by ordinal; a terminating pod keeps its own."""
    spec, cluster = inputs.spec, inputs.observation.cluster
    is_configured = is_in_force(spec, cluster)
    return {
        pod.ordinal: decide_gate(
            pod,
            spec.broker_id(pod.ordinal),
            cluster,
            counts,
            is_configured=is_configured,
            has_controller=inputs.observation.has_controller,
        )
        for pod in inputs.observation.pods
        if not pod.is_terminating
    }


def _gate_steps(
    inputs: DecisionInput, gate_decisions: Mapping[int, GateDecision]
) -> tuple[PatchGate, ...]:
    """Return the gates to set; a change of the message alone is not written."""
    steps = []
    for pod in inputs.observation.pods:
        gate_decision = gate_decisions.get(pod.ordinal)
        if gate_decision is None:
            continue
        gate = pod.gate
        is_same = gate is not None and (gate.is_true, gate.reason) == (
            gate_decision.is_true,
            gate_decision.reason,
        )
        # The message of an open gate must be right: it names the container that it was set for.
        says_so = gate is not None and (
            not gate_decision.is_true or gate.message == gate_decision.message
        )
        if not (is_same and says_so):
            steps.append(
                PatchGate(
                    pod=pod.name,
                    uid=pod.uid,
                    value=gate_decision.is_true,
                    reason=gate_decision.reason,
                    message=gate_decision.message,
                )
            )
    return tuple(steps)


def _config_steps(inputs: DecisionInput) -> tuple[AlterBrokerConfigs, ...]:
    changes = due_changes(inputs.spec, inputs.observation.cluster)
    return (AlterBrokerConfigs(changes=changes),) if changes else ()


def _size(inputs: DecisionInput) -> int:
    stateful_set = inputs.observation.stateful_set
    return inputs.spec.replicas if stateful_set is None else stateful_set.replicas


def _without_terminating_brokers(inputs: DecisionInput) -> Cluster | None:
    """Return the cluster without brokers whose pods are terminating or do not exist yet.

    Metadata shows that only later.
    """
    cluster = inputs.observation.cluster
    if cluster is None:
        return None
    stay = {pod.ordinal for pod in inputs.observation.pods if not pod.is_terminating}
    going = {inputs.spec.broker_id(o) for o in range(_size(inputs)) if o not in stay}
    if going.isdisjoint(cluster.live_brokers):
        return cluster
    return replace(cluster, live_brokers=cluster.live_brokers - going)


def _resource_inputs(
    inputs: DecisionInput,
    scaling: ScaleInPlan,
    rolling_update: RollingUpdate,
    disruption: Disruption,
) -> ResourceInputs:
    observation = inputs.observation
    stateful_set = observation.stateful_set
    return ResourceInputs(
        image=inputs.installation.image,
        cluster_domain=inputs.installation.cluster_domain,
        pods=inputs.installation.pods,
        replicas=scaling.replicas,
        partition=rolling_update.partition,
        storage_size=None if stateful_set is None else stateful_set.storage_size,
        disruption=disruption,
        racks=observation.racks,
        nodes_in_use=frozenset(pod.node for pod in observation.pods if pod.node is not None),
    )
