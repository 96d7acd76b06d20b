"""A reassignment that cannot go on lets others of its broker set begin, and goes on after them."""

from typing import Any

from ballast.reassign.decision.transient_state import IDLE_SECONDS
from ballast.reassign.state.conditions import LifecycleState
from tests.unit.kube.reassignment_house import House
from tests.unit.reassign.house import T3, TARGETS

THROTTLED = {"throttle": {"rate": "2Ki"}}
HEALING: dict[str, Any] = {"assignments": [{"topic": "t", "partition": 3, "replicas": [1, 2, 3]}]}


async def test_a_drain_passes_what_waits_for_a_dead_target() -> None:
    house = House()
    before = house.cluster.configs()
    house.cluster.stop(4)
    house.put(execution=THROTTLED)
    held = house.tender()
    await house.until(lambda h: h.state() is LifecycleState.EXECUTING, held)
    house.api.now = "2026-01-01T00:01:00Z"
    house.put("drain", plan=HEALING, execution=THROTTLED, labels={"ballast.dev/purpose": "drain"})
    drain = house.tender("drain")
    await house.looks(drain, 4)
    assert house.seen("drain").status["queue"]["blockedBy"] == ["move"]

    await house.until(lambda h: "yielding" in h.seen().status.get("queue", {}), held)
    assert house.cluster.configs() == before
    assert house.reason("Progressing") == "False TargetBrokerOffline"
    assert house.reason("Throttled") == "False Restored"
    await house.until(lambda h: h.seen("drain").is_settled, drain)
    assert house.cluster.replicas()[T3] == (1, 2, 3)

    house.cluster.start(4)
    await house.until(lambda h: h.seen().is_settled, held)
    assert house.state() is LifecycleState.COMPLETED
    assert {tp: house.cluster.replicas()[tp] for tp in TARGETS} == TARGETS
    assert house.cluster.configs() == before


async def test_what_could_go_on_waits_behind_what_was_let_past() -> None:
    house = House()
    house.cluster.stop(4)
    house.put()
    held = house.tender()
    await house.until(lambda h: "yielding" in h.seen().status.get("queue", {}), held)
    assert house.clock.seconds >= 100 + IDLE_SECONDS
    house.put("other", plan=HEALING, execution={"throttle": {"rate": "1Ki"}})
    other = house.tender("other")
    await house.until(lambda h: h.state("other") is LifecycleState.EXECUTING, other)
    house.cluster.partitions[T3].sizes[1] = 1e9
    house.cluster.start(4)
    await house.looks(held, 4)
    assert house.state() is LifecycleState.QUEUED
    assert house.seen().status["queue"] == {"position": 1, "blockedBy": ["other"]}


async def test_a_target_that_dies_at_the_end_does_not_hold_the_turn() -> None:
    house = House()
    house.put()
    ending = house.tender()
    house.events = lambda h: (
        h.cluster.stop(4)
        if all(h.cluster.replicas()[tp] == target for tp, target in TARGETS.items())
        else None
    )
    await house.until(lambda h: h.state() is LifecycleState.VERIFYING, ending)
    house.put("drain", plan=HEALING, labels={"ballast.dev/purpose": "drain"})
    drain = house.tender("drain")
    await house.until(lambda h: "yielding" in h.seen().status.get("queue", {}), ending)
    await house.until(lambda h: h.seen("drain").is_settled, drain)
    assert house.state("drain") is LifecycleState.COMPLETED
    assert house.cluster.replicas()[T3] == (1, 2, 3)
    await house.looks(ending, 20)
    assert house.cluster.replicas()[T3] == (1, 2, 3), "what was let past is not undone"
