"""Tending one PartitionReassignment: from its first sight to its end, and to its deletion.

Each look reads the object, its broker set and its plan, lets the reconciler take one step, and
writes what it came to. Nothing else is remembered: an operator killed anywhere is followed by one
that looks again.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from ballast.kube.api.cluster_address import ClusterAddress, find_cluster
from ballast.kube.api.errors import KubernetesError, NotFound
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import PARTITION_REASSIGNMENTS, ObjectKey
from ballast.kube.reassignments import deletion
from ballast.kube.reassignments.large_plans import large_plan_findings, large_plan_status
from ballast.kube.reassignments.plan_pieces import has_any_begun, is_plan_of
from ballast.kube.reassignments.plan_source import (
    LoadedPlan,
    PlanLoader,
    PlanNotReadable,
    remembered_plan,
)
from ballast.kube.reassignments.planning.plan_attempt import PlanRequest
from ballast.kube.reassignments.planning.plan_generator import PlanGenerator
from ballast.kube.reassignments.planning.planning_status import (
    given_up,
    pending_status,
    planning_of,
)
from ballast.kube.reassignments.session import ReassignmentSession
from ballast.kube.reassignments.status import (
    is_fenced,
    refused,
    stalled,
    waiting,
    with_findings,
)
from ballast.kube.reassignments.step import IDLE_REQUEUE_S, REQUEUE_NOW, Case, visit
from ballast.kube.runtime.context import OperatorContext
from ballast.model.conditions import ConditionStatus, Finding
from ballast.planner.errors import OptionsRejected
from ballast.planner.options_document import read_options
from ballast.reassign.decision.decide import requested_intent
from ballast.reassign.errors import ManifestRejected, StateMismatch
from ballast.reassign.generate.generate_manifest import PlanToGenerate
from ballast.reassign.plan.summary import PlanSummary
from ballast.reassign.spec.manifest import Manifest, parse_manifest
from ballast.reassign.spec.plan_manifest import PlanConfigMap, PlanFile
from ballast.reassign.spec.spec import Approval, Assignments, DesiredState
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from ballast.reassign.state.persisted_state import PersistedState

log = logging.getLogger(__name__)

FINISHED_RESYNC_S: Final = 600.0
"""Between two looks at what has ended, and nothing woke us for."""
NOT_FOUND_REQUEUE_S: Final = 10.0
"""Between two looks for a broker set or a plan that is not there."""
FENCE_S: Final = 60.0
"""So long a later incarnation is believed to be alive after we began to see its epoch."""
MAX_BACK_OFF_S: Final = 60.0


async def tend(operator: OperatorContext, key: ObjectKey, stopped: Callable[[], bool]) -> None:
    """Carry one reassignment on until it is gone, let go by its deletion, or ``stopped``.

    ``stopped`` is for the process: a deleted object is cleaned up first, see `kube.deletion`.
    Raises nothing but CancelledError.
    """
    reconciler = PartitionReassignmentReconciler(operator, key)
    try:
        while not stopped():
            delay_s = await reconciler.look()
            if delay_s is None:
                operator.metrics.forget(key)
                return
            if delay_s > 0:
                await operator.queue.wait(key, delay_s)
    finally:
        await reconciler.close()


class PartitionReassignmentReconciler:
    """One reassignment's loop, look by look."""

    def __init__(self, operator: OperatorContext, key: ObjectKey) -> None:
        self._operator = operator
        self._work = ReassignmentSession(operator, key)
        self._failures = 0
        self._fenced_since: float | None = None
        self._plans = PlanLoader(operator.api, operator.clock)
        self._generator = PlanGenerator(self._work)

    async def close(self) -> None:
        """Close what is open."""
        await self._work.close()

    async def look(self) -> float | None:
        """Take the next step; return after how many seconds to look again, None = never."""
        clock = self._operator.clock
        began = clock.now()
        try:
            delay_s = await self._look()
        except KubernetesError as error:
            log.warning("%s: %s", self._work.key, error)
            return self._back_off(clock.now() - began)
        except Exception:
            # A fault of ours with one object must not end the others.
            log.exception("%s: the look has failed", self._work.key)
            return self._back_off(clock.now() - began)
        self._failures = 0
        self._count("ok", clock.now() - began)
        return delay_s

    def _back_off(self, duration_s: float) -> float:
        """Forget what may be wrong; return how long to wait."""
        self._work.forget()
        self._failures += 1
        self._count("error", duration_s)
        return float(min(MAX_BACK_OFF_S, 0.25 * 2 ** min(self._failures, 10)))

    def _count(self, result: str, duration_s: float) -> None:
        self._operator.metrics.count_reconciliation(
            PARTITION_REASSIGNMENTS.kind, result, duration_s
        )

    async def _look(self) -> float | None:  # noqa: PLR0911  (a list of cases)
        try:
            seen = await self._work.see()
        except NotFound:
            return None
        if seen.is_deleted:
            return await deletion.clean_up(self._work, seen)
        if seen.is_settled:
            return await self._rest(seen)
        try:
            manifest = parse_manifest(seen.manifest_document())
            if isinstance(manifest.plan, PlanFile):
                return await self._refuse(seen, refused("PlanUnreadable", _NO_FILES))
            if isinstance(manifest.plan, PlanToGenerate):
                read_options(manifest.plan.options)
        except ManifestRejected as error:
            return await self._refuse(seen, refused("PlanUnreadable", str(error)))
        except OptionsRejected as error:
            message = f"spec.plan.generate: {error}"
            return await self._refuse(seen, refused("PlanUnreadable", message))
        try:
            return await self._tend(seen, manifest)
        except PlanNotReadable as error:
            found = waiting(seen, "PlanUnreadable", str(error), accepted=False)
            return await self._say(seen, found, NOT_FOUND_REQUEUE_S)
        except StateMismatch as error:
            self._work.forget()
            return await self._say(seen, stalled("StateUnreadable", str(error)), IDLE_REQUEUE_S)

    async def _tend(self, seen: ReassignmentObject, manifest: Manifest) -> float:
        operator = self._operator
        name = manifest.broker_set or ""
        try:
            cluster = await find_cluster(
                operator.api, seen.namespace, name, operator.cluster_domain
            )
            reconciler = await self._work.reconciler(seen, cluster)
        except (NotFound, ValueError) as error:
            message = f"BrokerSet {name}: {error}"
            if isinstance(error, NotFound):
                message = f"spec.brokerSetRef.name: there is no BrokerSet {name}"
            found = waiting(seen, "BrokerSetNotFound", message, accepted=False)
            return await self._say(seen, found, NOT_FOUND_REQUEUE_S)
        if self._is_fenced(seen, cluster):
            return 1.0
        memory = await reconciler.load_state()
        plan = await self._plan(seen, manifest, cluster, memory)
        if not isinstance(plan, LoadedPlan):
            return plan
        if memory is not None and not is_plan_of(plan, memory):
            if manifest.settings.desired_state in (DesiredState.RUNNING, DesiredState.PAUSED):
                return await self._say(seen, stalled("PlanChanged", _CHANGED), IDLE_REQUEUE_S)
            plan = remembered_plan(memory)
        if plan.summary is not None and not has_any_begun(memory):
            waits = large_plan_findings(manifest.settings, plan.summary)
            if waits is not None:
                return await self._show(seen, waits, plan, plan.summary)
        if plan.summary is not None or (memory is not None and memory.piece is not None):
            wanted = requested_intent(manifest.settings)
            piece = await self._work.pieces.load(seen.namespace, plan, memory, wanted)
            plan = replace(plan, assignments=piece)
            # Who has approved the whole has approved each piece of it.
            manifest = replace(manifest, settings=replace(manifest.settings, approval=Approval()))
        case = Case(
            seen=seen,
            manifest=manifest,
            cluster=cluster,
            reconciler=reconciler,
            memory=memory,
            plan=plan,
        )
        return await visit(self._work, case)

    async def _plan(
        self,
        seen: ReassignmentObject,
        manifest: Manifest,
        cluster: ClusterAddress,
        memory: PersistedState | None,
    ) -> LoadedPlan | float:
        """Return the plan; or when to look again, for one that is still being made."""
        generate = manifest.plan
        if not isinstance(generate, PlanToGenerate):
            return await self._load(seen, manifest, memory)
        case = PlanRequest(
            seen=seen,
            generate=generate,
            settings=manifest.settings,
            cluster=cluster,
            memory=memory,
        )
        end = _ENDS.get(manifest.settings.desired_state)
        if end is not None and memory is None:
            await self._generator.give_up(case)
            return await self._say(seen, given_up(end), REQUEUE_NOW)
        made = await self._generator.look(case)
        if isinstance(made, LoadedPlan):
            return made
        status = pending_status(seen, made, cluster.epoch)
        now_ms = self._operator.clock.wall_ms()
        document = with_findings(seen, made.findings, now_ms, status=status)
        # Which attempt it is must be known before anything is made for it.
        await self._work.report(seen, document, urgent=made.planning != planning_of(seen))
        return made.delay_s

    async def _load(
        self, seen: ReassignmentObject, manifest: Manifest, memory: PersistedState | None
    ) -> LoadedPlan:
        """Return the plan; what is remembered stands in for a ConfigMap that is gone."""
        source = manifest.plan
        if isinstance(source, Assignments):
            return LoadedPlan(assignments=source)
        assert isinstance(source, PlanConfigMap), "others have been refused"
        if not seen.conditions:
            found = {ConditionType.PLANNED: _READING, ConditionType.SUCCEEDED: _PLANNING}
            await self._say(seen, found, REQUEUE_NOW)
        try:
            return await self._plans.load(seen, source)
        except PlanNotReadable:
            if memory is None or memory.start_time_ms is None:
                raise
            return remembered_plan(memory)

    async def _show(
        self,
        seen: ReassignmentObject,
        found: dict[ConditionType, Finding],
        plan: LoadedPlan,
        summary: PlanSummary,
    ) -> float:
        """Report a large plan of which nothing is executed yet."""
        status = {**seen.status, **large_plan_status(plan, summary)}
        document = with_findings(seen, found, self._operator.clock.wall_ms(), status=status)
        wait_s = await self._work.report(seen, document)
        return IDLE_REQUEUE_S if wait_s is None else min(IDLE_REQUEUE_S, wait_s)

    def _is_fenced(self, seen: ReassignmentObject, cluster: ClusterAddress) -> bool:
        """Whether a later incarnation of the operator has to be left alone.

        A cluster that was made anew begins again with low epochs: what nobody has written for a
        while is taken over.
        """
        now = self._operator.clock.now()
        if not is_fenced(seen, cluster.epoch):
            self._fenced_since = None
            return False
        if self._fenced_since is None:
            self._fenced_since = now
            log.warning(
                "%s was written in epoch %s, ours is %s: it is left alone",
                seen.key,
                seen.controller_epoch,
                cluster.epoch,
            )
        self._work.forget()
        return now - self._fenced_since < FENCE_S

    async def _rest(self, seen: ReassignmentObject) -> float:
        """Look after one that has ended: nothing holds it, and it goes when its time is over."""
        self._operator.metrics.record_status(seen.key, seen.status)
        await self._work.close()
        await self._work.release(seen)
        ttl_s = seen.spec.get("ttlSecondsAfterFinished")
        ended_ms = seen.end_time_ms
        if not isinstance(ttl_s, int) or ended_ms is None:
            return FINISHED_RESYNC_S
        left_s = ended_ms / 1000 + ttl_s - self._operator.clock.wall_ms() / 1000
        if left_s > 0:
            return min(FINISHED_RESYNC_S, left_s)
        await self._operator.api.delete(
            PARTITION_REASSIGNMENTS, seen.namespace, seen.name, uid=seen.uid
        )
        return NOT_FOUND_REQUEUE_S

    async def _refuse(self, seen: ReassignmentObject, found: dict[ConditionType, Finding]) -> float:
        """Report a spec that cannot be carried out; one that has begun is not ended by an edit."""
        if "startTime" in seen.status:
            condition = found[ConditionType.ACCEPTED]
            return await self._say(
                seen, stalled(condition.reason, condition.message), FINISHED_RESYNC_S
            )
        return await self._say(seen, found, REQUEUE_NOW)

    async def _say(
        self, seen: ReassignmentObject, found: dict[ConditionType, Finding], delay_s: float
    ) -> float:
        document = with_findings(seen, found, self._operator.clock.wall_ms())
        wait_s = await self._work.report(seen, document)
        return delay_s if wait_s is None else min(delay_s, wait_s)


_READING = Finding(status=ConditionStatus.UNKNOWN, reason="Reading")
"""A large plan takes seconds to be read: that is to be seen."""
_PLANNING = Finding(status=ConditionStatus.UNKNOWN, reason=LifecycleState.PLANNING.value)
_NO_FILES = "spec.plan.file: is for the command line: give the plan in a ConfigMap"
_ENDS = {
    DesiredState.CANCELLED: LifecycleState.CANCELLED,
    DesiredState.ROLLED_BACK: LifecycleState.ROLLED_BACK,
}
_CHANGED = (
    "the plan in spec.plan.configMapRef is not the one that was stored: put it back, or cancel, "
    "roll back or delete this reassignment"
)
