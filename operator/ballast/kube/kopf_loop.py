"""What runs while the Lease is held, in a thread of its own: kopf, tenders, and what wakes them.

At the end the tenders leave first, then kopf: whatever kopf finds still running when it ends, it
cancels.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import kopf

from ballast.kube.api.client import ApiClient
from ballast.kube.api.credentials import Login
from ballast.kube.api.errors import KubernetesError, NotFound
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.resources import BROKER_SETS, ObjectKey, Resource
from ballast.kube.dependent_watches import OwnedWatches
from ballast.kube.handlers import RESOURCES, make_settings, registry_for
from ballast.kube.reconcilers import Tend, Tenders
from ballast.kube.runtime.candidate_view import CandidateView, no_candidate
from ballast.kube.runtime.context import ClosableAdmin, OperatorContext
from ballast.kube.runtime.ensembles import AskEnsemble, ask_nobody
from ballast.kube.runtime.metrics import OperatorMetrics
from ballast.kube.runtime.options import OperatorOptions
from ballast.kube.runtime.work_queue import Wakes
from ballast.reassign.ports import Clock

log = logging.getLogger(__name__)

LEAVE_TIMEOUT_S: Final = 5.0
"""How long tenders may take to leave when the process ends, those included that are cancelled."""
KINDS_RETRY_S: Final = 5.0


class TendingEnded(Exception):
    """kopf came to an end without having been asked to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tending:
    """What is tended, how, and with what."""

    options: OperatorOptions
    login: Login
    clock: Clock
    admin_for: Callable[[str], ClosableAdmin]
    metrics: OperatorMetrics
    wakes: Wakes
    tend: Mapping[Resource, Tend]
    candidate_of: Callable[[ObjectKey], CandidateView] = no_candidate
    """What this process's candidate of a BrokerSet knows."""
    ask_ensemble: AskEnsemble = ask_nobody

    async def run(self, stopped: asyncio.Event) -> None:
        """Tend all objects until ``stopped`` is set; raises what makes that impossible."""
        async with ApiClient.opened(self.login, self.clock) as api, asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(self.until_kinds_are_served(api))
            stopping = tasks.create_task(stopped.wait())
            await asyncio.wait((waiting, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not stopped.is_set():
                await self._run(api, tasks, stopped)
            waiting.cancel()
            stopping.cancel()

    async def until_kinds_are_served(self, api: KubernetesApi) -> None:
        """Wait for the CRDs: kopf, which looks for them once, would serve none for ever."""
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

        tenders = Tenders(replace(self._context(api), is_followed=is_followed), self.tend, tasks)
        watches = OwnedWatches(
            api,
            self.wakes,
            self.options.watched_namespaces,
            reassignments=tenders.reassignments_with,
            broker_sets=lambda: tenders.keys(BROKER_SETS),
            is_watching_nodes=self.options.is_watching_nodes,
        )
        watching = tasks.create_task(watches.run(), name="watches of what is owned")
        kopf_stopped = asyncio.Event()
        leaving = tasks.create_task(_leave(tenders, watching, stopped, kopf_stopped))
        namespaces = self.options.namespaces
        await kopf.operator(
            registry=registry_for(tenders, self.login),
            settings=make_settings(),
            standalone=True,
            clusterwide=not namespaces,
            namespaces=namespaces,
            stop_flag=kopf_stopped,
        )
        watching.cancel()
        leaving.cancel()
        if not stopped.is_set():
            raise TendingEnded("kopf came to an end without having been asked to")

    def _context(self, api: KubernetesApi) -> OperatorContext:
        return OperatorContext(
            api=api,
            candidate_of=self.candidate_of,
            wakes=self.wakes,
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


async def _leave(
    tenders: Tenders,
    watching: asyncio.Task[None],
    stopped: asyncio.Event,
    kopf_stopped: asyncio.Event,
) -> None:
    """Let the tenders leave as soon as the process is to end, and kopf after them."""
    await stopped.wait()
    watching.cancel()
    try:
        async with asyncio.timeout(LEAVE_TIMEOUT_S):
            await tenders.stop()
    except TimeoutError:
        log.warning("tenders have not left within %.0f s", LEAVE_TIMEOUT_S)
    kopf_stopped.set()
