"""The effects of a result: which, in which order, and what follows an error."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from ballast.kube.api.errors import ApiUnavailable, Conflict, Invalid
from ballast.kube.api.reassignment_object import CLEANUP_FINALIZER
from ballast.kube.api.resources import PARTITION_REASSIGNMENTS, Document, ObjectKey
from ballast.kube.runtime.condition_events import ObjectEvent
from ballast.kube.runtime.context import OperatorContext
from ballast.kube.runtime.reconcile_loop import (
    MAX_BACK_OFF_S,
    Finalizer,
    ObjectReconciler,
    ReconciledKind,
    ReconcileLoop,
    Result,
    Status,
)
from tests.unit.kube.reassignment_cluster import NAMESPACE, Environment, key_of

KEY = key_of("move")
WAITING = key_of("waiting")


def status_of(reason: str, message: str = "") -> dict[str, Any]:
    condition = {
        "type": "Succeeded",
        "status": "False",
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        "observedGeneration": 1,
    }
    return {"conditions": [condition]}


class Scripted(ObjectReconciler):
    """Returns what the test wants."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.results: list[Result | Exception] = []
        self.unchanged: list[Result | None] = []
        self.documents: list[Document] = []
        self.forgotten = 0
        self.closed = 0

    async def reconcile(self, document: Document) -> Result:
        self.documents.append(document)
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    async def reconcile_unchanged(self, document: Document) -> Result | None:
        self.documents.append(document)
        return self.unchanged.pop(0)

    def events_between(self, before: Status, after: Status) -> Iterator[ObjectEvent]:
        if before.get("conditions") != after["conditions"]:
            yield ObjectEvent(reason="Turned", message="")

    async def dependents(self, document: Document) -> Sequence[ObjectKey]:
        assert document["metadata"]["name"] == "move"
        return [WAITING]

    def forget(self) -> None:
        self.forgotten += 1

    async def close(self) -> None:
        self.closed += 1


class Fixture:
    """A loop around a scripted reconciler, and the API server with its object."""

    def __init__(self, *results: Result | Exception, min_pause_s: float = 0.0) -> None:
        self.env = Environment()
        self.env.put()
        self.context = self.env.context()
        self.reconcilers: list[Scripted] = []
        self.results = list(results)
        self.kind = ReconciledKind(
            resource=PARTITION_REASSIGNMENTS, open=self._open, min_pause_s=min_pause_s
        )
        self.loop = ReconcileLoop(self.kind, self.context, KEY)

    def _open(self, operator: OperatorContext, key: ObjectKey) -> Scripted:
        assert (operator, key) == (self.context, KEY)
        self.reconcilers.append(Scripted(self.env))
        self.reconcilers[-1].results = self.results
        return self.reconcilers[-1]

    @property
    def effects(self) -> list[str]:
        return self.env.crash_point.effects

    def metric(self, name: str, **labels: str) -> float | None:
        registry = CollectorRegistry()
        registry.register(self.context.metrics)
        return registry.get_sample_value(name, labels)


async def test_effects_follow_each_other_in_a_fixed_order() -> None:
    done = ObjectEvent(reason="Done", message="")
    fixture = Fixture(
        Result(
            finalizer=Finalizer.ADD,
            events=(done,),
            status=status_of("Failed"),
            is_expired=True,
            has_ended=True,
            requeue_after_s=7.0,
        )
    )
    assert await fixture.loop.reconcile_once() == 7.0
    assert fixture.effects == [
        "patch partitionreassignments",
        "create events",
        "status of partitionreassignments",
        "create events",
        "delete partitionreassignments",
    ]
    assert fixture.env.notes() == ["Done", "Turned"]
    assert fixture.env.queue.enqueued == [WAITING]
    assert fixture.metric("ballast_reassignments_ended_total", state="Failed") == 1


async def test_a_finalizer_is_changed_on_condition_of_what_was_read() -> None:
    add = Result(finalizer=Finalizer.ADD, status=status_of("Planning"), requeue_after_s=7.0)
    fixture = Fixture(add, add, add)
    fixture.env.api.fail_next("patch", Invalid("edited meanwhile", status=422))
    assert await fixture.loop.reconcile_once() == 0.0
    assert fixture.effects == ["patch partitionreassignments"], "the rest of the result is dropped"
    assert await fixture.loop.reconcile_once() == 7.0
    assert fixture.env.reassignment().finalizers == [CLEANUP_FINALIZER]
    patches = fixture.effects.count("patch partitionreassignments")
    assert await fixture.loop.reconcile_once() == 7.0
    assert fixture.effects.count("patch partitionreassignments") == patches


async def test_other_finalizers_stay() -> None:
    fixture = Fixture(Result(finalizer=Finalizer.REMOVE, requeue_after_s=None))
    document = fixture.env.reassignment().document
    document["metadata"]["finalizers"] = ["example.com/other", CLEANUP_FINALIZER]
    fixture.env.api.put(PARTITION_REASSIGNMENTS, document)
    assert await fixture.loop.reconcile_once() is None
    assert fixture.env.reassignment().finalizers == ["example.com/other"]


async def test_a_deleted_object_without_our_finalizer_is_left_alone() -> None:
    fixture = Fixture()
    document = fixture.env.reassignment().document
    document["metadata"]["finalizers"] = ["example.com/other"]
    fixture.env.api.put(PARTITION_REASSIGNMENTS, document)
    fixture.env.delete()
    assert await fixture.loop.reconcile_once() is None
    assert fixture.reconcilers == []


