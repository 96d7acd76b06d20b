"""Reconciles one PartitionReassignment, from its creation to its end and its deletion.

    deleted?     ─► `deletion.clean_up`
    finished?    ─► the finalizer goes, and the object after ttlSecondsAfterFinished
    spec         ─► parsed; one that can never be carried out ends in the state Invalid
    cluster      ─► the address in the BrokerSet; the epoch fence
    saved state  ─► what an earlier reconciliation has begun
    plan         ─► from the spec, from a ConfigMap, or generated; a large one is shown as a whole
    step         ─► `step.run_step`: the turn in the queue, then one step of `reassign.reconcile`

Each function returns a `Result` at its first reason to wait; the reconcile loop
(`kube.runtime.reconcile_loop`) carries it out. Only the saved state counts between two
reconciliations: a process that is killed anywhere is followed by one that reconciles again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ballast.kube.api.cluster_address import ClusterAddress, find_cluster
from ballast.kube.api.errors import NotFound
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import (
    BROKER_SETS,
    PARTITION_REASSIGNMENTS,
    Document,
    ObjectKey,
)
from ballast.kube.reassignments import deletion
from ballast.kube.reassignments.large_plans import large_plan_findings, large_plan_status
from ballast.kube.reassignments.plan_pieces import has_any_begun, is_plan_of
from ballast.kube.reassignments.plan_source import (
    LoadedPlan,
    PlanLoader,
    PlanNotReadable,
    remembered_plan,
)
from ballast.kube.reassignments.planning.plan_attempt import AttemptInProgress, PlanRequest
from ballast.kube.reassignments.planning.plan_generator import PlanGenerator
from ballast.kube.reassignments.planning.planning_status import (
    given_up,
    pending_status,
    planning_of,
)
from ballast.kube.reassignments.queue import others_of
from ballast.kube.reassignments.session import ReassignmentSession
from ballast.kube.reassignments.status import refused, stalled, waiting, with_findings
from ballast.kube.reassignments.step import IDLE_REQUEUE_S, ReconcileInputs, run_step
from ballast.kube.runtime.condition_events import ObjectEvent, condition_events
from ballast.kube.runtime.context import OperatorContext
from ballast.kube.runtime.epoch_fence import FENCED_REQUEUE_S, EpochFence
from ballast.kube.runtime.reconcile_loop import (
    REQUEUE_NOW,
    Finalizer,
    ObjectReconciler,
    ReconciledKind,
    Result,
    Status,
)
from ballast.model.conditions import ConditionStatus, Finding
from ballast.planner.errors import OptionsRejected
from ballast.planner.options_document import read_options
from ballast.reassign.decision.decide import requested_intent
from ballast.reassign.errors import ManifestRejected, StateMismatch
from ballast.reassign.generate.generate_manifest import PlanToGenerate
from ballast.reassign.reconcile import Reconciler
from ballast.reassign.spec.manifest import Manifest, parse_manifest
from ballast.reassign.spec.plan_manifest import PlanConfigMap, PlanFile
from ballast.reassign.spec.spec import Approval, Assignments, DesiredState
from ballast.reassign.state.conditions import (
    FINAL_STATUS,
    ConditionType,
    LifecycleState,
    conditions_from_documents,
)
from ballast.reassign.state.persisted_state import PersistedState

FINISHED_RESYNC_S: Final = 600.0
"""The interval of reconciliations of a reassignment that has ended."""
NOT_FOUND_REQUEUE_S: Final = 10.0
"""The interval of reads of a broker set or a plan that does not exist."""

Findings = Mapping[ConditionType, Finding]


class _SpecRejected(Exception):
    """The spec can never be carried out as it is."""


class PartitionReassignmentReconciler(ObjectReconciler):
    """Reconciles one reassignment."""

    def __init__(self, operator: OperatorContext, key: ObjectKey) -> None:
        self._operator = operator
        self._session = ReassignmentSession(operator)
        self._fence = EpochFence(key, operator.clock)
        self._plans = PlanLoader(operator.api, operator.clock)
        self._generator = PlanGenerator(self._session)

    async def close(self) -> None:
        """Close the connections to the cluster."""
        await self._session.close()

    def forget(self) -> None:
        """Read the saved state again at the next reconciliation."""
        self._session.forget()

    def events_between(self, before: Status, after: Status) -> Sequence[ObjectEvent]:
        """Return the Events for a change of conditions."""
        return condition_events(
            conditions_from_documents(before.get("conditions")),
            conditions_from_documents(after.get("conditions")),
        )

    async def dependents(self, document: Document) -> Sequence[ObjectKey]:
        """Return the reassignments that wait for the end of this one, and its broker set."""
        reassignment = ReassignmentObject(document=document)
        others = await others_of(self._operator.api, reassignment)
        broker_set = ObjectKey(BROKER_SETS.plural, reassignment.namespace, reassignment.broker_set)
        return [*(other.key for other in others if other.state not in FINAL_STATUS), broker_set]

    async def reconcile(self, document: Document) -> Result:
        """Take the next step."""
        reassignment = ReassignmentObject(document=document)
        if reassignment.is_deleted:
            return await deletion.clean_up(self._session, reassignment)
        if reassignment.is_settled:
            return await self._reconcile_finished(reassignment)
        try:
            manifest = _accepted_manifest(reassignment)
        except _SpecRejected as error:
            return self._refuse(reassignment, str(error))
        try:
            return await self._reconcile_active(reassignment, manifest)
        except PlanNotReadable as error:
            findings = waiting(reassignment, "PlanUnreadable", str(error), accepted=False)
            return self._report(reassignment, findings, NOT_FOUND_REQUEUE_S)
        except StateMismatch as error:
            self._session.forget()
            findings = stalled("StateUnreadable", str(error))
            return self._report(reassignment, findings, IDLE_REQUEUE_S)

    async def _reconcile_active(
        self, reassignment: ReassignmentObject, manifest: Manifest
    ) -> Result:
        name = manifest.broker_set or ""
        try:
            cluster = await find_cluster(
                self._operator.api, reassignment.namespace, name, self._operator.cluster_domain
            )
            reconciler = await self._session.reconciler(reassignment, cluster)
        except (NotFound, ValueError) as error:
            message = f"BrokerSet {name}: {error}"
            if isinstance(error, NotFound):
                message = f"spec.brokerSetRef.name: there is no BrokerSet {name}"
            findings = waiting(reassignment, "BrokerSetNotFound", message, accepted=False)
            return self._report(reassignment, findings, NOT_FOUND_REQUEUE_S)
        if self._fence.blocks(reassignment.controller_epoch, cluster.epoch):
            self._session.forget()
            return Result(requeue_after_s=FENCED_REQUEUE_S)
        memory = await reconciler.load_state()
        plan = await self._plan(reassignment, manifest, cluster, memory)
        if isinstance(plan, Result):
            return plan
        return await self._execute(reassignment, manifest, cluster, reconciler, memory, plan)

    async def _execute(
        self,
        reassignment: ReassignmentObject,
        manifest: Manifest,
        cluster: ClusterAddress,
        reconciler: Reconciler,
        memory: PersistedState | None,
        plan: LoadedPlan,
    ) -> Result:
        """Take a step of the plan, or of the next piece of a large one."""
        if memory is not None and not is_plan_of(plan, memory):
            if manifest.settings.desired_state in (DesiredState.RUNNING, DesiredState.PAUSED):
                return self._report(reassignment, stalled("PlanChanged", _CHANGED), IDLE_REQUEUE_S)
            plan = remembered_plan(memory)
        if plan.summary is not None and not has_any_begun(memory):
            findings = large_plan_findings(manifest.settings, plan.summary)
            if findings is not None:
                status = {**reassignment.status, **large_plan_status(plan, plan.summary)}
                return self._report(reassignment, findings, IDLE_REQUEUE_S, status=status)
        if plan.summary is not None or (memory is not None and memory.piece is not None):
            intent = requested_intent(manifest.settings)
            piece = await self._session.pieces.load(reassignment.namespace, plan, memory, intent)
            plan = replace(plan, assignments=piece)
            # The approval of the whole plan is the approval of each of its pieces.
            manifest = replace(manifest, settings=replace(manifest.settings, approval=Approval()))
        inputs = ReconcileInputs(
            reassignment=reassignment,
            manifest=manifest,
            cluster=cluster,
            reconciler=reconciler,
            memory=memory,
            plan=plan,
        )
        return await run_step(self._session, inputs)

    # -- the plan ------------------------------------------------------------------------------

    async def _plan(
        self,
        reassignment: ReassignmentObject,
        manifest: Manifest,
        cluster: ClusterAddress,
        memory: PersistedState | None,
    ) -> LoadedPlan | Result:
        """Return the plan, or what to report while there is none."""
        source = manifest.plan
        if isinstance(source, Assignments):
            return LoadedPlan(assignments=source)
        if isinstance(source, PlanToGenerate):
            request = PlanRequest(
                reassignment=reassignment,
                generate=source,
                settings=manifest.settings,
                cluster=cluster,
                memory=memory,
            )
            return await self._generated_plan(reassignment, request)
        assert isinstance(source, PlanConfigMap), "other sources have been rejected"
        if not reassignment.conditions:
            # Reading a large plan takes seconds: the status says so first.
            findings = {ConditionType.PLANNED: _READING, ConditionType.SUCCEEDED: _PLANNING}
            return self._report(reassignment, findings, REQUEUE_NOW)
        try:
            return await self._plans.load(reassignment, source)
        except PlanNotReadable:
            if memory is None or memory.start_time_ms is None:
                raise
            # The saved state of a reassignment that has begun replaces a ConfigMap that is gone.
            return remembered_plan(memory)

    async def _generated_plan(
        self, reassignment: ReassignmentObject, request: PlanRequest
    ) -> LoadedPlan | Result:
        end = _ENDS.get(request.settings.desired_state)
        if end is not None and request.memory is None:
            await self._generator.give_up(request)
            return self._report(reassignment, given_up(end), REQUEUE_NOW)
        attempt = await self._generator.advance(request)
        if isinstance(attempt, LoadedPlan):
            return attempt
        assert isinstance(attempt, AttemptInProgress), "the only other kind"
        status = pending_status(reassignment, attempt, request.cluster.epoch)
        result = self._report(reassignment, attempt.findings, attempt.delay_s, status=status)
        # The number of the attempt must be stored before anything is created for the attempt.
        return replace(result, is_urgent=attempt.planning != planning_of(reassignment))

    # -- results without a step ----------------------------------------------------------------

    async def _reconcile_finished(self, reassignment: ReassignmentObject) -> Result:
        """Remove the finalizer of a reassignment that has ended, and delete it after its TTL."""
        await self._session.close()
        ttl_s = reassignment.spec.get("ttlSecondsAfterFinished")
        ended_ms = reassignment.end_time_ms
        if not isinstance(ttl_s, int) or ended_ms is None:
            return Result(finalizer=Finalizer.REMOVE, requeue_after_s=FINISHED_RESYNC_S)
        left_s = ended_ms / 1000 + ttl_s - self._operator.clock.wall_ms() / 1000
        if left_s > 0:
            requeue_after_s = min(FINISHED_RESYNC_S, left_s)
            return Result(finalizer=Finalizer.REMOVE, requeue_after_s=requeue_after_s)
        return Result(
            finalizer=Finalizer.REMOVE, is_expired=True, requeue_after_s=NOT_FOUND_REQUEUE_S
        )

    def _refuse(self, reassignment: ReassignmentObject, message: str) -> Result:
        """Report a spec that is rejected; an edit does not end a reassignment that has begun."""
        if "startTime" in reassignment.status:
            findings = stalled("PlanUnreadable", message)
            return self._report(reassignment, findings, FINISHED_RESYNC_S)
        return self._report(reassignment, refused("PlanUnreadable", message), REQUEUE_NOW)

    def _report(
        self,
        reassignment: ReassignmentObject,
        findings: Findings,
        requeue_after_s: float,
        *,
        status: Mapping[str, Any] | None = None,
    ) -> Result:
        now_ms = self._operator.clock.wall_ms()
        document = with_findings(reassignment, findings, now_ms, status=status)
        return Result(status=document, requeue_after_s=requeue_after_s)


def _accepted_manifest(reassignment: ReassignmentObject) -> Manifest:
    """Return the manifest. Raises `_SpecRejected`."""
    try:
        manifest = parse_manifest(reassignment.manifest_document())
        if isinstance(manifest.plan, PlanFile):
            raise _SpecRejected(_NO_FILES)
        if isinstance(manifest.plan, PlanToGenerate):
            read_options(manifest.plan.options)
    except ManifestRejected as error:
        raise _SpecRejected(str(error)) from error
    except OptionsRejected as error:
        raise _SpecRejected(f"spec.plan.generate: {error}") from error
    return manifest


KIND: Final = ReconciledKind(resource=PARTITION_REASSIGNMENTS, open=PartitionReassignmentReconciler)

_READING: Final = Finding(status=ConditionStatus.UNKNOWN, reason="Reading")
_PLANNING: Final = Finding(status=ConditionStatus.UNKNOWN, reason=LifecycleState.PLANNING.value)
_NO_FILES: Final = "spec.plan.file: is for the command line: put the plan into a ConfigMap"
_ENDS: Final = {
    DesiredState.CANCELLED: LifecycleState.CANCELLED,
    DesiredState.ROLLED_BACK: LifecycleState.ROLLED_BACK,
}
_CHANGED: Final = (
    "the plan in spec.plan.configMapRef is not the one that was stored: restore it, or cancel, "
    "roll back or delete this reassignment"
)
