"""Removes brokers, and drains brokers that are decommissioned.

A broker is *decommissioning* if its pod exists and it is cordoned: its ordinal is beyond
``replicas``, or its id is in ``decommission.brokerIds``. Such brokers get no new replicas (the
controller asks `BrokerSetSpec.is_cordoned`), and one visible reassignment moves their replicas.

* The StatefulSet shrinks from the top, as far as the brokers there hold no replicas, no
  reassignment moves replicas to or from them, and the drain has ended: it still has to restore
  their throttles. Everything else of the set continues meanwhile.
* A StatefulSet cannot skip an ordinal. A drained broker in the middle keeps its pod, which runs and
  serves nothing; its state is Decommissioned. It is removed once it is the highest.
* If ``replicas`` is raised again (or an id removed), the reassignment is withdrawn: cancelled, and
  deleted once it has ended. Completed moves stay.
* Policy Refuse moves nothing: it waits until the brokers are empty. Policy Force does not wait:
  partitions that only brokers beyond ``replicas`` hold are lost. Decommissioned ids are drained.

A reassignment that failed, or that a user cancelled, is tried again after a while.
"""

from dataclasses import dataclass
from typing import Final

from ballast.brokersets import names
from ballast.brokersets.observation.observation import Observation, Purpose, ReassignmentView
from ballast.brokersets.observation.partition_counts import PartitionCounts
from ballast.brokersets.spec.spec import BrokerSetSpec, ScaleDownPolicy
from ballast.brokersets.steps.decision_input import DecisionInput
from ballast.brokersets.steps.steps import (
    CreateReassignment,
    DeleteReassignment,
    Step,
    WithdrawReassignment,
)

RETRY_AFTER_FAILURE_MS: Final = 300_000
RETRY_AFTER_SUCCESS_MS: Final = 10_000
"""After a drain that succeeded but left replicas: Metadata is behind, or they are new."""
MAX_FINISHED: Final = 3
"""Finished drains that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blockage:
    """Why decommissioning brokers are still there."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleInPlan:
    """The size of the set now, and the steps for decommissioning brokers."""

    replicas: int
    """For the StatefulSet."""
    decommissioning: frozenset[int] = frozenset()
    """Cordoned brokers whose pods exist."""
    steps: tuple[Step, ...] = ()
    blockage: Blockage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScaleInInput:
    spec: BrokerSetSpec
    observation: Observation
    decommissioning: frozenset[int]
    to_drain: frozenset[int]
    """Decommissioning brokers that still hold replicas, or whose drain has not ended."""
    inputs: DecisionInput

    @property
    def drains(self) -> tuple[ReassignmentView, ...]:
        return _drains(self.observation)


def plan_scale_in(inputs: DecisionInput, counts: PartitionCounts) -> ScaleInPlan:
    """Return the StatefulSet's size and the steps for decommissioning brokers."""
    spec, observation = inputs.spec, inputs.observation
    current = 0 if observation.stateful_set is None else observation.stateful_set.replicas
    decommissioning = frozenset(
        spec.broker_id(ordinal)
        for ordinal in range(current)
        if spec.is_cordoned(spec.broker_id(ordinal))
    )
    occupied = counts.holders | _being_drained(observation)
    scale_in = _ScaleInInput(
        spec=spec,
        observation=observation,
        decommissioning=decommissioning,
        to_drain=frozenset(i for i in decommissioning & occupied if not _is_forced(spec, i)),
        inputs=inputs,
    )
    steps = _withdrawals(scale_in)
    blockage = None
    if (
        decommissioning
        and observation.cluster is None
        and not all(_is_forced(spec, i) for i in decommissioning)
    ):
        blockage = Blockage(
            reason="ClusterUnknown", message="no broker answers: their replicas are unknown"
        )
    elif scale_in.to_drain:
        more, blockage = _drain(scale_in, counts)
        steps += more
    return ScaleInPlan(
        replicas=_replicas(spec, observation, occupied, current),
        decommissioning=decommissioning,
        steps=steps,
        blockage=blockage,
    )


def _drains(observation: Observation) -> tuple[ReassignmentView, ...]:
    return tuple(r for r in observation.reassignments if r.purpose is Purpose.DRAIN)


def _being_drained(observation: Observation) -> frozenset[int]:
    return frozenset(
        i for drain in _drains(observation) if not drain.is_final for i in drain.broker_ids
    )


def _is_forced(spec: BrokerSetSpec, broker_id: int) -> bool:
    beyond = broker_id >= spec.broker_id_offset + spec.replicas
    return beyond and spec.scale_down.policy is ScaleDownPolicy.FORCE


