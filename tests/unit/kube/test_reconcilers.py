"""An object has at most one reconciler, which runs while there is something to do."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ballast.kube.api.reassignment_object import CLEANUP_FINALIZER
from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS, ObjectKey
from ballast.kube.reconcilers import OLD_FINALIZER, ReconcilerManager
from ballast.kube.runtime.context import ClosableAdmin, OperatorContext
from ballast.kube.runtime.metrics import OperatorMetrics
from ballast.kube.runtime.work_queue import WorkQueue
from tests.fakes.clocks import YieldingClock
from tests.fakes.kubernetes import FakeKubernetes

MOVE = ObjectKey("partitionreassignments", "a", "move")
SET = ObjectKey("brokersets", "a", "one")
WAIT_S = 30.0


@dataclass
class Visits:
    """A reconciler that records its calls, and returns when the test says so."""

    begun: list[ObjectKey] = field(default_factory=list)
    enqueued: list[ObjectKey] = field(default_factory=list)
    is_done: bool = False
    """Whether reconcilers return as soon as they are woken, or at once."""
    failures: int = 0
    failure: BaseException = field(default_factory=lambda: ValueError("a bug"))
    is_stuck: bool = False
    """Whether reconcilers wait for something that never comes, until they are cancelled."""
    running: int = 0

    async def run_reconciler(
        self, operator: OperatorContext, key: ObjectKey, stopped: Callable[[], bool]
    ) -> None:
        self.begun.append(key)
        if self.failures:
            self.failures -= 1
            raise self.failure
        self.running += 1
        assert self.running <= 1
        try:
            if self.is_stuck:
                await asyncio.Event().wait()
            while not self.is_done and not stopped():
                if await operator.queue.wait(key, WAIT_S):
                    self.enqueued.append(key)
        finally:
            self.running -= 1


def no_cluster(bootstrap_servers: str) -> ClosableAdmin:
    raise AssertionError(f"no client is opened for {bootstrap_servers}")


class Environment:
    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self.api = FakeKubernetes()
        self.queue = WorkQueue()
        self.metrics = OperatorMetrics()
        self.visits = Visits()
        self.tasks = tasks
        operator = OperatorContext(
            api=self.api,
            queue=self.queue,
            clock=YieldingClock(),
            admin_for=no_cluster,
            metrics=self.metrics,
            identity="pod-1",
            namespace="ops",
            broker_image="ballast:dev",
            cluster_domain="cluster.local",
        )
        run_reconciler = {
            PARTITION_REASSIGNMENTS: self.visits.run_reconciler,
            BROKER_SETS: self.visits.run_reconciler,
        }
        self.manager = ReconcilerManager(operator, run_reconciler, tasks)

    def see(self, key: ObjectKey = MOVE, kind: str = "MODIFIED", **metadata: Any) -> None:
        """Let an event come."""
        resource = PARTITION_REASSIGNMENTS if key.plural == MOVE.plural else BROKER_SETS
        document = {
            "metadata": {
                "namespace": key.namespace,
                "name": key.name,
                "uid": "u1",
                "generation": 1,
                **metadata,
            },
            "spec": {"brokerSetRef": {"name": "one"}, "plan": {"configMapRef": {"name": "plan"}}},
        }
        self.manager.observe_event(resource, {"type": kind, "object": document})

    def daemon(self, key: ObjectKey = MOVE) -> "asyncio.Task[None]":
        return self.tasks.create_task(self.manager.run(key))


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_events_wake_the_reconciler_when_something_else_than_the_status_has_changed() -> None:
    async with asyncio.TaskGroup() as tasks:
        env = Environment(tasks)
        env.see(kind="ADDED")
        await settle()
        assert env.visits.begun == [MOVE]
        env.see()
        await settle()
        assert env.visits.enqueued == []
        for change in ({"generation": 2}, {"labels": {"x": "y"}}, {"finalizers": ["z"]}):
            env.see(**change)
            await settle()
        assert env.visits.enqueued == [MOVE] * 3
        await env.manager.stop()
    assert env.visits.begun == [MOVE]


async def test_stopping_lets_every_reconciler_leave_and_none_begin() -> None:
    async with asyncio.TaskGroup() as tasks:
        env = Environment(tasks)
        daemon = env.daemon()
        await settle()
        await env.manager.stop()
        await settle()
        assert daemon.done()
        await env.daemon()
        env.see(deletionTimestamp="t", finalizers=[CLEANUP_FINALIZER])
    assert env.visits.begun == [MOVE]


async def test_a_reconciler_that_waits_for_its_cluster_is_cancelled_in_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ballast.kube.reconcilers.STOP_TIMEOUT_S", 0.05)
    async with asyncio.TaskGroup() as tasks:
        env = Environment(tasks)
        env.visits.is_stuck = True
        daemon = env.daemon()
        await settle()
        async with asyncio.timeout(WAIT_S):
            await env.manager.stop()
        await settle()
        assert daemon.done()
        assert not daemon.cancelled()
    assert env.visits.running == 0
    assert "the reconciler did not stop within" in caplog.text


async def test_a_timeout_of_its_own_is_a_failure_like_any_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ballast.kube.reconcilers.RETRY_S", 0.0)
    async with asyncio.TaskGroup() as tasks:
        env = Environment(tasks)
        env.visits.failure = TimeoutError("a bug")
        env.visits.failures = 1
        env.daemon()
        async with asyncio.timeout(WAIT_S):
            while env.visits.running == 0:
                await asyncio.sleep(0)
        await env.manager.stop()
    assert env.visits.begun == [MOVE, MOVE]
    assert "the reconciler failed and is started again" in caplog.text


@pytest.mark.parametrize(
    ("metadata", "is_reconciled"),
    [
        ({}, True),
        ({"deletionTimestamp": "t"}, False),
        ({"deletionTimestamp": "t", "finalizers": [CLEANUP_FINALIZER]}, True),
        ({"deletionTimestamp": "t", "finalizers": [OLD_FINALIZER]}, False),
        ({"deletionTimestamp": "t", "finalizers": ["example.com/other"]}, False),
    ],
)
async def test_what_there_is_when_the_operator_comes_up(
    metadata: dict[str, Any], is_reconciled: bool
) -> None:
    async with asyncio.TaskGroup() as tasks:
        env = Environment(tasks)
        env.see(kind="ADDED", **metadata)
        await settle()
        assert env.visits.begun == [MOVE] * is_reconciled
        await env.manager.stop()


async def test_a_reconciler_that_has_returned_is_started_again_for_a_new_generation() -> None:
    async with asyncio.TaskGroup() as tasks:
        env = Environment(tasks)
        env.visits.is_done = True
        env.see(kind="ADDED")
        await settle()
        env.see(resourceVersion="2")
        await settle()
        assert env.visits.begun == [MOVE]
        env.see(generation=2)
        await settle()
        assert env.visits.begun == [MOVE, MOVE]
        env.see(kind="DELETED", generation=2)
        await settle()
        assert env.visits.begun == [MOVE, MOVE]
        env.see(kind="ADDED", uid="u2")
        await settle()
    assert env.visits.begun == [MOVE, MOVE, MOVE]


async def test_a_generation_that_came_while_the_reconciler_was_leaving_is_reconciled() -> None:
    async with asyncio.TaskGroup() as tasks:
        env = Environment(tasks)
        env.see(kind="ADDED")
        await settle()
        env.visits.is_done = True
        env.see(generation=2)
        await settle()
    assert env.visits.begun == [MOVE, MOVE]


async def test_an_object_made_again_while_the_reconciler_was_leaving_is_reconciled() -> None:
    async with asyncio.TaskGroup() as tasks:
        env = Environment(tasks)
        env.see(kind="ADDED")
        await settle()
        env.visits.is_done = True
        env.see(kind="DELETED")
        env.see(kind="ADDED", uid="u2")
        await settle()
    assert env.visits.begun == [MOVE, MOVE]


async def test_the_next_of_the_same_name_waits_for_the_one_before() -> None:
    async with asyncio.TaskGroup() as tasks:
        env = Environment(tasks)
        env.see(kind="ADDED", deletionTimestamp="t", finalizers=[CLEANUP_FINALIZER])
        await settle()
        daemon = env.daemon()
        await settle()
        assert env.visits.begun == [MOVE]
        env.visits.is_done = True
        env.queue.enqueue(MOVE)
        await daemon
    assert env.visits.begun == [MOVE, MOVE]


@pytest.mark.parametrize(
    "failure", [ValueError("a bug"), asyncio.CancelledError()], ids=["a bug", "another's end"]
)
async def test_a_reconciler_that_fails_is_started_again(failure: BaseException) -> None:
    async with asyncio.TaskGroup() as tasks:
        env = Environment(tasks)
        env.visits.failure, env.visits.failures = failure, 2
        env.visits.is_done = True
        daemon = env.daemon()
        while not daemon.done():
            env.queue.enqueue(MOVE)
            await asyncio.sleep(0)
    assert env.visits.begun == [MOVE] * 3


async def test_a_broker_set_that_changes_wakes_its_reassignments() -> None:
    async with asyncio.TaskGroup() as tasks:
        env = Environment(tasks)
        env.see(kind="ADDED")
        await settle()
        env.see(ObjectKey("brokersets", "b", "one"), kind="ADDED")
        env.see(ObjectKey("brokersets", "a", "two"), kind="ADDED")
        await settle()
        assert env.visits.enqueued == []
        for kind, generation in (("ADDED", 1), ("MODIFIED", 1), ("MODIFIED", 2), ("DELETED", 2)):
            env.see(SET, kind=kind, generation=generation)
            await settle()
        assert env.visits.enqueued == [MOVE] * 3
        await env.manager.stop()


async def test_what_is_known_of_objects() -> None:
    async with asyncio.TaskGroup() as tasks:
        env = Environment(tasks)
        env.metrics.record_status(SET, {"partitions": {"leaderless": 1}})
        env.see(kind="ADDED")
        env.see(SET, kind="ADDED")
        assert env.manager.keys(BROKER_SETS) == [SET]
        assert MOVE in env.manager.reassignments_with("a", "plan")
        assert list(env.manager.reassignments_with("a", "other")) == []
        assert list(env.manager.reassignments_with("b", "plan")) == []
        env.see(SET, kind="DELETED")
        assert env.manager.keys(BROKER_SETS) == []
        await env.manager.stop()
    shown = [sample for family in env.metrics.collect() for sample in family.samples]
    assert not any("name" in sample.labels for sample in shown)
