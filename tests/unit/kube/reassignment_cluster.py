"""A small cluster behind a Kubernetes API in memory, and reconcilers that live and die there."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from ballast.kube.api.ports import PatchType
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import (
    BROKER_SETS,
    EVENTS,
    PARTITION_REASSIGNMENTS,
    Document,
    ObjectKey,
    Resource,
)
from ballast.kube.reassignments.reconciler import KIND, PartitionReassignmentReconciler
from ballast.kube.runtime.context import ClosableAdmin, OperatorContext
from ballast.kube.runtime.metrics import OperatorMetrics
from ballast.kube.runtime.planner_process import (
    PlannerFailed,
    PlannerRequest,
    PlannerResult,
    make_plan,
)
from ballast.kube.runtime.reconcile_loop import ReconcileLoop, Result
from ballast.kube.runtime.work_queue import WorkQueue
from ballast.model.conditions import timestamp
from ballast.reassign.generate.spark_application import SparkSettings
from ballast.reassign.state.conditions import LifecycleState
from tests.fakes.cluster_admin import FakeAdmin, FakeClock, FakeCluster
from tests.fakes.crash_point import CrashPoint, Killed
from tests.fakes.kubernetes import FakeKubernetes
from tests.unit.reassign.scenario import ORIGINS, TARGETS

NAMESPACE = "ns"
_MAX_LOOKS = 1000
_MAX_SLEEP_SECONDS = 20.0


class FusedKubernetes(FakeKubernetes):
    """An API at whose writes the caller may die, before or after; counted with the cluster's."""

    def __init__(self, crash_point: CrashPoint) -> None:
        super().__init__()
        self.crash_point = crash_point

    async def create(
        self, resource: Resource, namespace: str | None, document: Mapping[str, Any]
    ) -> Document:
        with self._fused("create", resource):
            return await super().create(resource, namespace, document)

    async def apply_status(
        self, resource: Resource, namespace: str | None, name: str, status: Mapping[str, Any]
    ) -> Document:
        with self._fused("status of", resource):
            return await super().apply_status(resource, namespace, name, status)

    async def replace(
        self, resource: Resource, namespace: str | None, name: str, document: Mapping[str, Any]
    ) -> Document:
        with self._fused("replace", resource):
            return await super().replace(resource, namespace, name, document)

    async def patch(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        patch_type: PatchType = PatchType.MERGE,
        subresource: str | None = None,
    ) -> Document:
        with self._fused("patch", resource):
            return await super().patch(
                resource, namespace, name, patch, patch_type=patch_type, subresource=subresource
            )

    async def delete(
        self, resource: Resource, namespace: str | None, name: str, *, uid: str | None = None
    ) -> None:
        with self._fused("delete", resource):
            await super().delete(resource, namespace, name, uid=uid)

    def ask_to_delete(self, resource: Resource, namespace: str, name: str, now_ms: int) -> None:
        """Delete at a time, without a crash point."""
        self.now = timestamp(now_ms)
        self._delete(resource, self._existing(resource, namespace, name))

    @contextmanager
    def _fused(self, verb: str, resource: Resource) -> Iterator[None]:
        self.crash_point.before_effect(f"{verb} {resource.plural}")
        yield
        self.crash_point.after_effect()


class FusedAdmin(FakeAdmin):
    """The admin of a reconciler: counts how often it was closed."""

    def __init__(self, cluster: FakeCluster, crash_point: CrashPoint) -> None:
        super().__init__(cluster, crash_point)
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


