"""Every object is tended when there is something to do, and by one at a time."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS, ObjectKey
from ballast.kube.reconcilers import CLEANUP_FINALIZER, OLD_FINALIZER, Tenders
from ballast.kube.runtime.context import ClosableAdmin, OperatorContext
from ballast.kube.runtime.metrics import OperatorMetrics
from ballast.kube.runtime.work_queue import Wakes
from tests.fakes.clocks import YieldingClock
from tests.fakes.kubernetes import FakeKubernetes

MOVE = ObjectKey("partitionreassignments", "a", "move")
SET = ObjectKey("brokersets", "a", "one")
WAIT_S = 30.0


@dataclass
class Visits:
    """A tender that notes what happens to it, and returns when it is told to."""

    begun: list[ObjectKey] = field(default_factory=list)
    woken: list[ObjectKey] = field(default_factory=list)
    is_done: bool = False
    """Whether tenders return as soon as they are woken, or at once."""
    failures: int = 0
    failure: BaseException = field(default_factory=lambda: ValueError("a bug"))
    is_stuck: bool = False
    """Whether tenders wait for something that never comes, until they are cancelled."""
    running: int = 0

    async def tend(
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
                if await operator.wakes.wait(key, WAIT_S):
                    self.woken.append(key)
        finally:
            self.running -= 1


def no_cluster(bootstrap_servers: str) -> ClosableAdmin:
    raise AssertionError(f"nobody asks {bootstrap_servers}")


class House:
    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self.api = FakeKubernetes()
        self.wakes = Wakes()
        self.metrics = OperatorMetrics()
        self.visits = Visits()
        self.tasks = tasks
        operator = OperatorContext(
            api=self.api,
            wakes=self.wakes,
            clock=YieldingClock(),
            admin_for=no_cluster,
            metrics=self.metrics,
            identity="pod-1",
            namespace="ops",
            broker_image="ballast:dev",
            cluster_domain="cluster.local",
        )
        tend = {PARTITION_REASSIGNMENTS: self.visits.tend, BROKER_SETS: self.visits.tend}
        self.tenders = Tenders(operator, tend, tasks)

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
        self.tenders.saw(resource, {"type": kind, "object": document})

    def daemon(self, key: ObjectKey = MOVE) -> "asyncio.Task[None]":
        return self.tasks.create_task(self.tenders.tend(key))


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_events_wake_the_tender_when_something_else_than_the_status_has_changed() -> None:
    async with asyncio.TaskGroup() as tasks:
        house = House(tasks)
        house.see(kind="ADDED")
        await settle()
        assert house.visits.begun == [MOVE]
        house.see()
        await settle()
        assert house.visits.woken == []
        for change in ({"generation": 2}, {"labels": {"x": "y"}}, {"finalizers": ["z"]}):
            house.see(**change)
            await settle()
        assert house.visits.woken == [MOVE] * 3
        await house.tenders.stop()
    assert house.visits.begun == [MOVE]


async def test_stopping_lets_every_tender_leave_and_none_begin() -> None:
    async with asyncio.TaskGroup() as tasks:
        house = House(tasks)
        daemon = house.daemon()
        await settle()
        await house.tenders.stop()
        await settle()
        assert daemon.done()
        await house.daemon()
        house.see(deletionTimestamp="t", finalizers=[CLEANUP_FINALIZER])
    assert house.visits.begun == [MOVE]


async def test_a_tender_that_waits_for_its_cluster_is_cancelled_in_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ballast.kube.reconcilers.LEAVE_S", 0.05)
    async with asyncio.TaskGroup() as tasks:
        house = House(tasks)
        house.visits.is_stuck = True
        daemon = house.daemon()
        await settle()
        async with asyncio.timeout(WAIT_S):
            await house.tenders.stop()
        await settle()
        assert daemon.done()
        assert not daemon.cancelled()
    assert house.visits.running == 0
    assert "the tender did not leave within" in caplog.text


async def test_a_timeout_of_its_own_is_a_failure_like_any_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ballast.kube.reconcilers.RETRY_S", 0.0)
    async with asyncio.TaskGroup() as tasks:
        house = House(tasks)
        house.visits.failure = TimeoutError("a bug")
        house.visits.failures = 1
        house.daemon()
        async with asyncio.timeout(WAIT_S):
            while house.visits.running == 0:
                await asyncio.sleep(0)
        await house.tenders.stop()
    assert house.visits.begun == [MOVE, MOVE]
    assert "the tender failed and is started again" in caplog.text


@pytest.mark.parametrize(
    ("metadata", "is_tended"),
    [
        ({}, True),
        ({"deletionTimestamp": "t"}, False),
        ({"deletionTimestamp": "t", "finalizers": [CLEANUP_FINALIZER]}, True),
        ({"deletionTimestamp": "t", "finalizers": [OLD_FINALIZER]}, False),
        ({"deletionTimestamp": "t", "finalizers": ["somebody/else"]}, False),
    ],
)
async def test_what_there_is_when_the_operator_comes_up(
    metadata: dict[str, Any], is_tended: bool
) -> None:
    async with asyncio.TaskGroup() as tasks:
        house = House(tasks)
        house.see(kind="ADDED", **metadata)
        await settle()
        assert house.visits.begun == [MOVE] * is_tended
        await house.tenders.stop()


async def test_a_tender_that_has_returned_is_started_again_for_a_new_generation() -> None:
    async with asyncio.TaskGroup() as tasks:
        house = House(tasks)
        house.visits.is_done = True
        house.see(kind="ADDED")
        await settle()
        house.see(resourceVersion="2")
        await settle()
        assert house.visits.begun == [MOVE]
        house.see(generation=2)
        await settle()
        assert house.visits.begun == [MOVE, MOVE]
        house.see(kind="DELETED", generation=2)
        await settle()
        assert house.visits.begun == [MOVE, MOVE]
        house.see(kind="ADDED", uid="u2")
        await settle()
    assert house.visits.begun == [MOVE, MOVE, MOVE]


async def test_a_generation_that_came_while_the_tender_was_leaving_is_tended() -> None:
    async with asyncio.TaskGroup() as tasks:
        house = House(tasks)
        house.see(kind="ADDED")
        await settle()
        house.visits.is_done = True
        house.see(generation=2)
        await settle()
    assert house.visits.begun == [MOVE, MOVE]


async def test_an_object_made_again_while_the_tender_was_leaving_is_tended() -> None:
    async with asyncio.TaskGroup() as tasks:
        house = House(tasks)
        house.see(kind="ADDED")
        await settle()
        house.visits.is_done = True
        house.see(kind="DELETED")
        house.see(kind="ADDED", uid="u2")
        await settle()
    assert house.visits.begun == [MOVE, MOVE]


async def test_the_next_of_the_same_name_waits_for_the_one_before() -> None:
    async with asyncio.TaskGroup() as tasks:
        house = House(tasks)
        house.see(kind="ADDED", deletionTimestamp="t", finalizers=[CLEANUP_FINALIZER])
        await settle()
        daemon = house.daemon()
        await settle()
        assert house.visits.begun == [MOVE]
        house.visits.is_done = True
        house.wakes.wake(MOVE)
        await daemon
    assert house.visits.begun == [MOVE, MOVE]


@pytest.mark.parametrize(
    "failure", [ValueError("a bug"), asyncio.CancelledError()], ids=["a bug", "another's end"]
)
async def test_a_tender_that_fails_is_started_again(failure: BaseException) -> None:
    async with asyncio.TaskGroup() as tasks:
        house = House(tasks)
        house.visits.failure, house.visits.failures = failure, 2
        house.visits.is_done = True
        daemon = house.daemon()
        while not daemon.done():
            house.wakes.wake(MOVE)
            await asyncio.sleep(0)
    assert house.visits.begun == [MOVE] * 3


async def test_a_broker_set_that_changes_wakes_its_reassignments() -> None:
    async with asyncio.TaskGroup() as tasks:
        house = House(tasks)
        house.see(kind="ADDED")
        await settle()
        house.see(ObjectKey("brokersets", "b", "one"), kind="ADDED")
        house.see(ObjectKey("brokersets", "a", "two"), kind="ADDED")
        await settle()
        assert house.visits.woken == []
        for kind, generation in (("ADDED", 1), ("MODIFIED", 1), ("MODIFIED", 2), ("DELETED", 2)):
            house.see(SET, kind=kind, generation=generation)
            await settle()
        assert house.visits.woken == [MOVE] * 3
        await house.tenders.stop()


async def test_what_is_known_of_objects() -> None:
    async with asyncio.TaskGroup() as tasks:
        house = House(tasks)
        house.metrics.saw(SET, {"partitions": {"leaderless": 1}})
        house.see(kind="ADDED")
        house.see(SET, kind="ADDED")
        assert house.tenders.keys(BROKER_SETS) == [SET]
        assert MOVE in house.tenders.reassignments_with("a", "plan")
        assert list(house.tenders.reassignments_with("a", "other")) == []
        assert list(house.tenders.reassignments_with("b", "plan")) == []
        house.see(SET, kind="DELETED")
        assert house.tenders.keys(BROKER_SETS) == []
        await house.tenders.stop()
    shown = [sample for family in house.metrics.collect() for sample in family.samples]
    assert not any("name" in sample.labels for sample in shown)
