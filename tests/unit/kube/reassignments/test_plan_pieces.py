"""A plan that is too large for memory runs in pieces, also if the operator is killed."""

from collections.abc import Callable
from typing import Any

import pytest

from ballast.kube.api.resources import CONFIG_MAPS
from ballast.kube.reassignments import plan_source
from ballast.kube.reassignments.plan_source import PlanNotReadable, load_piece
from ballast.reassign.plan.pieces import Piece
from ballast.reassign.plan.plan import Plan
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.throttle.throttle_values import FOLLOWER_RATE
from tests.fakes.crash_point import CrashPoint
from tests.unit.kube.reassignment_cluster import NAMESPACE, Environment, has_ended, is_gone
from tests.unit.kube.reassignments.test_plan_source import chunked
from tests.unit.reassign.scenario import ORIGINS, TARGETS, assert_nothing_pending

PLAN = Plan.of(TARGETS, ORIGINS)
MANUAL = {"policy": "Manual"}
Script = Callable[[Environment], None]


@pytest.fixture(autouse=True)
def _pieces_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_source, "EXECUTABLE_PARTITIONS", 1)


def environment_with(crash_point: CrashPoint | None = None, **spec: Any) -> Environment:
    env = Environment(crash_point=crash_point)
    for document in chunked(PLAN)[1]:
        document["metadata"]["namespace"] = NAMESPACE
        env.api.put(CONFIG_MAPS, document)
    execution = {"throttle": {"rate": "2000"}, "maxConcurrentMovesPerBroker": 1}
    reference: dict[str, Any] = {"plan": {"configMapRef": {"name": "plan"}}}
    env.put(**reference, execution=execution, **spec)
    return env


def moved(env: Environment) -> int:
    replicas = env.cluster.replicas()
    return sum(replicas.get(tp) == TARGETS[tp] for tp in TARGETS)


def plain(env: Environment) -> None:
    """Leave it alone."""


def approved_late(env: Environment) -> None:
    if env.state() is LifecycleState.AWAITING_APPROVAL:
        assert moved(env) == 0
        env.intervenes()
        digest = env.reassignment().status["plan"]["digest"]
        env.put(approval={**MANUAL, "planDigest": digest})


def cancelled(env: Environment) -> None:
    if moved(env) >= 2:
        env.intervenes()
        env.put(desiredState="Cancelled")


def rolled_back(env: Environment) -> None:
    if moved(env) >= 2:
        env.intervenes()
        env.put(desiredState="RolledBack")


def rolled_back_after_the_end(env: Environment) -> None:
    if env.state() is LifecycleState.COMPLETED:
        env.intervenes()
        env.put(desiredState="RolledBack")


def deleted(env: Environment) -> None:
    found = env.find()
    if found is not None and not found.is_deleted and moved(env) >= 2:
        env.intervenes()
        env.delete()