class JumpingQueue(WorkQueue):
    """Waiting takes no time: the clock jumps."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self.clock = clock
        self.enqueued: list[ObjectKey] = []

    def enqueue(self, key: ObjectKey) -> None:
        self.enqueued.append(key)

    async def wait(self, key: ObjectKey, timeout_s: float) -> bool:  # noqa: ARG002  (the port's)
        await self.clock.sleep(timeout_s)
        return False


def cluster(**options: float) -> FakeCluster:
    made = FakeCluster(1, 2, 3, 4, **options)
    for tp, replicas in ORIGINS.items():
        made.add(tp.topic, tp.partition, *replicas, size=1000.0 * (tp.partition + 1))
    made.add("other", 0, 1, 2)
    return made


def assignments() -> list[dict[str, Any]]:
    return [
        {"topic": tp.topic, "partition": tp.partition, "replicas": list(target)}
        for tp, target in TARGETS.items()
    ]


class Environment:
    """What outlives operators: the API server's objects, the cluster, time."""

    def __init__(
        self, model: FakeCluster | None = None, crash_point: CrashPoint | None = None
    ) -> None:
        self.crash_point = crash_point or CrashPoint()
        self.cluster = model or cluster()
        self.clock = FakeClock()
        self.clock.cluster = self.cluster
        self.api = FusedKubernetes(self.crash_point)
        self.admin = FusedAdmin(self.cluster, self.crash_point)
        self.queue = JumpingQueue(self.clock)
        self.bootstraps: list[str] = []
        self.events: Callable[[Environment], None] = lambda _: None
        self.states: list[str] = []
        self.spark = SparkSettings()
        self.planned = 0
        """How many plans were computed."""
        self.worker_failures: list[PlannerFailed] = []
        """What befalls the next plans."""
        self.turned_at: int | None = None
        """How many effects there had been when the user first intervened."""
        self.put_broker_set()

    def intervenes(self) -> None:
        """Note that the user does something now."""
        if self.turned_at is None:
            self.turned_at = len(self.crash_point.effects)

    def context(self) -> OperatorContext:
        return OperatorContext(
            api=self.api,
            queue=self.queue,
            clock=self.clock,
            admin_for=self._admin_for,
            metrics=OperatorMetrics(),
            identity="operator-0",
            namespace="ballast",
            broker_image="ballast:dev",
            cluster_domain="cluster.local",
            spark=self.spark,
            make_plan=self._make_plan,
        )

    async def _make_plan(self, request: PlannerRequest) -> PlannerResult:
        """Make a plan here: a process of its own is for `test_plan_worker`."""
        self.planned += 1
        if self.worker_failures:
            raise self.worker_failures.pop(0)
        return make_plan(request)

    def _admin_for(self, bootstrap: str) -> ClosableAdmin:
        if bootstrap == "nowhere":
            raise ValueError("nowhere is not host:port")
        self.bootstraps.append(bootstrap)
        return self.admin

    def put_broker_set(self, *, epoch: int | None = 7, **spec: object) -> None:
        status = {} if epoch is None else {"controller": {"epoch": epoch, "identity": "operator-0"}}
        self.api.put(
            BROKER_SETS,
            {
                "metadata": {"name": "prod", "namespace": NAMESPACE},
                "spec": spec or {"replicas": 4},
                "status": status,
            },
        )

    def put(self, name: str = "move", *, labels: dict[str, str] | None = None, **spec: Any) -> None:
        """Apply a reassignment, as a user would."""
        old = self.api.find(PARTITION_REASSIGNMENTS, NAMESPACE, name)
        document: Document = old or {
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels or {}}
        }
        document["spec"] = {
            "brokerSetRef": {"name": "prod"},
            "plan": {"assignments": assignments()},
            "execution": {"maxConcurrentMovesPerBroker": 1},
            **(old or {}).get("spec", {}),
            **deepcopy(spec),
        }
        document["spec"] = {k: v for k, v in document["spec"].items() if v is not None}
        self.api.put(PARTITION_REASSIGNMENTS, document)

    def find(self, name: str = "move") -> ReassignmentObject | None:
        found = self.api.find(PARTITION_REASSIGNMENTS, NAMESPACE, name)
        return None if found is None else ReassignmentObject(document=found)

    def reassignment(self, name: str = "move") -> ReassignmentObject:
        found = self.find(name)
        assert found is not None, f"{name} is gone"
        return found

    def state(self, name: str = "move") -> LifecycleState | None:
        return self.reassignment(name).state

    def reason(self, kind: str, name: str = "move") -> str:
        for condition in self.reassignment(name).status.get("conditions", ()):
            if condition["type"] == kind:
                return f"{condition['status']} {condition['reason']}"
        return ""

    def message(self, kind: str, name: str = "move") -> str:
        for condition in self.reassignment(name).status.get("conditions", ()):
            if condition["type"] == kind:
                return str(condition["message"])
        return ""

    def notes(self) -> list[str]:
        return [event["reason"] for event in self.api.all(EVENTS)]

    def delete(self, name: str = "move") -> None:
        """Ask for its deletion, as a user would."""
        self.api.ask_to_delete(PARTITION_REASSIGNMENTS, NAMESPACE, name, self.clock.wall_ms())

    def loop(self, name: str = "move") -> ReconcileLoop:
        return ReconcileLoop(KIND, self.context(), key_of(name))

    def reconciler(self, name: str = "move") -> PartitionReassignmentReconciler:
        return PartitionReassignmentReconciler(self.context(), key_of(name))

    async def result(
        self, reconciler: PartitionReassignmentReconciler | None = None, name: str = "move"
    ) -> Result:
        """Return the result of one reconciliation, of which no effect is carried out."""
        reconciler = reconciler or self.reconciler(name)
        return await reconciler.reconcile(self.reassignment(name).document)

    async def reconcile(self, loop: ReconcileLoop, count: int) -> float | None:
        """Look so often; return what the last one said."""
        delay: float | None = 0.0
        for _ in range(count):
            self.events(self)
            delay = await loop.reconcile_once()
            self._note()
            if delay is None:
                return None
            await self.clock.sleep(delay)
        return delay

    async def until(
        self,
        is_over: Callable[["Environment"], bool],
        loop: ReconcileLoop | None = None,
    ) -> None:
        """Let one reconciler live until something holds."""
        loop = loop or self.loop()
        for _ in range(_MAX_LOOKS):
            if is_over(self):
                return
            self.events(self)
            delay = await loop.reconcile_once()
            self._note()
            await self.clock.sleep(min(delay or 0.0, _MAX_SLEEP_SECONDS))
        raise AssertionError(f"no end: {self.states[-5:]} {self.reassignment().status}")

    def _note(self) -> None:
        found = self.find()
        state = "gone" if found is None or found.state is None else found.state.value
        if self.states[-1:] != [state]:
            self.states.append(state)

    def live(self, is_over: Callable[["Environment"], bool]) -> None:
        """Let reconcilers live, one after the other, until something holds."""
        for _ in range(3):
            try:
                asyncio.run(self.until(is_over))
            except Killed:
                continue
            return
        raise AssertionError("killed more than once")


def key_of(name: str) -> ObjectKey:
    return ObjectKey(PARTITION_REASSIGNMENTS.plural, NAMESPACE, name)


def has_ended(env: Environment) -> bool:
    found = env.find()
    return found is None or (found.is_settled and not found.has_finalizer)


def is_gone(env: Environment) -> bool:
    return env.find() is None
