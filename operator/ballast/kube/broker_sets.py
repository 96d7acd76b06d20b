"""Tending one BrokerSet: from its first sight until it is deleted.

Each look reads the set, Kubernetes' objects and the brokers' cluster, lets the core decide, takes
its steps and writes the status. What is remembered between looks saves requests and times retries;
an operator killed anywhere is followed by one that looks again. A deleted set needs nothing from
here: its objects go with it, by their ownerReferences.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from ballast.brokersets.decide import decide, refused
from ballast.brokersets.ensemble import EnsembleState, accepted_of, in_force, must_ask, settle
from ballast.brokersets.errors import InvalidBrokerSet
from ballast.brokersets.observed import Observed
from ballast.brokersets.reading import read_broker_set
from ballast.brokersets.spec import BrokerSetSpec
from ballast.brokersets.steps import CreateReassignment, Decision
from ballast.brokersets.world import Hints, Surroundings, World
from ballast.kube.broker_set_actions import BrokerSetActions, Outcome
from ballast.kube.broker_set_notices import condition_notices, step_notices
from ballast.kube.broker_set_reader import BadBootstrapServers, BrokerSetReader
from ballast.kube.broker_set_refusals import with_refusals
from ballast.kube.context import OperatorContext
from ballast.kube.ensembles import PacedAsker
from ballast.kube.errors import KubernetesError, NotFound
from ballast.kube.events import EventRecorder
from ballast.kube.resources import BROKER_SETS, Document, ObjectKey
from ballast.kube.status_writer import StatusWriter
from ballast.model.fields import FieldError

log = logging.getLogger(__name__)

PAUSE_S: Final = 0.2
"""The least time between two looks: what wakes often is answered together."""
REAPPLY_S: Final = 300.0
"""Between two applications of every object: what others changed in them is put right."""
MAX_BACK_OFF_S: Final = 60.0
"""After looks that failed one after another."""


async def tend(operator: OperatorContext, key: ObjectKey, stopped: Callable[[], bool]) -> None:
    """Look after one broker set until it is gone, being deleted, or ``stopped``.

    Raises nothing but CancelledError.
    """
    tender = BrokerSetTender(operator, key)
    try:
        while not stopped():
            delay_s = await tender.look()
            if delay_s is None:
                operator.metrics.forget(key)
                return
            await operator.clock.sleep(PAUSE_S)
            await operator.wakes.wait(key, delay_s)
    finally:
        await tender.close()


class BrokerSetTender:
    """One broker set's loop, look by look."""

    def __init__(self, operator: OperatorContext, key: ObjectKey) -> None:
        self._operator = operator
        self._key = key
        self._reader = BrokerSetReader(operator, key)
        self._actions = BrokerSetActions(operator, self._reader)
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

    async def close(self) -> None:
        """Close what is open."""
        await self._reader.close()

    async def look(self) -> float | None:
        """Take the next steps; return after how many seconds to look again, None = never."""
        clock = self._operator.clock
        began = clock.now()
        try:
            delay_s = await self._look()
        except KubernetesError as error:
            log.warning("%s: %s", self._key, error)
            return self._back_off(clock.now() - began)
        except Exception:
            # A fault of ours with one object must not end the others.
            log.exception("%s: the look has failed", self._key)
            return self._back_off(clock.now() - began)
        self._failures = 0
        self._count("ok", clock.now() - began)
        return delay_s

    def _back_off(self, duration_s: float) -> float:
        """Return how long to wait after an error."""
        self._failures += 1
        self._applied_at = None
        self._count("error", duration_s)
        return float(min(MAX_BACK_OFF_S, 0.25 * 2 ** min(self._failures, 10)))

    def _count(self, result: str, duration_s: float) -> None:
        self._operator.metrics.reconciled(BROKER_SETS.kind, result, duration_s)

    async def _look(self) -> float | None:
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
            spec = read_broker_set(document)
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

    async def _tend(self, document: Document, spec: BrokerSetSpec) -> float:
        clock = self._operator.clock
        reapply = self._applied_at is None or clock.now() >= self._applied_at + REAPPLY_S
        observed = await self._reader.look(spec)
        ensemble = await self._settle_ensemble(document, spec, observed)
        spec = in_force(spec, ensemble)
        decision = decide(
            World(
                spec=spec,
                surroundings=Surroundings(
                    image=self._operator.broker_image,
                    cluster_domain=self._operator.cluster_domain,
                    pods=self._operator.broker_pods,
                ),
                observed=observed,
                ensemble=ensemble,
                status=_status_of(document),
                hints=Hints(
                    reapply=reapply,
                    plan_problem=self._plan_problem,
                    plan_failed_ms=self._plan_failed_ms,
                ),
                now_ms=clock.wall_ms(),
            )
        )
        self._outcome = await self._actions.carry_out(spec, decision.steps)
        self._outcome.refusals += self._reader.refusals
        self._note_plans(decision)
        if reapply:
            self._applied_at = clock.now()
        wait_s = await self._report(document, spec, decision)
        delay_s = self._pace(decision)
        return delay_s if wait_s is None else min(delay_s, wait_s)

    async def _settle_ensemble(
        self, document: Document, spec: BrokerSetSpec, observed: Observed
    ) -> EnsembleState:
        """Find out whether ``spec.zookeeper`` may be followed."""
        accepted = accepted_of(_status_of(document))
        is_new = observed.stateful_set is None and not observed.volumes
        answer = None
        if must_ask(spec, accepted):
            is_bound = accepted is not None
            answer = await self._asker.answer(spec, is_new=is_new, is_bound=is_bound)
        view = self._reader.cluster.view if self._reader.cluster is not None else None
        return settle(
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

    async def _report(
        self, document: Document, spec: BrokerSetSpec, decision: Decision
    ) -> float | None:
        """Write the status and Events; return None, or after how long to write again."""
        status = with_refusals(
            decision.status,
            self._outcome.refusals,
            before=_status_of(document),
            generation=spec.identity.generation,
            now_ms=self._operator.clock.wall_ms(),
        )
        for notice in step_notices(self._outcome):
            await self._events.note(
                document, notice.reason, notice.message, warning=notice.is_warning
            )
        return await self._write(document, status)

    async def _write(self, document: Document, status: Mapping[str, Any]) -> float | None:
        assert self._writer is not None, "a look begins with the object"
        self._operator.metrics.saw(self._key, status)
        wait_s = await self._writer.write(status)
        if wait_s is None:
            for notice in condition_notices(_status_of(document), status):
                await self._events.note(
                    document, notice.reason, notice.message, warning=notice.is_warning
                )
        return wait_s

    async def _refuse(self, document: Document, error: InvalidBrokerSet) -> float:
        """Report a spec that cannot be carried out; what runs is left as it is."""
        metadata, now_ms = document["metadata"], self._operator.clock.wall_ms()
        decision = refused(metadata, _status_of(document), error, now_ms=now_ms)
        self._outcome = Outcome()
        wait_s = await self._write(document, decision.status)
        return decision.requeue_after_s if wait_s is None else wait_s

    def _pace(self, decision: Decision) -> float:
        """Return when to look again: a step that waits is no reason to look before that is over."""
        waits_s = self._actions.delays.next_in_s(self._operator.clock.now())
        if waits_s is None or self._outcome.done:
            return decision.requeue_after_s
        return min(decision.quiet_after_s, max(PAUSE_S, waits_s))


def _status_of(document: Document) -> Mapping[str, Any]:
    status = document.get("status")
    return status if isinstance(status, Mapping) else {}
