"""Generates the plan for ``spec.plan.generate``, one step per reconciliation.

`reassign.generate.generation` decides about attempts and failures; `plan_engines` has the steps of
an attempt. After a restart, the status says which attempt is under way, and the ConfigMaps how far
it is. An approved plan is never generated again.
"""

from dataclasses import replace
from typing import Any, Final

from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.reassignments.plan_source import (
    LoadedPlan,
    PlanLoader,
    PlanNotReadable,
    remembered_plan,
)
from ballast.kube.reassignments.planning.generated_plans import (
    StoredIndex,
    delete_plan_chunks,
    find_index,
    last_attempt,
)
from ballast.kube.reassignments.planning.plan_attempt import (
    REQUEUE_NOW,
    AttemptFailed,
    AttemptInProgress,
    PlanRequest,
)
from ballast.kube.reassignments.planning.plan_engines import PLAN_MISSING, PlanEngines
from ballast.kube.reassignments.planning.plan_explanations import (
    expected_batches,
    expected_seconds,
    infeasible_words,
    read_explanation,
)
from ballast.kube.reassignments.planning.planning_status import (
    failed,
    nothing_to_do,
    planning_of,
    under_way,
)
from ballast.kube.reassignments.planning.snapshot_chunks import delete_snapshot_chunks
from ballast.kube.reassignments.session import ReassignmentSession
from ballast.model.conditions import timestamp
from ballast.reassign.decision.admission import UNKNOWN_BROKER, UNKNOWN_TOPIC
from ballast.reassign.generate.generation import INFEASIBLE, Next, Planning, next_step
from ballast.reassign.generate.generation_names import plan_object
from ballast.reassign.plan.index import INDEX_KEY
from ballast.reassign.spec.plan_manifest import PlanConfigMap
from ballast.reassign.state.conditions import ConditionType

FINISHED_RESYNC_S: Final = 600.0
REPLAN_INTERVAL_S: Final = 10.0
"""The least time between two plans when the first one became stale without an approval."""

_FOR_ANOTHER_LAYOUT: Final = "tried again once the cluster's brokers or replicas are others"


