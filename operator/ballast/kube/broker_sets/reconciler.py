"""Reconciles one BrokerSet: observe Kubernetes and the brokers, decide, apply the steps.

The decision is `brokersets.decide`; the reconcile loop (`kube.runtime.reconcile_loop`) writes the
status that it returns. What is kept between two reconciliations saves requests and times retries;
a process that is killed anywhere is followed by one that reconciles again. A deleted BrokerSet
needs no action: its objects are deleted with it, because of their ownerReferences.

An idle BrokerSet costs next to nothing. While no watch reports a change, its objects are as they
were read, and only the brokers are asked. When their answer calls for a step, everything is read
again before the step is taken.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ballast.brokersets.decide import IDLE_S, decide, reject_spec
from ballast.brokersets.errors import InvalidBrokerSet
from ballast.brokersets.observation.observation import Observation
from ballast.brokersets.spec.parse import parse_broker_set
from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.brokersets.steps.decision_input import (
    DecisionInput,
    InstallationDefaults,
    TransientState,
)
from ballast.brokersets.steps.ensemble import (
    EnsembleState,
    accepted_of,
    effective_spec,
    must_ask,
    resolve_ensemble,
)
from ballast.brokersets.steps.steps import CreateReassignment, Decision
from ballast.kube.api.resources import BROKER_SETS, Document, ObjectKey
from ballast.kube.broker_sets.apply_steps import Outcome, StepRunner
from ballast.kube.broker_sets.failed_steps import with_refusals
from ballast.kube.broker_sets.observe import BadBootstrapServers, BrokerSetObserver
from ballast.kube.broker_sets.step_events import condition_events, step_events
from ballast.kube.runtime.condition_events import ObjectEvent
from ballast.kube.runtime.context import OperatorContext
from ballast.kube.runtime.ensembles import PacedAsker
from ballast.kube.runtime.reconcile_loop import ObjectReconciler, ReconciledKind, Result, Status
from ballast.model.fields import FieldError

MIN_PAUSE_S: Final = 0.2
"""The least time between two reconciliations: watch events that follow each other share one."""
REAPPLY_S: Final = 600.0
"""The interval at which every object is read and applied again, also of an idle BrokerSet: this
reverts what other clients have changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleSnapshot:
    """What was read of a BrokerSet that needed no step."""

    spec: BrokerSetSpec
    observed: Observation


