"""One replica, from its start to its end, against an emulated API server."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from dataclasses import replace
from random import Random
from typing import Any, NoReturn

import kmock
import pytest
from kubernetes.aio.client import Configuration

from ballast.cli.clock import LoopClock
from ballast.kube.api.errors import NoCredentials
from ballast.kube.api.leader_election import NAME, LeaseTiming
from ballast.kube.api.resources import BROKER_SETS, LEASES, PARTITION_REASSIGNMENTS, ObjectKey
from ballast.kube.kopf_loop import LeaderWork
from ballast.kube.process import EXIT_LEASE_LOST, Machinery, OperatorProcess
from ballast.kube.runtime.context import OperatorContext
from ballast.zk.client import ClientFactory, ZooKeeperClient
from tests.fakes.zookeeper import FakeZooKeeper
from tests.fakes.zookeeper_client import FakeClient
from tests.unit.kube.kopf_operator import (
    KINDS,
    OPTIONS,
    SET,
    WAIT_S,
    Environment,
    no_cluster,
    of_kmock,
    served,
)


def exit_at_once(code: int) -> NoReturn:
    raise AssertionError(f"the process ends at once with {code}")


class Exited(Exception):
    """The process has ended at once."""


class IdleSession(FakeClient):
    """A session that is never established."""

    def __init__(self, states: list[str]) -> None:
        super().__init__(FakeZooKeeper(Random(1)), "operator")
        self._states = states
        states.append("begun")

    async def start(self) -> None:
        self._states[-1] = "running"
        await asyncio.Event().wait()

    async def close(self) -> None:
        self._states[-1] = "closed"


class Runner:
    """A process, and the sessions with ZooKeeper that it asked for."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.sessions: list[tuple[str, float]] = []
        self.machinery = Machinery(
            login=env.login,
            clock=LoopClock(lambda: 1_700_000_000_000),
            loop_factory=asyncio.new_event_loop,
            random=Random(1),
            admin_for=no_cluster,
            zookeeper_for=self._zookeeper_for,
            reconcilers={
                PARTITION_REASSIGNMENTS: env.run_reconciler,
                BROKER_SETS: env.run_reconciler,
            },
            exit_at_once=exit_at_once,
        )
        self.options = OPTIONS
        self.stopped = asyncio.Event()
        self.is_refusing = False
        self.makes_idle_sessions = False
        self.begun: list[str] = []
        """The state of each idle session."""
        self.exits: list[int] = []
        self.is_ending = threading.Event()
        # The emulator knows patches only.
        env.server[kmock.method.PUT] << self._replace

    def run(self) -> Coroutine[Any, Any, None]:
        return OperatorProcess(self.options, self.machinery).run(self.stopped)

    @property
    def lease(self) -> Any:
        return self.env.server.objects[of_kmock(LEASES), "ops", NAME]["spec"]

    def _replace(self, request: kmock.Request) -> Any:
        if self.is_refusing:
            raise kmock.KubernetesError(status=503)
        self.env.server.objects[of_kmock(LEASES), "ops", NAME].patch(request.data)
        return request.data

    def _zookeeper_for(self, connect: str, session_timeout_s: float) -> ClientFactory:
        def refuse() -> ZooKeeperClient:
            raise OSError("there is no ZooKeeper")

        self.sessions.append((connect, session_timeout_s))
        return (lambda: IdleSession(self.begun)) if self.makes_idle_sessions else refuse

    def exit(self, code: int) -> NoReturn:
        """Note that the process would end at once; nothing after it would run."""
        self.exits.append(code)
        self.is_ending.set()
        raise Exited


def make_one(env: Environment) -> None:
    for resource in (*KINDS.values(), LEASES):
        env.declare(resource)
    env.put(SET)
    hold(env, "")


def hold(env: Environment, holder: str) -> None:
    """Let a process hold the Lease for long."""
    env.server.objects[of_kmock(LEASES), "ops", NAME] = {
        "metadata": {"name": NAME, "namespace": "ops", "resourceVersion": "1"},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": 900, "renewTime": "t"},
    }


async def acted(
    runner: Runner, act: Callable[[Runner], Coroutine[Any, Any, None]] | None = None
) -> None:
    """Run a process; once it reconciles, run a script, and wait for its end."""
    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(runner.run())
        await runner.env.until(lambda: ("begun", "one") in runner.env.seen or running.done())
        if act is None:
            runner.stopped.set()
        else:
            await act(runner)


async def test_told_to_end_it_ends_in_order() -> None:
    async with served() as (env, _):
        make_one(env)
        runner = Runner(env)

        async def look(_: Runner) -> None:
            assert runner.lease["holderIdentity"] == "pod-1"
            runner.stopped.set()

        await acted(runner, look)
        assert env.seen[-1] == ("left", "one")
        assert runner.lease["holderIdentity"] == ""