SCENARIOS: dict[str, tuple[Script, dict[str, Any], LifecycleState | None]] = {
    "plain": (plain, {}, LifecycleState.COMPLETED),
    "approved": (approved_late, {"approval": MANUAL}, LifecycleState.COMPLETED),
    "cancelled": (cancelled, {}, LifecycleState.CANCELLED),
    "rolled back": (rolled_back, {}, LifecycleState.ROLLED_BACK),
    "rolled back after the end": (rolled_back_after_the_end, {}, LifecycleState.ROLLED_BACK),
    "deleted, Cancel": (deleted, {"deletionPolicy": "Cancel"}, None),
    "deleted, RollBack": (deleted, {"deletionPolicy": "RollBack"}, None),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_at_any_write_it_comes_to_the_same_end(name: str) -> None:
    reference = lived(name, None)
    first = 1 if reference.turned_at is None else reference.turned_at
    for at in range(max(1, first), len(reference.crash_point.effects) + 1):
        # Before a write or after it, in turn: the other one is that of the write beside it.
        check(name, lived(name, CrashPoint(at=at, after=at % 2 == 0)), f"killed at {at}")
    check(name, reference, "not killed")


def lived(name: str, crash_point: CrashPoint | None) -> Environment:
    script, spec, outcome = SCENARIOS[name]
    env = environment_with(crash_point, **spec)
    env.events = script
    over: Callable[[Environment], bool] = is_gone if outcome is None else has_ended
    if name == "rolled back after the end":
        over = is_rolled_back
    env.live(over)
    return env


def is_rolled_back(env: Environment) -> bool:
    return env.state() is LifecycleState.ROLLED_BACK and has_ended(env)


def check(name: str, env: Environment, text: str) -> None:
    _, spec, outcome = SCENARIOS[name]
    replicas = env.cluster.replicas()
    if outcome is LifecycleState.COMPLETED:
        assert moved(env) == len(TARGETS), text
    elif outcome is LifecycleState.ROLLED_BACK or spec.get("deletionPolicy") == "RollBack":
        assert {tp: replicas[tp] for tp in ORIGINS} == ORIGINS, text
    else:
        assert all({*replicas[tp]} in ({*ORIGINS[tp]}, {*TARGETS[tp]}) for tp in TARGETS), text
        assert 2 <= moved(env) < len(TARGETS), text
    assert_nothing_pending(env.cluster)
    assert not any(FOLLOWER_RATE in values for values in env.cluster.broker_configs.values())
    if outcome is not None:
        status = env.reassignment().status
        assert env.state() is outcome, text
        assert status["plan"]["digest"] == PLAN.digest, text
        assert status["plan"]["partitions"] == len(PLAN.moves), text
        assert sum(status["progress"]["partitions"].values()) <= len(PLAN.moves), text


async def test_the_whole_is_shown_while_a_piece_runs() -> None:
    env = environment_with()
    loop, shown = env.loop(), set()
    while not has_ended(env):
        await env.reconcile(loop, 1)
        status = env.reassignment().status
        if "startTime" in status:
            assert status["plan"]["digest"] == PLAN.digest
            assert sum(status["progress"]["partitions"].values()) == len(PLAN.moves)
            shown.add(env.message("Progressing").partition(":")[0])
    assert {f"piece {number} of 4" for number in (1, 2, 3, 4)} <= shown
    assert status["progress"]["summary"] == "4/4 (100%)"


async def test_others_may_begin_between_two_pieces() -> None:
    env = environment_with()
    loop, places = env.loop(), []
    while not has_ended(env):
        await env.reconcile(loop, 1)
        state, queue = env.state(), env.reassignment().status.get("queue", {})
        if moved(env) and state is LifecycleState.QUEUED:
            places.append(queue.get("position"))
    assert 0 in places


async def test_a_later_piece_that_contradicts_the_cluster_waits_for_a_person() -> None:
    env = environment_with()
    loop = env.loop()
    last = max(TARGETS)

    def remove_the_last(h: Environment) -> None:
        if moved(h) >= 2:
            h.cluster.partitions.pop(last, None)

    env.events = remove_the_last
    await env.until(lambda h: "True" in h.reason("Stalled"), loop)
    assert "piece 4 of 4" in env.message("Stalled")
    assert env.state() is LifecycleState.PENDING
    assert env.reassignment().status["queue"] == {"blockedBy": [], "yielding": True}
    env.put(desiredState="Cancelled")
    await env.until(has_ended, loop)
    assert env.state() is LifecycleState.CANCELLED


async def test_a_plan_that_was_exchanged_is_not_run() -> None:
    env = environment_with()
    documents = chunked(Plan.of(dict.fromkeys(TARGETS, (2, 3, 4)), ORIGINS))[1]

    def exchange(h: Environment) -> None:
        if moved(h) == 1:
            for document in documents:
                document["metadata"]["namespace"] = NAMESPACE
                h.api.put(CONFIG_MAPS, document)

    env.events = exchange
    await env.until(lambda h: "PlanChanged" in h.reason("Progressing") or has_ended(h))
    assert env.reason("Progressing") == "False PlanChanged"
    assert not any(replicas == (2, 3, 4) for replicas in env.cluster.replicas().values())


async def test_a_piece_of_another_plan_is_not_read() -> None:
    env = environment_with()
    piece = Piece(source="plan", plan_digest="sha256:0", partitions=4, size=1, number=0)
    with pytest.raises(PlanNotReadable, match="holds another plan"):
        await load_piece(env.api, NAMESPACE, piece)
