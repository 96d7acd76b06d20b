"""One replica of the operator, from its start to its end.

main thread    the Lease ─► while it is held: the thread of the reconcilers (see `kopf_loop`)
               a controller candidate per BrokerSet, whether the Lease is held or not
               /livez, /readyz, /metrics
Asked to end   candidates resign, reconcilers stop ─► the Lease is released
Lease lost     reconcilers stop before another replica may act; candidates need no Lease and go on;
               the replica then tries to get the Lease again. If a reconciler does not stop in time,
               the process ends
Reconcilers    when they fail, the Lease is released, and the replica tries to get it again after a
               pause
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Final, NoReturn

from ballast.candidate.candidate import Candidate, end_if_cancelled
from ballast.candidate.options import CandidateOptions, channel_options
from ballast.kube.api.client import KubernetesClient
from ballast.kube.api.credentials import Login
from ballast.kube.api.errors import LeaseLost
from ballast.kube.api.leader_election import LeaseElector
from ballast.kube.api.resources import ObjectKey, Resource
from ballast.kube.candidates.candidate_specs import CandidateSpec, candidate_id_of
from ballast.kube.candidates.candidates import Candidates
from ballast.kube.candidates.controller_metrics import CandidatesCollector
from ballast.kube.kopf_loop import LeaderWork
from ballast.kube.reconcilers import RunReconciler
from ballast.kube.runtime.candidate_view import view_of
from ballast.kube.runtime.context import ClosableAdmin
from ballast.kube.runtime.ensembles import EnsembleAsker
from ballast.kube.runtime.health import OperatorHealth
from ballast.kube.runtime.loop_thread import LoopFactory, LoopThread
from ballast.kube.runtime.metrics import OperatorMetrics, registry_of
from ballast.kube.runtime.options import OperatorOptions
from ballast.kube.runtime.work_queue import WorkQueue
from ballast.net.http import Health, HttpServer
from ballast.reassign.ports import Clock
from ballast.zk.client import ClientFactory

log = logging.getLogger(__name__)

EXIT_LEASE_LOST: Final = 3
STOP_SHARE: Final = 0.8
"""The share of the time between losing the Lease and the moment when another replica may take it
in which the reconcilers must have stopped."""
PAUSES_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""The pauses between terms of leadership that fail one after another."""
STABLE_S: Final = 60.0
"""After a term as long as this the pauses begin with the shortest again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machinery:
    """The parts of the process that differ between production and tests."""

    login: Login
    clock: Clock
    loop_factory: LoopFactory
    random: Random
    admin_for: Callable[[str], ClosableAdmin]
    zookeeper_for: Callable[[str, float], ClientFactory]
    """From ``zookeeper.connect`` and the session timeout in seconds."""
    reconcilers: Mapping[Resource, RunReconciler]
    exit_at_once: Callable[[int], NoReturn]
    """Ends the process at once, without any clean-up."""


class OperatorProcess:
    """One replica."""

    def __init__(self, options: OperatorOptions, machinery: Machinery) -> None:
        self._options = options
        self._machinery = machinery
        self._metrics = OperatorMetrics()
        self._candidate_of: Callable[[ObjectKey], Candidate | None] = lambda _key: None

    async def run(self, stopped: asyncio.Event) -> None:
        """Run until ``stopped`` is set.

        Raises `NoCredentials` when there is no way to the API server, `OSError` when the port is
        taken.
        """
        machinery, options = self._machinery, self._options
        async with KubernetesClient.opened(machinery.login, machinery.clock) as api:
            candidates = Candidates(
                api, options.watched_namespaces, self._candidate, machinery.clock
            )
            self._candidate_of = candidates.candidate_of
            elector = LeaseElector(
                api,
                options.pod_namespace,
                options.pod_name,
                machinery.clock,
                options.lease,
                options.lease_name,
            )
            health = OperatorHealth(
                lambda: api.has_answered, lambda: candidates.is_standing_by, machinery.clock
            )
            http = HttpServer(self._health(health, candidates))
            await http.start(_any_address(options.pod_ip), options.http_port)
            try:
                await self._run(candidates, elector, health, stopped)
            finally:
                await http.close()
                await elector.release()

    async def _run(
        self,
        candidates: Candidates,
        elector: LeaseElector,
        health: OperatorHealth,
        stopped: asyncio.Event,
    ) -> None:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(candidates.run(), name="candidates")
            resigning = tasks.create_task(_cancel_when(stopped, running))
            await self._lead_repeatedly(elector, health, stopped)
            resigning.cancel()
            running.cancel()

    async def _lead_repeatedly(
        self, elector: LeaseElector, health: OperatorHealth, stopped: asyncio.Event
    ) -> None:
        """Run the leader's work whenever the Lease is held, until ``stopped`` is set."""
        clock, failures = self._machinery.clock, 0
        while not stopped.is_set():
            begun_at = clock.now()
            failure = await self._lead_while_lease_is_held(elector, health, stopped)
            health.reconcilers = None
            self._metrics.forget_all()
            if failure is None:
                continue
            if isinstance(failure, LeaseLost):
                log.warning("%s: candidates go on, and the lease is tried again", failure)
            else:
                log.error("the reconcilers have failed and are started again", exc_info=failure)
                await elector.release()
            if clock.now() >= begun_at + STABLE_S:
                failures = 0
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSES_S[min(failures, len(PAUSES_S) - 1)]):
                    await stopped.wait()
            failures += 1

    async def _lead_while_lease_is_held(
        self, elector: LeaseElector, health: OperatorHealth, stopped: asyncio.Event
    ) -> Exception | None:
        """Wait for the Lease, then run the leader's work while it is held, until ``stopped``.

        Returns why the work ended before that: `LeaseLost`, or the error of the reconcilers.
        """
        async with asyncio.TaskGroup() as tasks:
            acquiring = tasks.create_task(elector.acquire())
            stopping = tasks.create_task(stopped.wait())
            await asyncio.wait((acquiring, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not acquiring.done():
                acquiring.cancel()
                return None
            keeping = tasks.create_task(_failure_of(elector.keep()), name="lease")
            thread = LoopThread(
                self._leader_work().run,
                name="reconcilers",
                loop_factory=self._machinery.loop_factory,
            )
            health.reconcilers = thread
            thread.start()
            ending = tasks.create_task(_failure_of(thread.ended()))
            try:
                await asyncio.wait((ending, stopping, keeping), return_when=asyncio.FIRST_COMPLETED)
            finally:
                # Another replica may get the Lease after this: all reconciling must have stopped.
                thread.stop()
                await self._until_ended(ending, keeping)
            keeping.cancel()
            stopping.cancel()
        return keeping.result() if keeping.done() and not keeping.cancelled() else ending.result()

    async def _until_ended(
        self,
        ending: asyncio.Task[Exception | None],
        keeping: asyncio.Task[Exception | None],
    ) -> None:
        """Wait until the reconcilers have stopped; without the Lease, while it is still free."""
        await asyncio.wait((ending, keeping), return_when=asyncio.FIRST_COMPLETED)
        timing = self._options.lease
        left_s = STOP_SHARE * (timing.duration_s - timing.renew_deadline_s)
        await asyncio.wait((ending,), timeout=left_s)
        if not ending.done():
            log.critical("the lease is lost and the reconcilers do not stop: the process ends")
            self._machinery.exit_at_once(EXIT_LEASE_LOST)

    def _leader_work(self) -> LeaderWork:
        return LeaderWork(
            options=self._options,
            login=self._machinery.login,
            clock=self._machinery.clock,
            admin_for=self._machinery.admin_for,
            ask_ensemble=EnsembleAsker(zookeeper_for=self._machinery.zookeeper_for),
            metrics=self._metrics,
            queue=WorkQueue(),
            reconcilers=self._machinery.reconcilers,
            candidate_of=lambda key: view_of(self._candidate_of(key), self._options.pod_name),
        )

    def _candidate(self, spec: CandidateSpec, is_cordoned: Callable[[int], bool]) -> Candidate:
        first_port, *further_ports = self._options.controller_ports or (0,)
        return Candidate(
            candidate_id_of(self._options.pod_name),
            self._machinery.zookeeper_for(spec.zookeeper_connect, spec.session_timeout_s),
            listen=(_any_address(self._options.pod_ip), first_port),
            random=self._machinery.random,
            wall_clock_ms=self._machinery.clock.wall_ms,
            options=CandidateOptions(
                advertised=(self._options.pod_ip, 0),
                further_ports=further_ports,
                owner=spec.owner,
                controller=spec.controller_options(is_cordoned),
                channels=channel_options(spec.config),
            ),
        )

    def _health(self, health: OperatorHealth, candidates: Candidates) -> Health:
        registry = registry_of(self._metrics, CandidatesCollector(lambda: candidates.slots))
        return Health(unhealthy=health.unhealthy, unready=health.unready, registry=registry)


async def _failure_of(work: Awaitable[None]) -> Exception | None:
    """Return the error of ``work``: raised in a task group, it would end the other tasks."""
    try:
        await work
    except Exception as error:  # noqa: BLE001 - returned to the caller
        end_if_cancelled()
        return error
    return None


async def _cancel_when(stopped: asyncio.Event, running: asyncio.Task[None]) -> None:
    """Resign as controller candidate without waiting for the reconcilers."""
    await stopped.wait()
    running.cancel()


def _any_address(pod_ip: str) -> str:
    """Return every address of the pod's family: with both, a free port would be two ports."""
    return "::" if ":" in pod_ip else "0.0.0.0"  # noqa: S104 - others reach the pod by its address