async def test_told_to_end_it_does_not_wait_for_a_cluster_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ballast.kube.reconcilers.STOP_TIMEOUT_S", 0.1)
    async with served() as (env, _):
        make_one(env)
        runner = Runner(env)

        async def run_reconciler(
            _operator: OperatorContext, key: ObjectKey, _stopped: Callable[[], bool]
        ) -> None:
            env.seen.append(("begun", key.name))
            await asyncio.Event().wait()

        manager = {PARTITION_REASSIGNMENTS: run_reconciler, BROKER_SETS: run_reconciler}
        runner.machinery = replace(runner.machinery, reconcilers=manager)
        loop = asyncio.get_running_loop()
        told_at = loop.time()

        async def tell(_: Runner) -> None:
            nonlocal told_at
            told_at = loop.time()
            runner.stopped.set()

        await acted(runner, tell)
        # kopf alone would wait for 5 s for a daemon that does not end.
        assert loop.time() - told_at < 4.0
        assert runner.lease["holderIdentity"] == ""


async def test_every_replica_runs_candidates_but_only_the_holder_tends() -> None:
    async with served() as (env, _):
        make_one(env)
        zookeeper = {"connect": "zk:2181", "chroot": "/one", "sessionTimeoutSeconds": 6}
        await env.change(SET, {"spec": {"zookeeper": zookeeper, "replicas": 3}})
        hold(env, "pod-2")
        runner = Runner(env)
        async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
            tasks.create_task(runner.run())
            await env.until(lambda: bool(runner.sessions))
            runner.stopped.set()
        assert runner.sessions == [("zk:2181/one", 6.0)]
        assert env.seen == []
        assert runner.lease["holderIdentity"] == "pod-2"


SHORT = LeaseTiming(duration_s=3.0, renew_deadline_s=2.0, retry_s=0.05)


async def test_candidates_outlive_a_lost_lease_and_reconciling_is_taken_up_again() -> None:
    async with served() as (env, _):
        make_one(env)
        zookeeper = {"connect": "zk:2181", "sessionTimeoutSeconds": 6}
        await env.change(SET, {"spec": {"zookeeper": zookeeper, "replicas": 3}})
        runner = Runner(env)
        runner.options = replace(OPTIONS, lease=SHORT)
        runner.makes_idle_sessions = True

        async def lose_and_find(_: Runner) -> None:
            await env.until(lambda: len(runner.begun) == 1)
            runner.is_refusing = True
            await env.until(lambda: ("left", "one") in env.seen)
            runner.is_refusing = False
            await env.until(lambda: env.seen.count(("begun", "one")) == 2)
            assert runner.begun == ["running"], "the same session all the while"
            runner.stopped.set()

        await acted(runner, lose_and_find)
        assert runner.begun == ["closed"]
        assert runner.lease["holderIdentity"] == ""


async def test_reconcilers_that_do_not_leave_in_time_end_the_process() -> None:
    async with served() as (env, _):
        make_one(env)
        runner = Runner(env)
        runner.options = replace(OPTIONS, lease=SHORT)

        async def block(
            _operator: OperatorContext, key: ObjectKey, _stopped: Callable[[], bool]
        ) -> None:
            env.seen.append(("begun", key.name))
            runner.is_ending.wait(WAIT_S)

        manager = {PARTITION_REASSIGNMENTS: block, BROKER_SETS: block}
        runner.machinery = replace(runner.machinery, reconcilers=manager, exit_at_once=runner.exit)

        async def refuse_renewals(_: Runner) -> None:
            runner.is_refusing = True
            await asyncio.Event().wait()

        with pytest.raises(ExceptionGroup):
            await acted(runner, refuse_renewals)
        assert runner.exits == [EXIT_LEASE_LOST]


async def test_reconcilers_that_fail_are_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ballast.kube.process.PAUSES_S", (0.01,))
    async with served() as (env, _):
        make_one(env)
        runner = Runner(env)
        failures = iter([OSError("no more threads")])

        async def fail_once(reconcilers: LeaderWork, stopped: asyncio.Event) -> None:
            for failure in failures:
                raise failure
            await run(reconcilers, stopped)

        run = LeaderWork.run
        monkeypatch.setattr(LeaderWork, "run", fail_once)
        await acted(runner)
        assert ("begun", "one") in env.seen


async def test_no_credentials() -> None:
    async with served() as (env, _):
        runner = Runner(env)

        async def no_login() -> Configuration:
            raise NoCredentials("no service account and no KUBECONFIG")

        runner.machinery = replace(runner.machinery, login=no_login)
        with pytest.raises(NoCredentials):
            await runner.run()
