"""Proposes a rebalance that gives new brokers replicas; it runs after a user has approved it."""

from collections.abc import Mapping

from ballast.brokersets import names
from ballast.brokersets.observation.observation import Purpose
from ballast.brokersets.observation.partition_counts import PartitionCounts
from ballast.brokersets.observation.readiness import GateDecision
from ballast.brokersets.spec.spec import BrokerSetSpec, RebalanceOnScaleOut
from ballast.brokersets.steps.decision_input import DecisionInput
from ballast.brokersets.steps.steps import (
    CreateReassignment,
    DeleteReassignment,
    Step,
    WithdrawReassignment,
)


def plan_rebalance(
    inputs: DecisionInput,
    counts: PartitionCounts,
    decommissioning: frozenset[int],
    gate_decisions: Mapping[int, GateDecision],
) -> tuple[Step, ...]:
    """Return the steps for proposals; ``gate_decisions`` are by ordinal.

    There is one proposal per broker: while its object exists, in whatever state, no other is
    created. There are no proposals while brokers are decommissioning.
    """
    spec, observation = inputs.spec, inputs.observation
    proposals = [r for r in observation.reassignments if r.purpose is Purpose.REBALANCE]
    steps: list[Step] = []
    for proposal in proposals:
        unwanted = any(spec.is_cordoned(broker_id) for broker_id in proposal.broker_ids)
        if proposal.is_terminating:
            continue
        if proposal.is_withdrawn and proposal.is_final:
            steps.append(DeleteReassignment(name=proposal.name))
        elif unwanted and not proposal.is_final and not proposal.is_withdrawn:
            steps.append(WithdrawReassignment(name=proposal.name))
    if spec.rebalance_on_scale_out is not RebalanceOnScaleOut.PROPOSE or decommissioning:
        return tuple(steps)
    proposed = frozenset(broker_id for p in proposals for broker_id in p.broker_ids)
    new = sorted(_new_brokers(spec, counts, gate_decisions) - proposed)
    if new and counts.total and inputs.may_plan:
        in_use = (reassignment.name for reassignment in observation.reassignments)
        name = names.reassignment(spec.identity.name, Purpose.REBALANCE.value, new, in_use)
        steps.append(
            CreateReassignment(
                name=name,
                purpose=Purpose.REBALANCE,
                broker_ids=tuple(new),
                excluded=spec.decommissioned,
            )
        )
    return tuple(steps)


def _new_brokers(
    spec: BrokerSetSpec, counts: PartitionCounts, gate_decisions: Mapping[int, GateDecision]
) -> frozenset[int]:
    """Return the brokers that are ready and hold no replicas."""
    in_service = {spec.broker_id(ordinal) for ordinal, v in gate_decisions.items() if v.is_true}
    return frozenset(
        broker_id for broker_id in in_service - counts.holders if not spec.is_cordoned(broker_id)
    )
