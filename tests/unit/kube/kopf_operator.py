"""`LeaderWork`, kopf included, in its thread against an emulated API server, over HTTP (kmock)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import kmock
from kubernetes.aio.client import Configuration

from ballast.cli.clock import LoopClock
from ballast.kube.api.errors import NotFound
from ballast.kube.api.leader_election import LeaseTiming
from ballast.kube.api.reassignment_object import CLEANUP_FINALIZER
from ballast.kube.api.resources import (
    BROKER_SETS,
    CONFIG_MAPS,
    PARTITION_REASSIGNMENTS,
    ObjectKey,
    Resource,
)
from ballast.kube.dependent_watches import OWNED
from ballast.kube.kopf_loop import LeaderWork
from ballast.kube.runtime.context import ClosableAdmin, OperatorContext
from ballast.kube.runtime.loop_thread import LoopThread
from ballast.kube.runtime.metrics import OperatorMetrics
from ballast.kube.runtime.options import OperatorOptions
from ballast.kube.runtime.work_queue import WorkQueue

MOVE = ObjectKey("partitionreassignments", "a", "move")
SET = ObjectKey("brokersets", "a", "one")
KINDS = {resource.plural: resource for resource in (PARTITION_REASSIGNMENTS, BROKER_SETS)}
FOLLOWED = (*OWNED, CONFIG_MAPS)
WAIT_S = 30.0
OPTIONS = OperatorOptions(
    pod_name="pod-1",
    pod_namespace="ops",
    pod_ip="10.0.0.1",
    broker_image="ballast:dev",
    namespaces=("a",),
    is_watching_nodes=False,
    http_port=0,
    lease=LeaseTiming(duration_s=60.0, renew_deadline_s=40.0, retry_s=0.05),
)


def no_cluster(bootstrap_servers: str) -> ClosableAdmin:
    raise AssertionError(f"no client is opened for {bootstrap_servers}")


def of_kmock(resource: Resource) -> kmock.resource:
    return kmock.resource(resource.group, resource.version, resource.plural)


class Environment:
    """The server, and reconcilers that note what they see."""

    def __init__(self, server: kmock.KubernetesEmulator) -> None:
        self.server = server
        self.url = ""
        self.queue = WorkQueue()
        self.seen: list[tuple[str, str]] = []
        # kopf waits for the kind of namespaces, though its settings name none.
        self.declare(Resource(group="", version="v1", plural="namespaces", kind="Namespace"))
        for resource in FOLLOWED:
            self.declare(resource)

    async def login(self) -> Configuration:
        return Configuration(host=self.url)

    def declare(self, resource: Resource) -> None:
        """Serve a kind."""
        self.server.resources[of_kmock(resource)] = kmock.ResourceInfo(
            kind=resource.kind, namespaced=True, verbs={"list", "watch", "patch"}
        )

    def put(self, key: ObjectKey, **metadata: Any) -> None:
        """Store an object as it is."""
        self.server.objects[of_kmock(KINDS[key.plural]), key.namespace, key.name] = {
            "apiVersion": "ballast.dev/v1alpha1",
            "kind": KINDS[key.plural].kind,
            "metadata": {
                "namespace": key.namespace,
                "name": key.name,
                "uid": f"uid of {key}",
                "generation": 1,
                "resourceVersion": "1",
                **metadata,
            },
            "spec": {},
        }

    async def change(self, key: ObjectKey, patch: Any) -> None:
        await self.server.patch(self._path(key), json=patch)

    async def delete(self, key: ObjectKey) -> None:
        await self.server.delete(self._path(key))

    def finalizers(self, key: ObjectKey) -> Any:
        return self._object(key)["metadata"].get("finalizers")

    def is_gone(self, key: ObjectKey) -> bool:
        return bool(self._object(key).deleted)

    def requests(self, method: str) -> list[kmock.Request]:
        return [request for request in self.server if request.method == method]

    def is_watched(self, resource: Resource) -> bool:
        """Whether objects of a kind are watched."""
        watches = (request for request in self.requests("GET") if "watch" in request.params)
        return any(request.url.path.endswith(f"/{resource.plural}") for request in watches)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_S):
            while not condition():
                await asyncio.sleep(0.01)

    async def run_reconciler(
        self, operator: OperatorContext, key: ObjectKey, stopped: Callable[[], bool]
    ) -> None:
        """Note each look at an object; clean up when it is being deleted."""
        resource = KINDS[key.plural]
        self.seen.append(("begun", key.name))
        while not stopped():
            try:
                metadata = (await operator.api.get(resource, "a", key.name))["metadata"]
            except NotFound:
                break
            if "deletionTimestamp" in metadata:
                left = [name for name in metadata["finalizers"] if name != CLEANUP_FINALIZER]
                patch = {"metadata": {"finalizers": left}}
                await operator.api.patch(resource, "a", key.name, patch)
                break
            if await operator.queue.wait(key, WAIT_S):
                self.seen.append(("woken", key.name))
        self.seen.append(("left", key.name))

    def _path(self, key: ObjectKey) -> str:
        return f"/apis/ballast.dev/v1alpha1/namespaces/{key.namespace}/{key.plural}/{key.name}"

    def _object(self, key: ObjectKey) -> Any:
        return self.server.objects[of_kmock(KINDS[key.plural]), key.namespace, key.name]


@asynccontextmanager
async def served() -> AsyncIterator[tuple[Environment, LoopThread]]:
    """Serve, and create the leader's thread; Ballast's kinds are not declared yet."""
    async with kmock.KubernetesEmulator() as server, kmock.Server(server) as listening:
        env = Environment(server)
        env.url = str(listening.url).rstrip("/")
        reconcilers = LeaderWork(
            options=OPTIONS,
            login=env.login,
            clock=LoopClock(lambda: 0),
            admin_for=no_cluster,
            metrics=OperatorMetrics(),
            queue=env.queue,
            reconcilers={
                PARTITION_REASSIGNMENTS: env.run_reconciler,
                BROKER_SETS: env.run_reconciler,
            },
        )
        yield (
            env,
            LoopThread(reconcilers.run, name="reconcilers", loop_factory=asyncio.new_event_loop),
        )


@asynccontextmanager
async def leading(*prepare: Callable[[Environment], None]) -> AsyncIterator[Environment]:
    """Reconcile what ``prepare`` puts on the server, and end in order."""
    async with served() as (env, thread):
        for resource in KINDS.values():
            env.declare(resource)
        for step in prepare:
            step(env)
        thread.start()
        try:
            yield env
        finally:
            thread.stop()
            async with asyncio.timeout(WAIT_S):
                await thread.ended()