class BrokerSetReconciler(ObjectReconciler):
    """Reconciles one BrokerSet."""

    def __init__(self, operator: OperatorContext, key: ObjectKey) -> None:
        self._operator = operator
        self._key = key
        self._observer = BrokerSetObserver(operator, key)
        self._steps = StepRunner(operator, self._observer)
        self._asker = PacedAsker(operator.ask_ensemble, operator.clock)
        self._applied_at: float | None = None
        """When every object was applied last; None = not by this process."""
        self._plan_problem: str | None = None
        self._plan_failed_ms: int | None = None
        """Why and when planning a reassignment failed last."""
        self._idle: IdleSnapshot | None = None

    async def close(self) -> None:
        """Close the connections to the brokers."""
        await self._observer.close()

    def forget(self) -> None:
        """Apply every object again: after an error some of them may not be as decided."""
        self._applied_at = None

    def events_between(self, before: Status, after: Status) -> Iterator[ObjectEvent]:
        """Return the Events for a change of conditions."""
        return condition_events(before, after)

    async def reconcile(self, document: Document) -> Result:
        """Observe Kubernetes and the brokers, decide, and apply the steps."""
        self._idle = None
        try:
            spec = parse_broker_set(document)
        except InvalidBrokerSet as error:
            return self._refuse(document, error)
        # Before anything is read: each change from now on enqueues the set.
        is_followed = self._operator.is_followed(self._key.namespace)
        must_reapply = self._must_reapply()
        try:
            observed = await self._observer.observe(spec)
        except BadBootstrapServers as error:
            wrong = FieldError(path="spec.bootstrapServers", reason=str(error))
            return self._refuse(document, InvalidBrokerSet([wrong]))
        world = await self._world(document, spec, observed, must_reapply=must_reapply)
        decision = decide(world)
        outcome = await self._steps.run(world.spec, decision.steps)
        outcome.refusals += self._observer.refusals
        self._remember_plan_problem(decision, outcome)
        if must_reapply:
            self._applied_at = self._operator.clock.now()
        # What a step has changed enqueues the set. Until then the set is known as it was before,
        # and a decision on that wants the same step again, which makes the loop read everything.
        if is_followed and _is_idle(observed, decision) and not outcome.refusals:
            self._idle = IdleSnapshot(spec=spec, observed=observed)
        return self._result(document, world.spec, decision, outcome)

    async def reconcile_unchanged(self, document: Document) -> Result | None:
        """Ask the brokers only; None if their answer calls for a step: all is read before that."""
        idle, self._idle = self._idle, None
        if idle is None or self._must_reapply():
            return None
        is_followed = self._operator.is_followed(self._key.namespace)
        observed = await self._observer.observe(idle.spec, last=idle.observed)
        world = await self._world(document, idle.spec, observed, must_reapply=False)
        decision = decide(world)
        if decision.steps or not _is_idle(observed, decision):
            return None
        outcome = Outcome(refusals=list(self._observer.refusals))
        if is_followed and not outcome.refusals:
            self._idle = IdleSnapshot(spec=idle.spec, observed=observed)
        return self._result(document, world.spec, decision, outcome)

    def _must_reapply(self) -> bool:
        now = self._operator.clock.now()
        return self._applied_at is None or now >= self._applied_at + REAPPLY_S

    async def _world(
        self, document: Document, spec: BrokerSetSpec, observed: Observation, *, must_reapply: bool
    ) -> DecisionInput:
        ensemble = await self._settle_ensemble(document, spec, observed)
        return DecisionInput(
            spec=effective_spec(spec, ensemble),
            installation=InstallationDefaults(
                image=self._operator.broker_image,
                cluster_domain=self._operator.cluster_domain,
                pods=self._operator.broker_pods,
            ),
            observation=observed,
            ensemble=ensemble,
            status=_status_of(document),
            transient=TransientState(
                reapply=must_reapply,
                plan_problem=self._plan_problem,
                plan_failed_ms=self._plan_failed_ms,
            ),
            now_ms=self._operator.clock.wall_ms(),
        )

    async def _settle_ensemble(
        self, document: Document, spec: BrokerSetSpec, observed: Observation
    ) -> EnsembleState:
        """Return whether the brokers may use the ensemble that ``spec.zookeeper`` names."""
        accepted = accepted_of(_status_of(document))
        is_new = observed.stateful_set is None and not observed.volumes
        answer = None
        view = self._observer.cluster.view if self._observer.cluster is not None else None
        if must_ask(spec, accepted):
            answer = await self._asker.answer(
                spec,
                is_new=is_new,
                is_bound=accepted is not None,
                brokers_answer=view is not None,
            )
        return resolve_ensemble(
            spec,
            accepted,
            answer,
            is_new=is_new,
            brokers_cluster_id=None if view is None else view.cluster_id,
        )

    def _remember_plan_problem(self, decision: Decision, outcome: Outcome) -> None:
        """Remember why planning failed: the decision then does not ask for the plan each time."""
        if outcome.plan_problem is not None:
            self._plan_problem = outcome.plan_problem
            self._plan_failed_ms = self._operator.clock.wall_ms()
        elif any(isinstance(step, CreateReassignment) for step in decision.steps):
            self._plan_problem = self._plan_failed_ms = None

    def _result(
        self, document: Document, spec: BrokerSetSpec, decision: Decision, outcome: Outcome
    ) -> Result:
        status = with_refusals(
            decision.status,
            outcome.refusals,
            before=_status_of(document),
            generation=spec.identity.generation,
            now_ms=self._operator.clock.wall_ms(),
        )
        return Result(
            status=status,
            events=tuple(step_events(outcome)),
            requeue_after_s=self._requeue_after_s(decision, outcome),
            is_unchanged_until_enqueued=self._idle is not None,
        )

    def _refuse(self, document: Document, error: InvalidBrokerSet) -> Result:
        """Report an invalid spec; what runs stays as it is."""
        now_ms = self._operator.clock.wall_ms()
        decision = reject_spec(document["metadata"], _status_of(document), error, now_ms=now_ms)
        return Result(status=decision.status, requeue_after_s=decision.requeue_after_s)

    def _requeue_after_s(self, decision: Decision, outcome: Outcome) -> float:
        """Return the time until the next reconciliation.

        When all steps wait for their retry, there is nothing to do before the first of them.
        """
        retry_in_s = self._steps.delays.next_in_s(self._operator.clock.now())
        if retry_in_s is None or outcome.done:
            return decision.requeue_after_s
        return min(decision.idle_requeue_after_s, max(MIN_PAUSE_S, retry_in_s))


def _is_idle(observed: Observation, decision: Decision) -> bool:
    """Whether nothing is under way. The progress of its reassignments does not enqueue a set."""
    is_moving = any(not move.is_final for move in observed.reassignments)
    return decision.idle_requeue_after_s >= IDLE_S and not is_moving


def _status_of(document: Document) -> Mapping[str, Any]:
    status = document.get("status")
    return status if isinstance(status, Mapping) else {}


KIND: Final = ReconciledKind(
    resource=BROKER_SETS, open=BrokerSetReconciler, min_pause_s=MIN_PAUSE_S
)