async def test_the_same_status_is_written_once_and_another_over_what_others_wrote() -> None:
    planning = Result(status=status_of("Planning"), requeue_after_s=1.0)
    fixture = Fixture(*[planning] * 4)
    for _ in range(2):
        await fixture.loop.reconcile_once()
    assert fixture.effects.count("status of partitionreassignments") == 1
    assert fixture.env.notes() == ["Turned"]
    await fixture.env.api.apply_status(
        PARTITION_REASSIGNMENTS, NAMESPACE, "move", status_of("Paused")
    )
    await fixture.loop.reconcile_once()
    assert fixture.env.reason("Succeeded") == "False Planning"
    writes = fixture.effects.count("status of partitionreassignments")
    await fixture.loop.reconcile_once()
    assert fixture.effects.count("status of partitionreassignments") == writes


async def test_a_status_that_is_not_written_yet_is_written_soon_and_told_then() -> None:
    fixture = Fixture(
        Result(status=status_of("Planning", "1"), requeue_after_s=60.0),
        Result(status=status_of("Planning", "2"), requeue_after_s=60.0),
        Result(status=status_of("Planning", "3"), is_urgent=True, requeue_after_s=60.0),
    )
    assert await fixture.loop.reconcile_once() == 60.0
    assert await fixture.loop.reconcile_once() == 5.0
    assert fixture.env.message("Succeeded") == "1"
    assert await fixture.loop.reconcile_once() == 60.0
    assert fixture.env.message("Succeeded") == "3"


async def test_an_object_of_the_same_name_gets_a_reconciler_of_its_own() -> None:
    fixture = Fixture(Result(requeue_after_s=1.0), Result(requeue_after_s=1.0))
    await fixture.loop.reconcile_once()
    fixture.env.delete()
    fixture.env.put()
    await fixture.loop.reconcile_once()
    assert [one.closed for one in fixture.reconcilers] == [1, 0]
    await fixture.loop.close()
    assert [one.closed for one in fixture.reconcilers] == [1, 1]


@pytest.mark.parametrize(
    "error",
    [ApiUnavailable("no answer"), Conflict("no", status=409), RuntimeError("a bug")],
    ids=["unavailable", "conflict", "bug"],
)
async def test_errors_are_followed_by_longer_and_longer_pauses(error: Exception) -> None:
    fixture = Fixture(*[error] * 12, Result(requeue_after_s=1.0), error)
    delays = [await fixture.loop.reconcile_once() for _ in range(12)]
    assert delays[:4] == [0.5, 1.0, 2.0, 4.0]
    assert delays[-1] == MAX_BACK_OFF_S
    assert fixture.reconcilers[0].forgotten == 12
    assert await fixture.loop.reconcile_once() == 1.0
    assert await fixture.loop.reconcile_once() == 0.5
    kind = "PartitionReassignment"
    assert fixture.metric("ballast_reconciliations_total", kind=kind, result="error") == 13
    assert fixture.metric("ballast_reconciliations_total", kind=kind, result="ok") == 1


async def test_an_unchanged_object_is_read_again_only_when_it_is_enqueued_or_not_enough() -> None:
    rest = Result(
        status=status_of("Planning"), is_unchanged_until_enqueued=True, requeue_after_s=10.0
    )
    fixture = Fixture(rest, rest, rest)
    await fixture.loop.reconcile_once()
    (reconciler,) = fixture.reconcilers
    reads = len(fixture.env.api.requests)
    reconciler.unchanged = [rest, None]
    await fixture.loop.reconcile_once(is_enqueued=False)
    assert len(fixture.env.api.requests) == reads
    assert reconciler.documents[-1]["status"] == status_of("Planning")
    await fixture.loop.reconcile_once(is_enqueued=False)
    assert len(fixture.env.api.requests) == reads + 1
    await fixture.loop.reconcile_once(is_enqueued=True)
    assert len(fixture.env.api.requests) == reads + 2


@pytest.mark.parametrize(
    ("requeue_after_s", "duration_s", "delay_s", "pause_s"),
    [(0.5, 0.01, 0.5, 0.2), (0.1, 9.0, 0.1, 5.0), (0.5, 0.5, 2.0, 0.5), (0.5, 9.0, 5.0, 5.0)],
)
async def test_a_long_reconciliation_is_followed_by_a_long_wait(
    requeue_after_s: float, duration_s: float, delay_s: float, pause_s: float
) -> None:
    fixture = Fixture(Result(requeue_after_s=requeue_after_s), min_pause_s=0.2)
    fixture.env.clock.seconds = 0.0
    get = fixture.env.api.get

    async def slow(*arguments: Any) -> Document:
        fixture.env.clock.seconds += duration_s
        return await get(*arguments)

    fixture.env.api.get = slow  # type: ignore[method-assign, assignment]
    assert await fixture.loop.reconcile_once() == pytest.approx(delay_s)
    assert fixture.loop.pause_s == pytest.approx(pause_s)


async def test_it_runs_until_the_object_is_gone_or_the_process_stops() -> None:
    fixture = Fixture(*[Result(requeue_after_s=1.0)] * 3)
    rounds: list[int] = []

    def stopped() -> bool:
        rounds.append(1)
        return len(rounds) > 3

    run: Callable[..., Any] = fixture.kind.run
    await run(fixture.context, KEY, stopped)
    assert fixture.results == []
    fixture.env.delete()
    await run(fixture.context, KEY, lambda: False)
    assert [one.closed for one in fixture.reconcilers] == [1]