def _replicas(
    spec: BrokerSetSpec, observation: Observation, occupied: frozenset[int], current: int
) -> int:
    replicas = current
    while replicas > spec.replicas:
        broker_id = spec.broker_id(replicas - 1)
        is_empty = observation.cluster is not None and broker_id not in occupied
        if not is_empty and not _is_forced(spec, broker_id):
            return replicas
        replicas -= 1
    return spec.replicas


def _withdrawals(scale_in: _ScaleInInput) -> tuple[Step, ...]:
    steps: list[Step] = []
    for drain in scale_in.drains:
        if drain.is_terminating:
            continue
        if drain.is_withdrawn and drain.is_final:
            steps.append(DeleteReassignment(name=drain.name))
            continue
        is_wanted = all(scale_in.spec.is_cordoned(broker_id) for broker_id in drain.broker_ids)
        if not is_wanted and not drain.is_withdrawn and not drain.is_final:
            steps.append(WithdrawReassignment(name=drain.name))
    return tuple(steps)


def _drain(scale_in: _ScaleInInput, counts: PartitionCounts) -> tuple[tuple[Step, ...], Blockage]:
    replica_count = sum(counts.of(broker_id).replicas for broker_id in scale_in.to_drain)
    who = f"{replica_count} replicas on brokers {_listed(scale_in.to_drain)}"
    if scale_in.spec.scale_down.policy is ScaleDownPolicy.REFUSE:
        return (), Blockage(reason="BrokersHoldReplicas", message=who)
    active = next((drain for drain in scale_in.drains if not drain.is_final), None)
    if active is not None:
        reason = "DrainPaused" if active.state == "Paused" else "Draining"
        state = f"{active.name} is {active.state}"
        detail = f": {active.message}" if active.message else ""
        return (), Blockage(reason=reason, message=f"{who}; {state}{detail}")
    finished = [drain for drain in scale_in.drains if not drain.is_withdrawn]
    finished.sort(key=lambda drain: (drain.completion_ms or 0, drain.name), reverse=True)
    waiting = _retry_wait(scale_in, finished)
    if waiting is not None:
        return (), Blockage(reason=waiting[0], message=f"{who}; {waiting[1]}")
    steps = _new_drain(scale_in, finished) if scale_in.inputs.may_plan else ()
    return steps, _new_drain_blockage(scale_in, who)


def _retry_wait(
    scale_in: _ScaleInInput, finished: list[ReassignmentView]
) -> tuple[str, str] | None:
    """Return why the next drain waits, as reason and message, or None."""
    last = next((drain for drain in finished if drain.broker_ids & scale_in.to_drain), None)
    if last is None:
        return None
    succeeded = last.state == "Completed"
    wait_ms = RETRY_AFTER_SUCCESS_MS if succeeded else RETRY_AFTER_FAILURE_MS
    if scale_in.inputs.now_ms - (last.completion_ms or 0) >= wait_ms:
        return None
    if succeeded:
        return "Draining", f"{last.name} has completed; the remaining replicas follow"
    return "DrainFailed", f"{last.name} ended as {last.state}: {last.message}"


def _new_drain(scale_in: _ScaleInInput, finished: list[ReassignmentView]) -> tuple[Step, ...]:
    cordoned = scale_in.decommissioning | scale_in.spec.decommissioned
    create = CreateReassignment(
        name=names.reassignment(
            scale_in.spec.identity.name,
            Purpose.DRAIN.value,
            scale_in.to_drain,
            (reassignment.name for reassignment in scale_in.observation.reassignments),
        ),
        purpose=Purpose.DRAIN,
        broker_ids=tuple(sorted(scale_in.to_drain)),
        excluded=cordoned,
    )
    surplus = [drain for drain in finished[MAX_FINISHED - 1 :] if not drain.is_terminating]
    return (*(DeleteReassignment(name=drain.name) for drain in surplus), create)


def _new_drain_blockage(scale_in: _ScaleInInput, who: str) -> Blockage:
    problem = scale_in.inputs.transient.plan_problem
    if problem is not None:
        return Blockage(reason="PlanInfeasible", message=f"{who}; {problem}")
    return Blockage(reason="Draining", message=f"{who}; a reassignment is about to start")


def _listed(broker_ids: frozenset[int]) -> str:
    ids = sorted(broker_ids)
    return ", ".join(str(i) for i in ids[:10]) + (", …" if len(ids) > 10 else "")
