"""Tending one BrokerSet: from its first sight until it is deleted.

Each look reads the set, Kubernetes' objects and the brokers' cluster, lets the core decide, takes
its steps and writes the status. What is remembered between looks saves requests and times retries;
an operator killed anywhere is followed by one that looks again. A deleted set needs nothing from
here: its objects go with it, by their ownerReferences.

A set for which nothing is to be done rests. While no watch reports a change, its objects are as
they were, and only the brokers are asked. When their answer calls for a step, everything is read
again before the step is taken.
"""

import logging
from collections.abc import Callable, Mapping
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
from ballast.kube.api.errors import KubernetesError, NotFound
from ballast.kube.api.events import EventRecorder
from ballast.kube.api.resources import BROKER_SETS, Document, ObjectKey
from ballast.kube.api.status_writer import StatusWriter
from ballast.kube.broker_sets.apply_steps import Outcome, StepRunner
from ballast.kube.broker_sets.failed_steps import with_refusals
from ballast.kube.broker_sets.observe import BadBootstrapServers, BrokerSetObserver
from ballast.kube.broker_sets.step_events import condition_events, step_events
from ballast.kube.runtime.context import OperatorContext
from ballast.kube.runtime.ensembles import PacedAsker
from ballast.model.fields import FieldError

log = logging.getLogger(__name__)

PAUSE_S: Final = 0.2
"""The least time between two looks: what wakes often is answered together."""
REAPPLY_S: Final = 600.0
"""Between two applications of every object: what others changed in them is put right. Every object
is read then as well, also of a set that rests."""
LOOK_SHARE: Final = 4.0
"""A look at a large cluster takes a while: this many times as long is waited for the next one."""
MAX_SHARED_S: Final = 5.0
"""The most that is waited for that reason."""
MAX_BACK_OFF_S: Final = 60.0
"""After looks that failed one after another."""


async def tend(operator: OperatorContext, key: ObjectKey, stopped: Callable[[], bool]) -> None:
    """Look after one broker set until it is gone, being deleted, or ``stopped``.

    Raises nothing but CancelledError.
    """
    reconciler = BrokerSetReconciler(operator, key)
    try:
        is_woken = True
        while not stopped():
            delay_s = await reconciler.look(is_woken=is_woken)
            if delay_s is None:
                operator.metrics.forget(key)
                return
            await operator.clock.sleep(reconciler.pause_s)
            is_woken = await operator.queue.wait(key, delay_s)
    finally:
        await reconciler.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleSnapshot:
    """A set for which nothing was to be done, as it was read."""

    document: Document
    """With the status that it has by now."""
    spec: BrokerSetSpec
    observed: Observation


