"""A reassignment that cannot go on lets others of its broker set begin, and goes on after them."""

from typing import Any

from ballast.reassign.decision.transient_state import IDLE_S
from ballast.reassign.state.conditions import LifecycleState
from tests.unit.kube.reassignment_cluster import Environment
from tests.unit.reassign.scenario import T3, TARGETS

THROTTLED = {"throttle": {"rate": "2Ki"}}
HEALING: dict[str, Any] = {"assignments": [{"topic": "t", "partition": 3, "replicas": [1, 2, 3]}]}


async def test_a_drain_passes_what_waits_for_a_dead_target() -> None:
    env = Environment()
    before = env.cluster.configs()
    env.cluster.stop(4)
    env.put(execution=THROTTLED)
    held = env.loop()
    await env.until(lambda h: h.state() is LifecycleState.EXECUTING, held)
    env.api.now = "2026-01-01T00:01:00Z"
    env.put("drain", plan=HEALING, execution=THROTTLED, labels={"ballast.dev/purpose": "drain"})
    drain = env.loop("drain")
    await env.reconcile(drain, 4)
    assert env.reassignment("drain").status["queue"]["blockedBy"] == ["move"]

    await env.until(lambda h: "yielding" in h.reassignment().status.get("queue", {}), held)
    assert env.cluster.configs() == before
    assert env.reason("Progressing") == "False TargetBrokerOffline"
    assert env.reason("Throttled") == "False Restored"
    await env.until(lambda h: h.reassignment("drain").is_settled, drain)
    assert env.cluster.replicas()[T3] == (1, 2, 3)

    env.cluster.start(4)
    await env.until(lambda h: h.reassignment().is_settled, held)
    assert env.state() is LifecycleState.COMPLETED
    assert {tp: env.cluster.replicas()[tp] for tp in TARGETS} == TARGETS
    assert env.cluster.configs() == before


async def test_what_could_go_on_waits_behind_what_was_let_past() -> None:
    env = Environment()
    env.cluster.stop(4)
    env.put()
    held = env.loop()
    await env.until(lambda h: "yielding" in h.reassignment().status.get("queue", {}), held)
    assert env.clock.seconds >= 100 + IDLE_S
    env.put("other", plan=HEALING, execution={"throttle": {"rate": "1Ki"}})
    other = env.loop("other")
    await env.until(lambda h: h.state("other") is LifecycleState.EXECUTING, other)
    env.cluster.partitions[T3].sizes[1] = 1e9
    env.cluster.start(4)
    await env.reconcile(held, 4)
    assert env.state() is LifecycleState.QUEUED
    assert env.reassignment().status["queue"] == {"position": 1, "blockedBy": ["other"]}


async def test_a_target_that_dies_at_the_end_does_not_hold_the_turn() -> None:
    env = Environment()
    env.put()
    ending = env.loop()
    env.events = lambda h: (
        h.cluster.stop(4)
        if all(h.cluster.replicas()[tp] == target for tp, target in TARGETS.items())
        else None
    )
    await env.until(lambda h: h.state() is LifecycleState.VERIFYING, ending)
    env.put("drain", plan=HEALING, labels={"ballast.dev/purpose": "drain"})
    drain = env.loop("drain")
    await env.until(lambda h: "yielding" in h.reassignment().status.get("queue", {}), ending)
    await env.until(lambda h: h.reassignment("drain").is_settled, drain)
    assert env.state("drain") is LifecycleState.COMPLETED
    assert env.cluster.replicas()[T3] == (1, 2, 3)
    await env.reconcile(ending, 20)
    assert env.cluster.replicas()[T3] == (1, 2, 3), "what was let past is not undone"