class PlanGenerator:
    """Generates the plan of one reassignment."""

    def __init__(self, session: ReassignmentSession) -> None:
        self._session = session
        self._operator = session.operator
        self._api = session.operator.api
        self._plans = PlanLoader(session.operator.api, session.operator.clock)
        self._engines = PlanEngines(session)

    async def advance(self, request: PlanRequest) -> LoadedPlan | AttemptInProgress:
        """Take the next step; return the plan once there is one.

        Raises `KubernetesError`, and `PlanNotReadable` for a plan that was approved.
        """
        if request.has_begun:
            return await self._being_executed(request, planning_of(request.reassignment))
        planning = await self._remembered(request)
        try:
            if planning.attempt and not planning.reason:
                index = await find_index(self._api, request.attempt(planning.attempt))
                if index is not None:
                    return await self._planned(request, planning, index)
            return await self._next(request, planning)
        except AttemptFailed as error:
            return await self._fail(request, planning, error)

    async def give_up(self, request: PlanRequest) -> None:
        """Stop the attempt that is under way. Raises `KubernetesError`."""
        await self._engines.stop(request, planning_of(request.reassignment))

    async def _remembered(self, request: PlanRequest) -> Planning:
        """Return the present attempt, from the status, or else from the stored objects."""
        planning = planning_of(request.reassignment)
        if planning.attempt:
            return planning
        number = await last_attempt(self._api, request.reassignment)
        begin_ms = self._operator.clock.wall_ms() if number else 0
        return Planning(attempt=number, begin_ms=begin_ms)

    # -- attempts ------------------------------------------------------------------------------

    async def _next(self, request: PlanRequest, planning: Planning) -> AttemptInProgress:
        now_ms = self._operator.clock.wall_ms()
        what, when_ms = next_step(
            planning,
            now_ms=now_ms,
            max_attempts=request.generate.job.max_attempts,
            circumstances=self._circumstances(request),
        )
        match what:
            case Next.BEGIN:
                return await self._begin(request, planning)
            case Next.CARRY_ON:
                return await self._engines.carry_on(request, planning)
            case Next.LOOK_AGAIN:
                return await self._retry_layout(request, planning)
            case Next.WAIT:
                is_infeasible = planning.reason == INFEASIBLE
                then = f"tried again at {timestamp(when_ms)}"
                findings = failed(
                    planning,
                    _FOR_ANOTHER_LAYOUT if is_infeasible else then,
                    needs_help=is_infeasible,
                )
                delay_s = (when_ms - now_ms) / 1000
                return AttemptInProgress(findings=findings, planning=planning, delay_s=delay_s)
            case Next.GIVE_UP:
                then = (
                    f"{planning.failures} attempts have failed: put it right, then change anything "
                    "in spec, such as desiredState to Paused and back"
                )
                findings = failed(planning, then, needs_help=True)
                return AttemptInProgress(
                    findings=findings, planning=planning, delay_s=FINISHED_RESYNC_S
                )

    async def _begin(self, request: PlanRequest, planning: Planning) -> AttemptInProgress:
        """Begin the next attempt, and delete the objects of the last one."""
        if planning.attempt:
            attempt = request.attempt(planning.attempt)
            await delete_plan_chunks(self._api, attempt)
            await delete_snapshot_chunks(self._api, attempt)
        return AttemptInProgress(
            findings=under_way("a snapshot of the cluster is being taken"),
            planning=planning.with_next_attempt(self._operator.clock.wall_ms()),
            delay_s=REQUEUE_NOW,
        )

    async def _retry_layout(self, request: PlanRequest, planning: Planning) -> AttemptInProgress:
        """Begin another attempt for another layout than the one that there was no plan for."""
        layout = await self._engines.layout(request)
        if layout is not None and layout != planning.layout:
            return await self._begin(request, planning)
        now_ms = self._operator.clock.wall_ms()
        still = planning.failed(
            planning.reason, planning.message, now_ms, self._circumstances(request)
        )
        return AttemptInProgress(
            findings=failed(still, _FOR_ANOTHER_LAYOUT, needs_help=True),
            planning=still,
            delay_s=REQUEUE_NOW,
        )

    async def _fail(
        self, request: PlanRequest, planning: Planning, error: AttemptFailed
    ) -> AttemptInProgress:
        """End the attempt and delete its snapshot."""
        await delete_snapshot_chunks(self._api, request.attempt(planning.attempt))
        now_ms = self._operator.clock.wall_ms()
        ended = planning.failed(error.reason, str(error), now_ms, self._circumstances(request))
        self._note(planning, error.reason)
        return AttemptInProgress(
            findings=failed(ended, "another attempt follows", needs_help=False),
            planning=ended,
            delay_s=REQUEUE_NOW,
        )

    def _circumstances(self, request: PlanRequest) -> str:
        """Return the facts of which one has to change before failed attempts are repeated."""
        return f"{request.reassignment.generation} {self._operator.spark.image}".strip()

    def _note(self, planning: Planning, result: str) -> None:
        engine = "" if planning.engine is None else planning.engine.value
        seconds = (self._operator.clock.wall_ms() - planning.begin_ms) / 1000
        self._operator.metrics.count_plan(engine, result, max(0.0, seconds))

    # -- the plan ------------------------------------------------------------------------------

    async def _planned(
        self, request: PlanRequest, planning: Planning, index: StoredIndex
    ) -> LoadedPlan | AttemptInProgress:
        """Return the plan of the present attempt; a new attempt when it cannot run any more."""
        if index.infeasible is not None:
            raise AttemptFailed(INFEASIBLE, infeasible_words(index.infeasible))
        if not request.is_approved and _is_stale(request.reassignment):
            return await self._replan(request, planning)
        try:
            plan = await self._plans.load(request.reassignment, _source(index.name))
            _check_basis(planning, index)
        except PlanNotReadable as error:
            if request.is_approved:
                raise
            raise AttemptFailed(PLAN_MISSING, str(error)) from error
        if "digest" not in (request.reassignment.status.get("plan") or {}):
            self._note(planning, "ok")
        details = _details(request, planning, index)
        if plan.summary is not None or plan.assignments.targets:
            return replace(plan, details=details)
        digest = plan.objects[0].digest
        return AttemptInProgress(
            findings=nothing_to_do(digest),
            planning=planning,
            delay_s=REQUEUE_NOW,
            plan={"digest": digest, "partitions": 0, "replicaMoves": 0, **details},
        )

    async def _replan(self, request: PlanRequest, planning: Planning) -> AttemptInProgress:
        """Discard a plan without approval that cannot run, because the cluster has changed."""
        left_s = REPLAN_INTERVAL_S - (self._operator.clock.wall_ms() - planning.begin_ms) / 1000
        if left_s > 0:
            why = "the cluster has changed since the plan was made: another one is made"
            return AttemptInProgress(findings=under_way(why), planning=planning, delay_s=left_s)
        await self._session.discard_state()
        return await self._begin(request, planning)

    async def _being_executed(self, request: PlanRequest, planning: Planning) -> LoadedPlan:
        """Return the plan that is being executed, from its ConfigMaps or else the saved state."""
        assert request.memory is not None, "it has begun"
        if planning.attempt:
            name = plan_object(request.attempt(planning.attempt).plan)
            try:
                return await self._plans.load(request.reassignment, _source(name))
            except PlanNotReadable:
                pass
        return remembered_plan(request.memory)


def _details(request: PlanRequest, planning: Planning, index: StoredIndex) -> dict[str, Any]:
    """Return the fields of ``status.plan`` that only a generated plan has."""
    summary = read_explanation(index.summary)
    rate = request.settings.execution.throttle_bytes_per_second
    seconds = expected_seconds(summary, rate)
    if seconds is not None:
        summary["expectedSeconds"] = seconds
    batches = expected_batches(summary, request.settings.execution.max_concurrent_moves_per_broker)
    if batches is not None:
        summary["expectedBatches"] = batches
    details: dict[str, Any] = {"summary": summary} if summary else {}
    if planning.engine is not None:
        details["engine"] = planning.engine.value
    if planning.job:
        details["sparkApplicationName"] = planning.job
    if planning.basis is not None:
        details["basedOn"] = planning.basis.to_document()
    return details


def _source(index: str) -> PlanConfigMap:
    return PlanConfigMap(name=index, key=INDEX_KEY)


def _check_basis(planning: Planning, index: StoredIndex) -> None:
    basis = planning.basis
    if basis is None or not index.snapshot_digest:
        return
    if index.snapshot_digest != basis.snapshot_digest:
        raise PlanNotReadable(f"ConfigMap {index.name} was made from another snapshot")


def _is_stale(reassignment: ReassignmentObject) -> bool:
    """Whether the last look found that the plan cannot run on the cluster as it is."""
    approved = reassignment.conditions.get(ConditionType.APPROVED)
    accepted = reassignment.conditions.get(ConditionType.ACCEPTED)
    if approved is not None and approved.reason == "PlanStale":
        return True
    return accepted is not None and accepted.reason in (UNKNOWN_TOPIC, UNKNOWN_BROKER)