class BrokerSetReconciler:
    """One broker set's loop, look by look."""

    def __init__(self, operator: OperatorContext, key: ObjectKey) -> None:
        self._operator = operator
        self._key = key
        self._reader = BrokerSetObserver(operator, key)
        self._actions = StepRunner(operator, self._reader)
        self._events = EventRecorder(operator.api, operator.identity, operator.clock)
        self._asker = PacedAsker(operator.ask_ensemble, operator.clock)
        self._uid = ""
        self._writer: StatusWriter | None = None
        self._applied_at: float | None = None
        """When every object was applied last; None = not by this process."""
        self._outcome = Outcome()
        """Of the last look."""
        self._plan_problem: str | None = None
        self._plan_failed_ms: int | None = None
        """Why and when a reassignment could not be planned last."""
        self._failures = 0
        self.pause_s = PAUSE_S
        """What has to pass before the next look, whatever wakes the set until then."""
        self._resting: IdleSnapshot | None = None
        """None: everything has to be read."""

    async def close(self) -> None:
        """Close what is open."""
        await self._reader.close()

    async def look(self, *, is_woken: bool = True) -> float | None:
        """Take the next steps; return after how many seconds to look again, None = never.

        ``is_woken``: something may have changed in Kubernetes since the last look.
        """
        clock = self._operator.clock
        began = clock.now()
        try:
            delay_s = await self._look(is_woken=is_woken)
        except KubernetesError as error:
            log.warning("%s: %s", self._key, error)
            return self._back_off(clock.now() - began)
        except Exception:
            # A fault of ours with one object must not end the others.
            log.exception("%s: the look has failed", self._key)
            return self._back_off(clock.now() - began)
        self._failures = 0
        took_s = clock.now() - began
        self._count("ok", took_s)
        self.pause_s = max(PAUSE_S, min(MAX_SHARED_S, took_s))
        return None if delay_s is None else max(delay_s, min(MAX_SHARED_S, LOOK_SHARE * took_s))

    def _back_off(self, duration_s: float) -> float:
        """Return how long to wait after an error."""
        self._failures += 1
        self._applied_at = None
        self._count("error", duration_s)
        return float(min(MAX_BACK_OFF_S, 0.25 * 2 ** min(self._failures, 10)))

    def _count(self, result: str, duration_s: float) -> None:
        self._operator.metrics.count_reconciliation(BROKER_SETS.kind, result, duration_s)

    async def _look(self, *, is_woken: bool) -> float | None:
        resting, self._resting = self._resting, None
        if resting is not None and not is_woken and not self._must_reapply():
            delay_s = await self._tend(resting.document, resting.spec, known=resting.observed)
            if delay_s is not None:
                return delay_s
        try:
            document = await self._operator.api.get(
                BROKER_SETS, self._key.namespace, self._key.name
            )
        except NotFound:
            return None
        if "deletionTimestamp" in document["metadata"]:
            return None
        if document["metadata"]["uid"] != self._uid:
            await self._begin(document)
        try:
            spec = parse_broker_set(document)
        except InvalidBrokerSet as error:
            return await self._refuse(document, error)
        try:
            return await self._tend(document, spec)
        except BadBootstrapServers as error:
            wrong = FieldError(path="spec.bootstrapServers", reason=str(error))
            return await self._refuse(document, InvalidBrokerSet([wrong]))

    async def _begin(self, document: Document) -> None:
        """Forget another set of the same name."""
        await self._reader.close()
        self._uid = document["metadata"]["uid"]
        self._applied_at, self._outcome = None, Outcome()
        self._plan_problem = self._plan_failed_ms = None
        self._writer = StatusWriter(
            self._operator.api,
            BROKER_SETS,
            self._key,
            self._operator.clock,
            written=_status_of(document),
        )

    def _must_reapply(self) -> bool:
        now = self._operator.clock.now()
        return self._applied_at is None or now >= self._applied_at + REAPPLY_S

    async def _tend(
        self, document: Document, wanted: BrokerSetSpec, known: Observation | None = None
    ) -> float | None:
        """Take the next steps and report; None when they need more than what is ``known``."""
        clock = self._operator.clock
        # Before anything is read: what changes from now on wakes the set.
        is_followed = self._operator.is_followed(self._key.namespace)
        reapply = self._must_reapply()
        observed = await self._reader.look(wanted, known=known)
        ensemble = await self._settle_ensemble(document, wanted, observed)
        spec = effective_spec(wanted, ensemble)
        decision = decide(
            DecisionInput(
                spec=spec,
                installation=InstallationDefaults(
                    image=self._operator.broker_image,
                    cluster_domain=self._operator.cluster_domain,
                    pods=self._operator.broker_pods,
                ),
                observation=observed,
                ensemble=ensemble,
                status=_status_of(document),
                transient=TransientState(
                    reapply=reapply,
                    plan_problem=self._plan_problem,
                    plan_failed_ms=self._plan_failed_ms,
                ),
                now_ms=clock.wall_ms(),
            )
        )
        is_quiet = _is_quiet(observed, decision)
        if known is not None and (decision.steps or not is_quiet):
            return None
        self._outcome = await self._actions.carry_out(spec, decision.steps)
        self._outcome.refusals += self._reader.refusals
        self._note_plans(decision)
        if reapply:
            self._applied_at = clock.now()
        status = self._status(document, spec, decision)
        wait_s = await self._report(document, status)
        # What a step has changed wakes the set. Until then it is known as it was before, and the
        # next look wants the same step: which makes it read everything.
        if is_followed and is_quiet and not self._outcome.refusals:
            now_has = {**document, "status": status} if wait_s is None else document
            self._resting = IdleSnapshot(document=now_has, spec=wanted, observed=observed)
        delay_s = self._pace(decision)
        return delay_s if wait_s is None else min(delay_s, wait_s)

    async def _settle_ensemble(
        self, document: Document, spec: BrokerSetSpec, observed: Observation
    ) -> EnsembleState:
        """Find out whether ``spec.zookeeper`` may be followed."""
        accepted = accepted_of(_status_of(document))
        is_new = observed.stateful_set is None and not observed.volumes
        answer = None
        view = self._reader.cluster.view if self._reader.cluster is not None else None
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

    def _note_plans(self, decision: Decision) -> None:
        """Remember whether what was to be planned could be; else it is asked for in vain again."""
        if self._outcome.plan_problem is not None:
            self._plan_problem = self._outcome.plan_problem
            self._plan_failed_ms = self._operator.clock.wall_ms()
        elif any(isinstance(step, CreateReassignment) for step in decision.steps):
            self._plan_problem = self._plan_failed_ms = None

    def _status(
        self, document: Document, spec: BrokerSetSpec, decision: Decision
    ) -> Mapping[str, Any]:
        return with_refusals(
            decision.status,
            self._outcome.refusals,
            before=_status_of(document),
            generation=spec.identity.generation,
            now_ms=self._operator.clock.wall_ms(),
        )

    async def _report(self, document: Document, status: Mapping[str, Any]) -> float | None:
        """Write the status and Events; return None, or after how long to write again."""
        for event in step_events(self._outcome):
            await self._events.note(document, event.reason, event.message, warning=event.is_warning)
        return await self._write(document, status)

    async def _write(self, document: Document, status: Mapping[str, Any]) -> float | None:
        assert self._writer is not None, "a look begins with the object"
        self._operator.metrics.record_status(self._key, status)
        wait_s = await self._writer.write(status)
        if wait_s is None:
            for event in condition_events(_status_of(document), status):
                await self._events.note(
                    document, event.reason, event.message, warning=event.is_warning
                )
        return wait_s

    async def _refuse(self, document: Document, error: InvalidBrokerSet) -> float:
        """Report a spec that cannot be carried out; what runs is left as it is."""
        metadata, now_ms = document["metadata"], self._operator.clock.wall_ms()
        decision = reject_spec(metadata, _status_of(document), error, now_ms=now_ms)
        self._outcome = Outcome()
        wait_s = await self._write(document, decision.status)
        return decision.requeue_after_s if wait_s is None else wait_s

    def _pace(self, decision: Decision) -> float:
        """Return when to look again: a step that waits is no reason to look before that is over."""
        waits_s = self._actions.delays.next_in_s(self._operator.clock.now())
        if waits_s is None or self._outcome.done:
            return decision.requeue_after_s
        return min(decision.idle_requeue_after_s, max(PAUSE_S, waits_s))


def _is_quiet(observed: Observation, decision: Decision) -> bool:
    """Whether nothing is under way: the progress of its own reassignments does not wake a set."""
    is_moving = any(not move.is_final for move in observed.reassignments)
    return decision.idle_requeue_after_s >= IDLE_S and not is_moving


def _status_of(document: Document) -> Mapping[str, Any]:
    status = document.get("status")
    return status if isinstance(status, Mapping) else {}
