"""What a broker set needs now, from what is asked for and what is seen. Pure.

Order of the steps, each safe to stop after:

1. Objects that differ from what they should be. The StatefulSet's size and how far an update may go
   are among them, and are in force before a gate opens.
2. Volumes that grew in the spec.
3. Configs that running brokers take; then the gates of pods.
4. Pods that are stuck with an old revision.
5. Reassignments that empty brokers, or propose a share for new ones.

A set that is paused gets its gates and its status only; an existing cluster its status only.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ballast.brokersets.children.disruption import Disruption, plan_disruption
from ballast.brokersets.children.resources import Inputs
from ballast.brokersets.errors import InvalidBrokerSet
from ballast.brokersets.objects import object_steps, volume_steps
from ballast.brokersets.observation.availability import Availability
from ballast.brokersets.observation.observed import Cluster
from ballast.brokersets.observation.partition_counts import Census, take_census
from ballast.brokersets.observation.readiness import Verdict, judge
from ballast.brokersets.observation.shapes import shapes_of
from ballast.brokersets.spec.spec import DesiredState
from ballast.brokersets.status.broker_states import broker_statuses
from ballast.brokersets.status.conditions import ConditionType, Facts, Findings, findings
from ballast.brokersets.status.status import refused_status, status_document
from ballast.brokersets.steps.decision_input import World
from ballast.brokersets.steps.dynamic_config import due_changes, is_in_force
from ballast.brokersets.steps.rebalancing import plan_rebalance
from ballast.brokersets.steps.rolling_update import Roll, plan_roll
from ballast.brokersets.steps.scaling import Scaling, plan_scaling
from ballast.brokersets.steps.steps import AlterBrokerConfigs, Decision, PatchGate, Step
from ballast.model.conditions import ConditionStatus, Finding

BUSY_S = 1.0
UNDER_WAY_S = 2.0
IDLE_S = 10.0
EXTERNAL_S = 30.0
REFUSED_S = 300.0


def decide(world: World) -> Decision:
    """Return the steps that bring the set nearer to its spec, and its status."""
    if world.spec.is_external:
        return _decide_external(world)
    spec, observed = world.spec, world.observed
    cluster = observed.cluster
    shapes = () if cluster is None else shapes_of(cluster)
    census = Census() if cluster is None else take_census(cluster, shapes)
    availability = Availability(
        _without_those_that_go(world),
        members=frozenset(spec.broker_id(ordinal) for ordinal in range(_size(world))),
        has_controller=observed.has_controller,
        shapes=shapes,
    )
    verdicts = _verdicts(world, census)
    scaling = plan_scaling(world, census)
    roll = plan_roll(spec, observed.stateful_set, observed.pods, verdicts, availability)
    disruption = plan_disruption(
        spec,
        # What leaves the count with its pod must not be counted until then.
        min(_size(world), scaling.replicas),
        {pod.ordinal: pod for pod in observed.pods},
        availability,
        census,
        observed.held_pods,
    )
    facts = Facts(
        spec=spec,
        observed=observed,
        census=census,
        scaling=scaling,
        roll=roll,
        ensemble=world.ensemble,
        ready_brokers=sum(pod.is_ready and pod.ordinal < spec.replicas for pod in observed.pods),
        is_configured=is_in_force(spec, cluster),
    )
    gates = _gate_steps(world, verdicts)
    steps: tuple[Step, ...] = gates
    if spec.desired_state is DesiredState.RUNNING and not world.ensemble.is_stopped:
        steps = (
            *object_steps(world, _inputs(world, scaling, roll, disruption)),
            *volume_steps(world),
            *_config_steps(world),
            *gates,
            *roll.deletions,
            *scaling.steps,
            *plan_rebalance(world, census, scaling.leaving, verdicts),
        )
    return _decision(world, facts, verdicts, steps)


def refused(
    metadata: Mapping[str, Any], status: Mapping[str, Any], error: InvalidBrokerSet, *, now_ms: int
) -> Decision:
    """Return the status of a set whose spec cannot be carried out; nothing is touched.

    ``metadata`` and ``status`` are the object's own.
    """
    generation = metadata.get("generation")
    finding = Finding(status=ConditionStatus.FALSE, reason="InvalidSpec", message=str(error))
    document = refused_status(
        {ConditionType.READY: finding},
        before=status,
        generation=generation if isinstance(generation, int) else 0,
        now_ms=now_ms,
    )
    return Decision(steps=(), status=document, requeue_after_s=REFUSED_S)


def _decide_external(world: World) -> Decision:
    cluster = world.observed.cluster
    census = Census() if cluster is None else take_census(cluster)
    facts = Facts(
        spec=world.spec,
        observed=world.observed,
        census=census,
        scaling=Scaling(replicas=0),
        roll=Roll(),
        ensemble=world.ensemble,
        ready_brokers=0,
        is_configured=True,
    )
    return _decision(world, facts, {}, ())


def _decision(
    world: World, facts: Facts, verdicts: Mapping[int, Verdict], steps: tuple[Step, ...]
) -> Decision:
    found = findings(facts)
    brokers = broker_statuses(
        world.spec,
        world.observed,
        facts.census,
        verdicts,
        before=world.status,
        now_ms=world.now_ms,
    )
    status = status_document(facts, found, brokers, before=world.status, now_ms=world.now_ms)
    quiet_s = _quiet_after_s(found)
    return Decision(
        steps=steps,
        status=status,
        requeue_after_s=BUSY_S if steps else quiet_s,
        quiet_after_s=quiet_s,
    )


def _quiet_after_s(found: Findings) -> float:
    """Return when to look again though nothing is done: what brokers see wakes nobody."""
    if found[ConditionType.PROGRESSING].reason == "NotManaged":
        return EXTERNAL_S
    is_under_way = found[ConditionType.PROGRESSING].status is ConditionStatus.TRUE
    is_well = all(
        found[kind].status is ConditionStatus.TRUE
        for kind in (ConditionType.READY, ConditionType.IN_SYNC)
    )
    return UNDER_WAY_S if is_under_way or not is_well else IDLE_S


def _verdicts(world: World, census: Census) -> dict[int, Verdict]:
    """Return what the gate of each pod should be, by ordinal; a pod that goes keeps its own."""
    spec, cluster = world.spec, world.observed.cluster
    is_configured = is_in_force(spec, cluster)
    return {
        pod.ordinal: judge(
            pod,
            spec.broker_id(pod.ordinal),
            cluster,
            census,
            is_configured=is_configured,
            has_controller=world.observed.has_controller,
        )
        for pod in world.observed.pods
        if not pod.is_terminating
    }


def _gate_steps(world: World, verdicts: Mapping[int, Verdict]) -> tuple[PatchGate, ...]:
    """Return the gates to be set; that only a message has changed is no reason to write."""
    steps = []
    for pod in world.observed.pods:
        verdict = verdicts.get(pod.ordinal)
        if verdict is None:
            continue
        gate = pod.gate
        is_same = gate is not None and (gate.is_true, gate.reason) == (
            verdict.is_true,
            verdict.reason,
        )
        # What an open gate says is kept: it names the process that it was opened for.
        says_so = gate is not None and (not verdict.is_true or gate.message == verdict.message)
        if not (is_same and says_so):
            steps.append(
                PatchGate(
                    pod=pod.name,
                    uid=pod.uid,
                    value=verdict.is_true,
                    reason=verdict.reason,
                    message=verdict.message,
                )
            )
    return tuple(steps)


def _config_steps(world: World) -> tuple[AlterBrokerConfigs, ...]:
    changes = due_changes(world.spec, world.observed.cluster)
    return (AlterBrokerConfigs(changes=changes),) if changes else ()


def _size(world: World) -> int:
    stateful_set = world.observed.stateful_set
    return world.spec.replicas if stateful_set is None else stateful_set.replicas


def _without_those_that_go(world: World) -> Cluster | None:
    """Return the cluster without the brokers whose pods are being deleted or are to be made.

    Brokers know of that only when it is done.
    """
    cluster = world.observed.cluster
    if cluster is None:
        return None
    stay = {pod.ordinal for pod in world.observed.pods if not pod.is_terminating}
    going = {world.spec.broker_id(o) for o in range(_size(world)) if o not in stay}
    if going.isdisjoint(cluster.live_brokers):
        return cluster
    return replace(cluster, live_brokers=cluster.live_brokers - going)


def _inputs(world: World, scaling: Scaling, roll: Roll, disruption: Disruption) -> Inputs:
    observed = world.observed
    stateful_set = observed.stateful_set
    return Inputs(
        image=world.surroundings.image,
        cluster_domain=world.surroundings.cluster_domain,
        pods=world.surroundings.pods,
        replicas=scaling.replicas,
        partition=roll.partition,
        storage_size=None if stateful_set is None else stateful_set.storage_size,
        disruption=disruption,
        racks=observed.racks,
        nodes_in_use=frozenset(pod.node for pod in observed.pods if pod.node is not None),
    )
