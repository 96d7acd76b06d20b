"""The steps of an attempt: the snapshot, and the engine that makes a plan of it.

Each step is durable before the next. An attempt whose step raises `AttemptFailed` has ended.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from ballast.brokersets.errors import InvalidBrokerSet
from ballast.brokersets.spec.parse import parse_broker_set
from ballast.kube.api.errors import NotFound
from ballast.kube.api.resources import BROKER_SETS
from ballast.kube.reassignments.planning.generated_plans import find_index, write_plan_chunks
from ballast.kube.reassignments.planning.plan_attempt import (
    REQUEUE_NOW,
    AttemptFailed,
    AttemptInProgress,
    PlanRequest,
)
from ballast.kube.reassignments.planning.planning_status import put_off, under_way
from ballast.kube.reassignments.planning.snapshot_chunks import (
    SnapshotTooLarge,
    pack,
    read_snapshot_chunks,
    write_snapshot_chunks,
)
from ballast.kube.reassignments.planning.spark_applications import KubeflowSpark, SparkEngine
from ballast.kube.reassignments.session import ReassignmentSession
from ballast.kube.runtime.planner_process import PlannerFailed, PlannerRequest
from ballast.model.topics import LOAD_TOPIC
from ballast.net.admin.cluster_snapshot import ClusterSnapshot, take_snapshot
from ballast.net.admin.load_rates import (
    LoadWindow,
    has_samples,
    history_partitions,
    read_rates,
)
from ballast.planner.options import Strategy
from ballast.planner.snapshot.fingerprint import layout_digest
from ballast.planner.snapshot.lines import write_snapshot
from ballast.reassign.generate.generate_manifest import Engine, LoadSelection
from ballast.reassign.generate.generation import Basis, EngineChoice, Planning, choose_engine
from ballast.reassign.generate.job_load import JobLoad
from ballast.reassign.generate.spark_application import (
    DRIVER_FAILED,
    IMAGE_PULL,
    JobPhase,
    JobRequest,
    JobState,
)
from ballast.reassign.ports import ClusterUnavailable, LoadHistoryTooLarge

POLL_S: Final = 3.0
"""The interval of reconciliations that wait for a job, or for the end of moves."""
PLAN_MISSING: Final = "PlanMissing"
DEADLINE_EXCEEDED: Final = "DeadlineExceeded"
SPARK_UNAVAILABLE: Final = "SparkUnavailable"
SNAPSHOT_TOO_LARGE: Final = "SnapshotTooLarge"
SNAPSHOT_MISSING: Final = "SnapshotMissing"
CLUSTER_UNAVAILABLE: Final = "ControllerUnavailable"
REASSIGNMENTS_PENDING: Final = "ReassignmentsPending"
LOAD_HISTORY_MISSING: Final = "LoadHistoryMissing"
TOPIC_PATIENCE_S: Final = 600.0
"""The time in which brokers of a new cluster create the topic of their loads."""
_NO_TOPIC: Final = (
    f"there is no topic {LOAD_TOPIC}: only Ballast's brokers write it, so of an existing Kafka no "
    "load is known; plan by objective Bytes"
)
LOAD_HISTORY_TOO_LARGE: Final = "LoadHistoryTooLarge"
_STORED: Final = "the plan is stored"
_NO_SPARK: Final = (
    "there is no Spark: the chart's spark.enabled is false, or SparkApplications of "
    "sparkoperator.k8s.io are not served, or the operator has no right to make them"
)


class PlanEngines:
    """Takes the steps of one reassignment's attempts."""

    def __init__(self, session: ReassignmentSession) -> None:
        self._session = session
        self._operator = session.operator
        self._api = session.operator.api
        self._spark: SparkEngine = KubeflowSpark(session.operator.api, session.operator.spark)

    async def carry_on(self, request: PlanRequest, planning: Planning) -> AttemptInProgress:
        """Take the attempt's next step. Raises `AttemptFailed` and `KubernetesError`."""
        if planning.basis is None:
            return await self._snapshot(request, planning)
        if planning.engine is not Engine.SPARK:
            return await self._in_process(request, planning, planning.basis)
        if not planning.job:
            return await self._submit(request, planning, planning.basis)
        return await self._check_job(request, planning)

    async def stop(self, request: PlanRequest, planning: Planning) -> None:
        """Delete the job of the attempt. Raises `KubernetesError`."""
        if planning.job:
            await self._spark.remove(request.reassignment.namespace, planning.job)

    async def layout(self, request: PlanRequest) -> str | None:
        """Return the digest of the cluster's layout; None while it moves, or does not answer."""
        admin = self._session.admin
        try:
            if await admin.list_reassignments():
                return None
            taken = await self._taken(request, with_sizes=False)
        except ClusterUnavailable:
            return None
        return await asyncio.to_thread(layout_digest, taken.brokers, taken.topics())

    async def _without_history(
        self, planning: Planning, asked: LoadSelection, now_ms: int
    ) -> AttemptInProgress:
        """Wait for load samples; for their topic, which Kafka does not have, a limited time."""
        if await history_partitions(self._session.admin):
            return _put_off(planning, LOAD_HISTORY_MISSING, _no_history(asked))
        if now_ms - planning.begin_ms > TOPIC_PATIENCE_S * 1000:
            raise AttemptFailed(LOAD_HISTORY_MISSING, _NO_TOPIC)
        return _put_off(planning, LOAD_HISTORY_MISSING, _NO_TOPIC)

    # -- the snapshot --------------------------------------------------------------------------

    async def _snapshot(self, request: PlanRequest, planning: Planning) -> AttemptInProgress:
        """Take a snapshot of the cluster while nothing moves: only then are the sizes right."""
        admin = self._session.admin
        try:
            pending = await admin.list_reassignments()
            if pending:
                why = f"{len(pending)} partitions are being reassigned: waiting for their end"
                return _put_off(planning, REASSIGNMENTS_PENDING, why)
            asked, now_ms = request.generate.load, self._operator.clock.wall_ms()
            if asked is not None and not await has_samples(admin, _window(asked), now_ms):
                return await self._without_history(planning, asked, now_ms)
            taken = await self._taken(request)
            engine = await self._engine(request, taken.partitions)
            rates = None
            if asked is not None and engine is not Engine.SPARK:
                rates = await read_rates(admin, _window(asked), now_ms)
            lines = write_snapshot(taken.brokers, taken.topics(rates))
            packed = await asyncio.to_thread(pack, lines)
            layout = await asyncio.to_thread(layout_digest, taken.brokers, taken.topics())
        except ClusterUnavailable as error:
            return _put_off(planning, CLUSTER_UNAVAILABLE, str(error))
        except LoadHistoryTooLarge as error:
            raise AttemptFailed(LOAD_HISTORY_TOO_LARGE, str(error)) from error
        except SnapshotTooLarge as error:
            raise AttemptFailed(SNAPSHOT_TOO_LARGE, str(error)) from error
        await write_snapshot_chunks(self._api, request.attempt(planning.attempt), packed)
        basis = Basis(
            snapshot_digest=packed.digest,
            partitions=taken.partitions,
            cluster_id=taken.cluster_id,
            controller_epoch=request.cluster.epoch,
            time_ms=now_ms,
        )
        return AttemptInProgress(
            findings=under_way(_plans(engine, taken)),
            planning=replace(planning, basis=basis, engine=engine, layout=layout),
            delay_s=REQUEUE_NOW,
        )

    async def _taken(self, request: PlanRequest, *, with_sizes: bool = True) -> ClusterSnapshot:
        of_log_dirs = request.generate.strategy == Strategy.REBALANCE_LOG_DIRS
        return await take_snapshot(
            self._session.admin,
            await self._cordoned(request),
            with_log_dirs=of_log_dirs,
            with_sizes=with_sizes or of_log_dirs,
        )

    async def _cordoned(self, request: PlanRequest) -> Callable[[int], bool]:
        """Return which brokers must get no replicas: those that the set removes."""
        try:
            document = await self._api.get(
                BROKER_SETS, request.reassignment.namespace, request.reassignment.broker_set
            )
            return parse_broker_set(document).is_cordoned
        except (NotFound, InvalidBrokerSet):
            return lambda _: False

    async def _engine(self, request: PlanRequest, partitions: int) -> Engine:
        asked = request.generate.engine
        may_be_spark = asked is not Engine.IN_PROCESS
        has_spark = may_be_spark and await self._spark.is_served(request.reassignment.namespace)
        choice = EngineChoice(asked=asked, partitions=partitions, has_spark=has_spark)
        engine = choose_engine(choice)
        if engine is None:
            raise AttemptFailed(SPARK_UNAVAILABLE, _NO_SPARK)
        return engine

    # -- in process ----------------------------------------------------------------------------

    async def _in_process(
        self, request: PlanRequest, planning: Planning, basis: Basis
    ) -> AttemptInProgress:
        attempt = request.attempt(planning.attempt)
        packed = await read_snapshot_chunks(self._api, attempt)
        if packed is None or packed.digest != basis.snapshot_digest:
            message = "the ConfigMaps of the snapshot are gone, or are not those that were written"
            raise AttemptFailed(SNAPSHOT_MISSING, message)
        try:
            planner_request = PlannerRequest(options=request.generate.options, chunks=packed.chunks)
            made = await self._operator.make_plan(planner_request)
        except PlannerFailed as error:
            raise AttemptFailed(error.reason, str(error)) from error
        await write_plan_chunks(self._api, attempt, made, packed.digest)
        return AttemptInProgress(
            findings=under_way(_STORED), planning=planning, delay_s=REQUEUE_NOW
        )

    # -- by Spark ------------------------------------------------------------------------------

    async def _submit(
        self, request: PlanRequest, planning: Planning, basis: Basis
    ) -> AttemptInProgress:
        attempt = request.attempt(planning.attempt)
        try:
            load = await self._load(request, basis)
        except ClusterUnavailable as error:
            return _put_off(planning, CLUSTER_UNAVAILABLE, str(error))
        job_request = JobRequest(
            plan=attempt.plan,
            namespace=request.reassignment.namespace,
            reassignment=request.reassignment.name,
            uid=request.reassignment.uid,
            attempt=attempt.number,
            options=request.generate.options,
            job=request.generate.job,
            load=load,
        )
        refused = await self._spark.submit(job_request, request.reassignment)
        if refused is not None:
            raise AttemptFailed(refused.reason, refused.message)
        return AttemptInProgress(
            findings=under_way(f"SparkApplication {attempt.plan} is to make the plan"),
            planning=replace(
                planning, job=attempt.plan, job_begin_ms=self._operator.clock.wall_ms()
            ),
            delay_s=POLL_S,
        )

    async def _load(self, request: PlanRequest, basis: Basis) -> JobLoad | None:
        """Return the history that the job reads: until the snapshot was taken.

        Raises `ClusterUnavailable`.
        """
        asked = request.generate.load
        if asked is None:
            return None
        return JobLoad(
            bootstrap_servers=request.cluster.bootstrap,
            partitions=await history_partitions(self._session.admin),
            since_ms=basis.time_ms - _window(asked).length_ms,
            until_ms=basis.time_ms,
            features=asked.features,
        )

    async def _check_job(self, request: PlanRequest, planning: Planning) -> AttemptInProgress:
        namespace, job = request.reassignment.namespace, planning.job
        state = await self._spark.state_of(namespace, job)
        # The index is looked for after the job: of one that has ended, it is there or it never is.
        if await find_index(self._api, request.attempt(planning.attempt)) is not None:
            return AttemptInProgress(
                findings=under_way(_STORED), planning=planning, delay_s=REQUEUE_NOW
            )
        if state is None:
            message = f"SparkApplication {job} was deleted before there was a plan"
            raise AttemptFailed(DRIVER_FAILED, message)
        if state.phase is JobPhase.SUCCEEDED:
            message = f"SparkApplication {job} has ended well, and there is no plan of it"
            raise AttemptFailed(PLAN_MISSING, message)
        if state.phase is JobPhase.FAILED:
            if state.reason == IMAGE_PULL:
                # Its pod would retry without end.
                await self._spark.remove(namespace, job)
            raise AttemptFailed(state.reason, state.message)
        await self._hold_to_deadline(request, planning, state)
        return AttemptInProgress(
            findings=under_way(
                f"SparkApplication {job} is {state.phase.name.lower()}: {state.message}"
            ),
            planning=planning,
            delay_s=POLL_S,
        )

    async def _hold_to_deadline(
        self, request: PlanRequest, planning: Planning, state: JobState
    ) -> None:
        deadline_s = request.generate.job.deadline_seconds
        if self._operator.clock.wall_ms() - planning.job_begin_ms <= deadline_s * 1000:
            return
        await self._spark.remove(request.reassignment.namespace, planning.job)
        message = f"the job has not ended within {deadline_s} s: {state.message}"
        raise AttemptFailed(DEADLINE_EXCEEDED, message)


def _put_off(planning: Planning, reason: str, why: str) -> AttemptInProgress:
    return AttemptInProgress(findings=put_off(reason, why), planning=planning, delay_s=POLL_S)


def _plans(engine: Engine, taken: ClusterSnapshot) -> str:
    what = f"{engine} plans for {taken.partitions} partitions"
    if taken.silent_brokers:
        what += f"; sizes on brokers {', '.join(map(str, taken.silent_brokers))} are not known"
    return what


def _window(asked: LoadSelection) -> LoadWindow:
    return LoadWindow(length_ms=asked.window_seconds * 1000, features=asked.features)


def _no_history(asked: LoadSelection) -> str:
    return (
        f"__ballast_load has no samples of the last {asked.window_seconds} s: brokers write them "
        "every ballast.load.sample.interval.ms, unless that is 0"
    )
