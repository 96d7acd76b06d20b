"""One reassignment of a broker set runs at a time, in order."""

import itertools
import random
from dataclasses import replace
from typing import Any

import pytest

from ballast.kube.reassignments.queue import Turn, Verdict, turn
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.queueing import Purpose, QueueEntry
from tests.unit.kube.reassignment_cluster import Environment
from tests.unit.reassign.scenario import TARGETS

QUEUED, EXECUTING, PAUSED = (
    LifecycleState.QUEUED,
    LifecycleState.EXECUTING,
    LifecycleState.PAUSED,
)


def entry(name: str, second: int, state: LifecycleState = QUEUED, **more: Any) -> QueueEntry:
    time = f"2026-01-01T00:00:{second:02}Z"
    return QueueEntry(name=name, uid=name, creation_time=time, state=state, **more)


ME = entry("me", 5)
CLAIMING = replace(ME, has_begun=True)
EARLIER, LATER = entry("earlier", 1), entry("later", 9)


def claiming(other: QueueEntry) -> QueueEntry:
    return replace(other, has_begun=True)


@pytest.mark.parametrize(
    ("me", "others", "verdict", "blocked_by"),
    [
        (ME, (), Verdict.CLAIM, ()),
        (CLAIMING, (), Verdict.BEGIN, ()),
        (ME, (LATER,), Verdict.CLAIM, ()),
        (CLAIMING, (LATER,), Verdict.BEGIN, ()),
        (ME, (EARLIER,), Verdict.WAIT, ("earlier",)),
        (CLAIMING, (EARLIER,), Verdict.BEGIN, ()),
        (ME, (claiming(EARLIER),), Verdict.WAIT, ("earlier",)),
        (CLAIMING, (claiming(EARLIER),), Verdict.WAIT, ("earlier",)),
        (ME, (claiming(LATER),), Verdict.WAIT, ("later",)),
        (CLAIMING, (claiming(LATER),), Verdict.HOLD, ()),
        (ME, (entry("run", 9, EXECUTING, has_begun=True),), Verdict.WAIT, ("run",)),
        (CLAIMING, (entry("run", 9, EXECUTING, has_begun=True),), Verdict.WAIT, ("run",)),
        (ME, (entry("run", 9, PAUSED, has_begun=True),), Verdict.WAIT, ("run",)),
        (ME, (entry("held", 1, EXECUTING, yields=True),), Verdict.CLAIM, ()),
        (CLAIMING, (entry("held", 1, EXECUTING, yields=True),), Verdict.BEGIN, ()),
        (ME, (entry("idle", 1, PAUSED, is_paused=True),), Verdict.CLAIM, ()),
        (ME, (entry("idle", 1, LifecycleState.AWAITING_APPROVAL),), Verdict.CLAIM, ()),
        (ME, (entry("over", 1, LifecycleState.COMPLETED, has_begun=True),), Verdict.CLAIM, ()),
        (ME, (entry("drain", 9, purpose=Purpose.DRAIN),), Verdict.WAIT, ("drain",)),
        (
            ME,
            (EARLIER, LATER, entry("run", 9, EXECUTING, has_begun=True)),
            Verdict.WAIT,
            ("run", "earlier"),
        ),
    ],
)
def test_verdicts(
    me: QueueEntry, others: tuple[QueueEntry, ...], verdict: Verdict, blocked_by: tuple[str, ...]
) -> None:
    found = turn(me, others)
    assert found.verdict is verdict
    assert found.place.blocked_by == blocked_by
    assert found.place.position == len(blocked_by)


class Contender:
    """One reconciler as far as the queue is concerned: a look, then what follows from it."""

    def __init__(self, shared: dict[str, QueueEntry], mine: QueueEntry) -> None:
        self.shared = shared
        self.name = mine.name
        self.found: Turn | None = None
        shared[mine.name] = mine

    @property
    def runs(self) -> bool:
        return self.shared[self.name].state is EXECUTING

    def reconcile_once(self) -> None:
        others = tuple(e for name, e in self.shared.items() if name != self.name)
        self.found = turn(self.shared[self.name], others)

    def act(self) -> None:
        if self.found is None or self.runs:
            return
        mine = self.shared[self.name]
        claims = self.found.verdict in (Verdict.CLAIM, Verdict.HOLD)
        if self.found.verdict is Verdict.BEGIN:
            mine = replace(mine, state=EXECUTING, has_begun=True)
        else:
            mine = replace(mine, has_begun=claims)
        self.shared[self.name] = mine
        self.found = None


@pytest.mark.parametrize("seed", range(0, 300, 100))
def test_two_never_run_at_once_and_one_always_does(seed: int) -> None:
    """Looks and writes of three reconcilers are interleaved in every which way."""
    for one in range(seed, seed + 100):
        contend(random.Random(one))


def contend(chance: random.Random) -> None:
    shared: dict[str, QueueEntry] = {}
    entries = [EARLIER, LATER, replace(ME, purpose=chance.choice(list(Purpose)))]
    contenders = [Contender(shared, mine) for mine in entries]
    for _ in range(60):
        contender = chance.choice(contenders)
        chance.choice([contender.reconcile_once, contender.act])()
        assert sum(c.runs for c in contenders) <= 1
    for contender in contenders * 4:
        contender.reconcile_once()
        contender.act()
    assert sum(c.runs for c in contenders) == 1


