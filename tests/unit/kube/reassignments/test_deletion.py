"""What is left behind when a reassignment is deleted: nothing, whatever its policy and state."""

from typing import Any

import pytest

from ballast.kube.api.resources import BROKER_SETS, CONFIG_MAPS, EVENTS, PARTITION_REASSIGNMENTS
from tests.unit.kube.reassignment_cluster import NAMESPACE, Environment, is_gone
from tests.unit.reassign.scenario import ORIGINS, TARGETS, assert_nothing_pending

THROTTLED = {"throttle": {"rate": "1Ki"}, "maxConcurrentMovesPerBroker": 1}


async def moving(policy: str = "Cancel", **spec: Any) -> Environment:
    """Return the environment of a throttled move that has just been deleted."""
    env = Environment()
    for partition in env.cluster.partitions.values():
        partition.sizes = {broker: 20 * size for broker, size in partition.sizes.items()}
    env.put(execution=THROTTLED, deletionPolicy=policy, **spec)
    await env.until(lambda env: "submit" in env.crash_point.effects)
    env.delete()
    return env


def clean_configs() -> Any:
    return Environment().cluster.configs()


def notes(env: Environment) -> dict[str, str]:
    return {event["reason"]: event["note"] for event in env.api.all(EVENTS)}


async def test_cancel_takes_back_what_is_in_flight() -> None:
    env = await moving()
    await env.until(is_gone)
    assert_nothing_pending(env.cluster)
    assert env.cluster.configs() == clean_configs()
    assert not set(TARGETS.values()) & {env.cluster.replicas()[tp] for tp in list(TARGETS)[:3]}
    assert env.api.all(CONFIG_MAPS) == []
    assert notes(env)["Cancelling"] == ""
    assert "LeftBehind" not in notes(env)


async def test_roll_back_brings_everything_back() -> None:
    env = await moving("RollBack")
    await env.until(is_gone)
    assert {tp: env.cluster.replicas()[tp] for tp in ORIGINS} == ORIGINS
    assert env.cluster.configs() == clean_configs()


async def test_orphan_leaves_the_moves_and_takes_the_throttle_back() -> None:
    env = await moving("Orphan")
    pending = [tp for tp, p in env.cluster.partitions.items() if p.assignment.adding_replicas]
    assert pending
    await env.until(is_gone)
    assert env.cluster.configs() == clean_configs()
    assert "cancel" not in env.crash_point.effects
    env.cluster.live(100)
    assert {tp: env.cluster.replicas()[tp] for tp in pending} == {tp: TARGETS[tp] for tp in pending}


async def test_cancelling_stops_a_roll_back_as_well() -> None:
    env = Environment()
    for partition in env.cluster.partitions.values():
        partition.sizes = {broker: 20 * size for broker, size in partition.sizes.items()}
    env.put(execution=THROTTLED)
    await env.until(lambda env: env.reassignment().status.get("batch", {}).get("index") == 1)
    env.put(desiredState="RolledBack")
    await env.until(lambda env: env.reason("Succeeded") == "Unknown RollingBack")
    env.delete()
    await env.until(is_gone)
    assert_nothing_pending(env.cluster)
    assert env.cluster.configs() == clean_configs()


@pytest.mark.parametrize("approval", [{"policy": "Manual"}, {"limits": {"maxReplicaMoves": 0}}])
async def test_what_has_not_begun_is_let_go_at_once(approval: dict[str, Any]) -> None:
    env = Environment()
    env.put(approval=approval)
    await env.reconcile(env.loop(), 5)
    assert env.reassignment().has_finalizer
    env.delete()
    env.admin.is_available = False
    assert await env.reconcile(env.loop(), 1) is None
    assert env.find() is None


