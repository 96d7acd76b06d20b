"""An operator that is killed at any write, to API server or cluster, has the same outcome."""

from collections.abc import Callable
from typing import Any

import pytest

from ballast.kube.api.resources import CONFIG_MAPS
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.throttle.throttle_values import FOLLOWER_RATE, LEADER_REPLICAS
from tests.fakes.crash_point import CrashPoint
from tests.unit.kube.reassignment_cluster import Environment, assignments, has_ended, is_gone
from tests.unit.reassign.scenario import T0, T1, TARGETS, assert_nothing_pending

Script = Callable[[Environment], None]
THROTTLED = {"throttle": {"rate": "2000"}, "maxConcurrentMovesPerBroker": 1}


def completed(env: Environment) -> int:
    replicas = env.cluster.replicas()
    return sum(replicas[tp] == TARGETS[tp] for tp in (T0, T1))


def plain(env: Environment) -> None:
    """Leave it alone."""


def approved_late(env: Environment) -> None:
    status = env.reassignment().status
    if env.state() is LifecycleState.AWAITING_APPROVAL:
        env.intervenes()
        digest = status["plan"]["digest"]
        env.put(approval={"policy": "Manual", "planDigest": digest})


def paused(env: Environment) -> None:
    wanted = "Paused" if completed(env) == 1 and env.clock.seconds < 150 else "Running"
    if env.reassignment().spec.get("desiredState", "Running") != wanted:
        env.intervenes()
        env.put(desiredState=wanted)


def cancelled(env: Environment) -> None:
    if completed(env) >= 1:
        env.intervenes()
        env.put(desiredState="Cancelled")


def rolled_back(env: Environment) -> None:
    if completed(env) >= 1:
        env.intervenes()
        env.put(desiredState="RolledBack")


def delete_at_one(env: Environment) -> None:
    found = env.find()
    if found is not None and not found.is_deleted and completed(env) >= 1:
        env.intervenes()
        env.delete()


SCENARIOS: dict[str, tuple[Script, dict[str, Any], LifecycleState | None]] = {
    "plain": (plain, {}, LifecycleState.COMPLETED),
    "approved": (approved_late, {"approval": {"policy": "Manual"}}, LifecycleState.COMPLETED),
    "paused": (paused, {}, LifecycleState.COMPLETED),
    "cancelled": (cancelled, {}, LifecycleState.CANCELLED),
    "rolled back": (rolled_back, {}, LifecycleState.ROLLED_BACK),
    "deleted, Cancel": (delete_at_one, {"deletionPolicy": "Cancel"}, None),
    "deleted, RollBack": (delete_at_one, {"deletionPolicy": "RollBack"}, None),
    "deleted, Orphan": (delete_at_one, {"deletionPolicy": "Orphan"}, None),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_at_any_write_it_comes_to_the_same_end(name: str) -> None:
    _, _, outcome = SCENARIOS[name]
    reference = lived(name, None)
    # Up to where the user intervenes, a life is like any other.
    first = 1 if reference.turned_at is None else reference.turned_at
    for at in range(max(1, first), len(reference.crash_point.effects) + 1):
        env = lived(name, at)
        where = f"killed at {at}: {env.crash_point.effects[at - 1]}"
        if name != "deleted, Orphan":
            assert_nothing_pending(env.cluster)
        if outcome is None:
            assert env.api.all(CONFIG_MAPS) == [], where
        else:
            assert env.state() is outcome, where
        if name in ("plain", "approved", "paused", "rolled back", "deleted, RollBack"):
            assert env.cluster.replicas() == reference.cluster.replicas(), where


def test_killed_after_any_write_it_comes_to_the_same_end() -> None:
    reference = lived("plain", None)
    for at in range(1, len(reference.crash_point.effects) + 1):
        env = lived("plain", at, after=True)
        assert env.state() is LifecycleState.COMPLETED, at
        assert env.cluster.replicas() == reference.cluster.replicas(), at
        assert env.notes().count("Completed") <= 1


def lived(name: str, at: int | None, *, after: bool = False) -> Environment:
    """Return the environment after the scenario; throttles are as they were."""
    script, options, outcome = SCENARIOS[name]
    env = Environment(crash_point=CrashPoint(at=at, after=after))
    env.cluster.topic_configs["t"] = {LEADER_REPLICAS: "0:1,7:7"}
    env.cluster.broker_configs[4] = {FOLLOWER_RATE: "123456"}
    before = env.cluster.configs()
    env.put(execution=THROTTLED, plan={"assignments": assignments()[:2]}, **options)
    env.events = script
    env.live(is_gone if outcome is None else has_ended)
    assert env.cluster.configs() == before, f"throttle left behind: {name}, killed at {at}"
    return env
