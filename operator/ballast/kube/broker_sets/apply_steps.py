"""Applies the steps that `brokersets.decide` returned: each is one request or a few.

Every step is idempotent. A step that is refused does not prevent the others: missing rights to
network policies must not block a scale-in. Only a Kubernetes API that does not answer ends the run.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ballast.brokersets import names
from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.brokersets.steps import steps
from ballast.brokersets.steps.steps import Step
from ballast.kube.api.errors import ApiRefused, Conflict, NotFound
from ballast.kube.api.ports import PatchType
from ballast.kube.api.resources import (
    CONFIG_MAPS,
    NETWORK_POLICIES,
    PARTITION_REASSIGNMENTS,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFUL_SETS,
    Resource,
)
from ballast.kube.broker_sets.drains import PlanInfeasible, create_reassignment
from ballast.kube.broker_sets.observe import BrokerSetObserver
from ballast.kube.broker_sets.step_delays import StepDelays
from ballast.kube.runtime.context import OperatorContext
from ballast.model.conditions import timestamp
from ballast.reassign.ports import ClusterUnavailable

log = logging.getLogger(__name__)

RESOURCES: Final[Mapping[str, Resource]] = {
    resource.kind: resource
    for resource in (
        CONFIG_MAPS,
        NETWORK_POLICIES,
        POD_DISRUPTION_BUDGETS,
        SERVICE_ACCOUNTS,
        SERVICES,
        STATEFUL_SETS,
    )
}
"""The kinds of objects that steps apply and delete."""


class _Refused(Exception):
    """A step that cannot be carried out; the message says why."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The steps that were done, and those that were refused."""

    done: list[Step] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    """Steps that were refused, now or recently, and why; for people."""
    plan_problem: str | None = None
    """Why a reassignment could not be planned."""


class StepRunner:
    """Applies the steps of one broker set."""

    def __init__(self, operator: OperatorContext, reader: BrokerSetObserver) -> None:
        self._operator = operator
        self._api = operator.api
        self._reader = reader
        self.delays = StepDelays()
        """The steps that were refused and wait for their retry."""

    async def run(self, spec: BrokerSetSpec, wanted: Sequence[Step]) -> Outcome:
        """Apply the steps in their order, except those that wait. Raises `ApiUnavailable`."""
        outcome = Outcome()
        clock = self._operator.clock
        self.delays.keep_only(tuple(wanted))
        is_partition_applied = are_budgets_applied = True
        for step in wanted:
            if isinstance(step, steps.PatchGate) and step.value and not is_partition_applied:
                # An open gate continues a rolling update. That must wait until the StatefulSet has
                # its new partition, which stops the update.
                continue
            if _is_budget(step) and not are_budgets_applied:
                # A pod moves from one budget to another: each waits for the one before it.
                continue
            delay = self.delays.delay_of(step, clock.now())
            if delay is not None:
                if delay.why not in outcome.refusals:
                    outcome.refusals.append(delay.why)
                is_partition_applied = is_partition_applied and not _is_stateful_set(step)
                are_budgets_applied = are_budgets_applied and not _is_budget(step)
                continue
            try:
                await self._apply_step(spec, step)
            except PlanInfeasible as error:
                outcome.plan_problem = str(error)
            except (_Refused, ApiRefused, ClusterUnavailable) as error:
                refusal = f"{describe(step)}: {error}"
                log.warning("refused: %s", refusal)
                outcome.refusals.append(refusal)
                self.delays.refused(step, refusal, clock.now())
                is_partition_applied = is_partition_applied and not _is_stateful_set(step)
                are_budgets_applied = are_budgets_applied and not _is_budget(step)
            else:
                outcome.done.append(step)
                self.delays.done(step)
        return outcome

    async def _apply_step(self, spec: BrokerSetSpec, step: Step) -> None:
        namespace = spec.identity.namespace
        match step:
            case steps.Apply():
                await self._api.apply(RESOURCES[step.kind], namespace, step.name, step.document)
            case steps.Delete():
                await self._delete(RESOURCES[step.kind], namespace, step.name)
            case steps.ResizeVolume():
                request = {"spec": {"resources": {"requests": {"storage": step.size}}}}
                await self._api.patch(PERSISTENT_VOLUME_CLAIMS, namespace, step.name, request)
            case steps.PatchGate():
                await self._patch_gate(namespace, step)
            case steps.DeletePod():
                await self._delete(PODS, namespace, step.name, uid=step.uid)
            case steps.AlterBrokerConfigs():
                await self._alter_configs(step)
            case steps.CreateReassignment():
                await create_reassignment(self._operator, self._reader, spec, step)
            case steps.WithdrawReassignment():
                await self._withdraw(namespace, step.name)
            case steps.DeleteReassignment():
                await self._delete(PARTITION_REASSIGNMENTS, namespace, step.name)

    async def _patch_gate(self, namespace: str, step: steps.PatchGate) -> None:
        condition = step.to_document(timestamp(self._operator.clock.wall_ms()))
        # The uid is a precondition: a pod that was created again has readiness of its own.
        patch = {"metadata": {"uid": step.uid}, "status": {"conditions": [condition]}}
        try:
            await self._api.patch(
                PODS,
                namespace,
                step.pod,
                patch,
                patch_type=PatchType.STRATEGIC,
                subresource="status",
            )
        except (NotFound, Conflict) as error:
            log.info("the pod %s has been replaced: %s", step.pod, error)

    async def _alter_configs(self, step: steps.AlterBrokerConfigs) -> None:
        admin = self._reader.admin
        if admin is None:
            raise _Refused("no broker has answered yet")
        refusal = await admin.alter_default_broker_configs(step.changes)
        if refusal is not None:
            raise _Refused(f"{refusal.error}: {refusal.message}")

    async def _withdraw(self, namespace: str, name: str) -> None:
        """Mark the reassignment as withdrawn and cancel it, in one write."""
        patch = {
            "metadata": {"annotations": {names.WITHDRAWN_ANNOTATION: "true"}},
            "spec": {"desiredState": "Cancelled"},
        }
        try:
            await self._api.patch(PARTITION_REASSIGNMENTS, namespace, name, patch)
        except NotFound:
            log.info("the reassignment %s is gone already", name)

    async def _delete(
        self, resource: Resource, namespace: str, name: str, *, uid: str | None = None
    ) -> None:
        try:
            await self._api.delete(resource, namespace, name, uid=uid)
        except NotFound:
            log.info("%s %s is gone already", resource.kind, name)
        except Conflict as error:
            log.info("%s %s has been replaced: %s", resource.kind, name, error)


def _is_stateful_set(step: Step) -> bool:
    return isinstance(step, steps.Apply) and step.kind == STATEFUL_SETS.kind


def _is_budget(step: Step) -> bool:
    if not isinstance(step, steps.Apply | steps.Delete):
        return False
    return step.kind == POD_DISRUPTION_BUDGETS.kind


def describe(step: Step) -> str:
    """Return the object of a step, for people."""
    match step:
        case steps.Apply() | steps.Delete():
            return f"{step.kind} {step.name}"
        case steps.ResizeVolume():
            return f"PersistentVolumeClaim {step.name}"
        case steps.PatchGate():
            return f"readiness gate of pod {step.pod}"
        case steps.DeletePod():
            return f"pod {step.name}"
        case steps.AlterBrokerConfigs():
            return f"broker configs {', '.join(sorted(step.changes))}"
        case _:
            return f"PartitionReassignment {step.name}"