@pytest.mark.parametrize("policy", ["Cancel", "RollBack", "Orphan"])
async def test_what_has_ended_stays_as_it_ended(policy: str) -> None:
    env = Environment()
    env.put(deletionPolicy=policy)
    await env.until(lambda env: env.reason("Succeeded") == "True Completed")
    env.delete()
    await env.until(is_gone)
    assert {tp: env.cluster.replicas()[tp] for tp in TARGETS} == TARGETS


async def test_an_object_that_we_do_not_hold_is_none_of_our_business() -> None:
    env = Environment()
    env.put()
    found = env.reassignment().document
    found["metadata"]["finalizers"] = ["example.com/other"]
    env.api.put(PARTITION_REASSIGNMENTS, found)
    env.delete()
    assert await env.reconcile(env.loop(), 1) is None
    assert env.reassignment().finalizers == ["example.com/other"]
    assert env.crash_point.effects == []


async def test_a_broker_set_that_is_gone_holds_nothing() -> None:
    env = await moving()
    await env.api.delete(BROKER_SETS, NAMESPACE, "prod")
    await env.until(is_gone)
    assert notes(env)["LeftBehind"].startswith("BrokerSet prod is gone")


async def test_a_broker_set_that_is_going_is_waited_for_only_while_it_answers() -> None:
    env = await moving()
    found = env.api.find(BROKER_SETS, NAMESPACE, "prod")
    assert found is not None
    found["metadata"]["finalizers"] = ["ballast.dev/operator"]
    env.api.put(BROKER_SETS, found)
    await env.api.delete(BROKER_SETS, NAMESPACE, "prod")
    env.admin.is_available = False
    await env.until(is_gone)
    assert "LeftBehind" in notes(env)


async def test_a_cluster_that_does_not_answer_is_waited_for_and_the_way_out_is_named() -> None:
    env = await moving()
    env.admin.is_available = False
    await env.until(lambda env: env.reason("Stalled") == "True DeletionBlocked")
    words = env.message("Stalled")
    assert "no broker answers" in words
    assert "kubectl patch preassign move -n ns --type merge -p" in words
    assert notes(env)["Stalled"] == words
    effects = len(env.crash_point.effects)
    await env.reconcile(env.loop(), 5)
    assert len(env.crash_point.effects) == effects, "said once"
    env.admin.is_available = True
    await env.until(is_gone)
    assert env.cluster.configs() == clean_configs()


async def test_the_way_out_leads_out() -> None:
    env = await moving()
    env.admin.is_available = False
    await env.until(lambda env: env.reason("Stalled") == "True DeletionBlocked")
    env.put(deletionPolicy="Orphan")
    await env.until(is_gone)
    assert "throttles of this reassignment may be left" in notes(env)["LeftBehind"]


async def test_a_throttle_that_cannot_be_taken_back_is_waited_for() -> None:
    env = await moving()
    env.cluster.stop(4)
    await env.until(lambda env: env.reason("Stalled") == "True DeletionBlocked")
    assert "broker 4" in env.message("Stalled")
    env.cluster.start(4)
    await env.until(is_gone)
    assert env.cluster.configs() == clean_configs()


@pytest.mark.parametrize("policy", ["Cancel", "Orphan"])
async def test_a_memory_that_cannot_be_read_needs_the_way_out(policy: str) -> None:
    env = await moving(policy)
    index = env.api.find(CONFIG_MAPS, NAMESPACE, "move-state")
    assert index is not None
    env.api.put(CONFIG_MAPS, {**index, "data": {"format": "x"}})
    await env.reconcile(env.loop(), 3)
    if policy == "Cancel":
        assert env.reason("Stalled") == "True DeletionBlocked"
        env.put(deletionPolicy="Orphan")
    await env.until(is_gone)
    assert "LeftBehind" in notes(env)


async def test_a_spec_that_cannot_be_read_is_cancelled() -> None:
    env = await moving("RollBack", desiredState="Running")
    env.put(execution={"batchSize": 0})
    await env.until(is_gone)
    assert_nothing_pending(env.cluster)
    assert env.cluster.configs() == clean_configs()