async def test_they_run_one_after_the_other_in_order() -> None:
    env = Environment()
    names = ("first", "second", "third")
    for number, name in enumerate(names):
        env.api.now = f"2026-01-01T00:00:0{number}Z"
        env.put(name, plan=half(number % 2))
    manager = {name: env.loop(name) for name in names}
    running: list[str] = []
    for _ in range(60):
        for name in names:
            await manager[name].reconcile_once()
        running += [n for n in names if env.state(n) in (EXECUTING, LifecycleState.VERIFYING)]
        await env.clock.sleep(0.5)
        if all(env.reassignment(name).is_settled for name in names):
            break
    assert [name for name, _ in itertools.groupby(running)] == ["first", "second", "third"]
    assert all(env.reason("Succeeded", name) == "True Completed" for name in names)


async def test_who_waits_says_for_whom_and_is_woken() -> None:
    env = Environment()
    env.put("running", execution={"throttle": {"rate": "1Ki"}})
    running = env.loop("running")
    await env.until(lambda env: "submit" in env.crash_point.effects, running)
    env.api.now = "2026-01-01T00:00:05Z"
    env.put("waiting")
    waiting = env.loop("waiting")
    await env.reconcile(waiting, 6)
    assert env.reason("Succeeded", "waiting") == "Unknown Queued"
    assert env.reason("Progressing", "waiting") == "False Queued"
    assert env.reassignment("waiting").status["queue"] == {"position": 1, "blockedBy": ["running"]}
    assert env.notes().count("Queued") == 1
    await env.until(lambda env: env.reassignment("running").is_settled, running)
    enqueued = {str(key) for key in env.queue.enqueued}
    assert {"partitionreassignments/ns/waiting", "brokersets/ns/prod"} <= enqueued
    await env.until(lambda env: env.reassignment("waiting").is_settled, waiting)
    assert "queue" not in env.reassignment("waiting").status


async def test_a_paused_one_holds_its_place_once_it_has_begun_and_not_before() -> None:
    env = Environment()
    env.put("paused", desiredState="Paused")
    paused = env.loop("paused")
    await env.reconcile(paused, 4)
    env.put("other", plan=half(0))
    other = env.loop("other")
    await env.until(lambda env: env.reassignment("other").is_settled, other)
    env.put("paused", desiredState="Running", execution={"throttle": {"rate": "1Ki"}})
    await env.until(lambda env: "startTime" in env.reassignment("paused").status, paused)
    env.put("paused", desiredState="Paused")
    await env.reconcile(paused, 3)
    assert env.state("paused") is PAUSED
    env.put("late", plan=half(1))
    await env.reconcile(env.loop("late"), 6)
    assert env.reassignment("late").status["queue"]["blockedBy"] == ["paused"]


async def test_a_drain_goes_before_a_plan_that_waits() -> None:
    env = Environment()
    env.put("running", execution={"throttle": {"rate": "1Ki"}})
    await env.until(lambda env: "submit" in env.crash_point.effects, env.loop("running"))
    env.put("plan", plan=half(0))
    await env.reconcile(env.loop("plan"), 5)
    env.api.now = "2026-01-01T00:01:00Z"
    env.put("drain", plan=half(1), labels={"ballast.dev/purpose": "drain"})
    await env.reconcile(env.loop("drain"), 5)
    await env.reconcile(env.loop("plan"), 2)
    assert env.reassignment("drain").status["queue"]["blockedBy"] == ["running"]
    assert env.reassignment("plan").status["queue"]["blockedBy"] == ["running", "drain"]


async def test_undoing_what_has_ended_waits_for_its_turn() -> None:
    env = Environment()
    env.put("first")
    first = env.loop("first")
    await env.until(lambda env: env.reassignment("first").is_settled, first)
    env.put("second", plan=half(0), execution={"throttle": {"rate": "1Ki"}})
    second = env.loop("second")
    await env.until(lambda env: "startTime" in env.reassignment("second").status, second)
    env.put("first", desiredState="RolledBack")
    await env.reconcile(first, 3)
    assert env.state("first") is QUEUED
    await env.until(lambda env: env.reassignment("second").is_settled, second)
    await env.until(lambda env: env.reassignment("first").is_settled, first)
    assert env.reason("Succeeded", "first") == "False RolledBack"


async def test_broker_sets_do_not_wait_for_one_another() -> None:
    env = Environment()
    env.put("here", execution={"throttle": {"rate": "1Ki"}})
    await env.until(lambda env: "submit" in env.crash_point.effects, env.loop("here"))
    env.put("there", brokerSetRef={"name": "elsewhere"})
    loop = env.loop("there")
    await env.reconcile(loop, 3)
    assert env.state("there") is LifecycleState.PENDING


def half(number: int) -> dict[str, Any]:
    targets = list(TARGETS.items())[2 * number : 2 * number + 2]
    return {
        "assignments": [
            {"topic": tp.topic, "partition": tp.partition, "replicas": list(target)}
            for tp, target in targets
        ]
    }
