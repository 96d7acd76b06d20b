"""The work of the leader: kopf, the reconcilers and the watches that wake them, in one thread.

At the end the reconcilers stop first and kopf after them, because kopf cancels every task that
still runs when it ends.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import kopf

from ballast.kube.api.client import KubernetesClient
from ballast.kube.api.credentials import Login
from ballast.kube.api.errors import KubernetesError, NotFound
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.resources import BROKER_SETS, ObjectKey, Resource
from ballast.kube.dependent_watches import DependentWatches
from ballast.kube.handlers import RESOURCES, make_settings, registry_for
from ballast.kube.reconcilers import ReconcilerManager, RunReconciler
from ballast.kube.runtime.candidate_view import CandidateView, no_candidate
from ballast.kube.runtime.context import ClosableAdmin, OperatorContext
from ballast.kube.runtime.ensembles import AskEnsemble, ask_nobody
from ballast.kube.runtime.metrics import OperatorMetrics
from ballast.kube.runtime.options import OperatorOptions
from ballast.kube.runtime.work_queue import WorkQueue
from ballast.reassign.ports import Clock

log = logging.getLogger(__name__)

STOP_TIMEOUT_S: Final = 5.0
"""How long all reconcilers may take to stop when the process ends, cancelled ones included."""
KINDS_RETRY_S: Final = 5.0


class KopfStopped(Exception):
    """kopf ended although it was not asked to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderWork:
    """The reconcilers, and everything that they need; runs while this process holds the Lease."""

    options: OperatorOptions
    login: Login
    clock: Clock
    admin_for: Callable[[str], ClosableAdmin]
    metrics: OperatorMetrics
    queue: WorkQueue
    reconcilers: Mapping[Resource, RunReconciler]
    candidate_of: Callable[[ObjectKey], CandidateView] = no_candidate
    """The view that this process's controller candidate of a BrokerSet has."""
    ask_ensemble: AskEnsemble = ask_nobody

    async def run(self, stopped: asyncio.Event) -> None:
        """Reconcile all objects until ``stopped`` is set; raises the error that prevents it."""
        async with (
            KubernetesClient.opened(self.login, self.clock) as api,
            asyncio.TaskGroup() as tasks,
        ):
            waiting = tasks.create_task(self.until_kinds_are_served(api))
            stopping = tasks.create_task(stopped.wait())
            await asyncio.wait((waiting, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not stopped.is_set():
                await self._run(api, tasks, stopped)
            waiting.cancel()
            stopping.cancel()

    async def until_kinds_are_served(self, api: KubernetesApi) -> None:
        """Wait for the CRDs: kopf looks for them once, and without them would never serve any."""
        while True:
            try:
                for resource in RESOURCES:
                    for namespace in self.options.watched_namespaces:
                        await api.list(resource, namespace, fields="metadata.name=none")
            except NotFound:
                log.warning("the custom resources of ballast.dev are not installed yet")
            except KubernetesError as error:
                log.warning("cannot list the custom resources of ballast.dev: %s", error)
            else:
                return
            await self.clock.sleep(KINDS_RETRY_S)

    async def _run(
        self, api: KubernetesApi, tasks: asyncio.TaskGroup, stopped: asyncio.Event
    ) -> None:
        def is_followed(namespace: str) -> bool:
            return watches.is_complete(namespace)

        manager = ReconcilerManager(
            replace(self._context(api), is_followed=is_followed), self.reconcilers, tasks
        )
        watches = DependentWatches(
            api,
            self.queue,
            self.options.watched_namespaces,
            reassignments=manager.reassignments_with,
            broker_sets=lambda: manager.keys(BROKER_SETS),
            is_watching_nodes=self.options.is_watching_nodes,
        )
        watching = tasks.create_task(watches.run(), name="watches of dependents")
        kopf_stopped = asyncio.Event()
        stopping = tasks.create_task(_stop(manager, watching, stopped, kopf_stopped))
        namespaces = self.options.namespaces
        await kopf.operator(
            registry=registry_for(manager, self.login),
            settings=make_settings(),
            standalone=True,
            clusterwide=not namespaces,
            namespaces=namespaces,
            stop_flag=kopf_stopped,
        )
        watching.cancel()
        stopping.cancel()
        if not stopped.is_set():
            raise KopfStopped("kopf ended although it was not asked to stop")

    def _context(self, api: KubernetesApi) -> OperatorContext:
        return OperatorContext(
            api=api,
            candidate_of=self.candidate_of,
            queue=self.queue,
            clock=self.clock,
            admin_for=self.admin_for,
            ask_ensemble=self.ask_ensemble,
            metrics=self.metrics,
            identity=self.options.pod_name,
            namespace=self.options.pod_namespace,
            broker_image=self.options.broker_image,
            broker_pods=self.options.broker_pods,
            cluster_domain=self.options.cluster_domain,
            spark=self.options.spark,
        )


async def _stop(
    manager: ReconcilerManager,
    watching: asyncio.Task[None],
    stopped: asyncio.Event,
    kopf_stopped: asyncio.Event,
) -> None:
    """Stop the reconcilers once ``stopped`` is set, and kopf after them."""
    await stopped.wait()
    watching.cancel()
    try:
        async with asyncio.timeout(STOP_TIMEOUT_S):
            await manager.stop()
    except TimeoutError:
        log.warning("reconcilers have not stopped within %.0f s", STOP_TIMEOUT_S)
    kopf_stopped.set()
