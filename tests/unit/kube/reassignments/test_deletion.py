"""What is left behind when a reassignment is deleted: nothing, whatever its policy and state."""

from typing import Any

import pytest

from ballast.kube.api.resources import BROKER_SETS, CONFIG_MAPS, EVENTS, PARTITION_REASSIGNMENTS
from tests.unit.kube.reassignment_house import NAMESPACE, House, is_gone
from tests.unit.reassign.house import ORIGINS, TARGETS, assert_nothing_pending

THROTTLED = {"throttle": {"rate": "1Ki"}, "maxConcurrentMovesPerBroker": 1}


async def moving(policy: str = "Cancel", **spec: Any) -> House:
    """Return a house in which a throttled move is under way and has just been deleted."""
    house = House()
    for partition in house.cluster.partitions.values():
        partition.sizes = {broker: 20 * size for broker, size in partition.sizes.items()}
    house.put(execution=THROTTLED, deletionPolicy=policy, **spec)
    await house.until(lambda house: "submit" in house.fuse.effects)
    house.delete()
    return house


def clean_configs() -> Any:
    return House().cluster.configs()


def notes(house: House) -> dict[str, str]:
    return {event["reason"]: event["note"] for event in house.api.all(EVENTS)}


async def test_cancel_takes_back_what_is_in_flight() -> None:
    house = await moving()
    await house.until(is_gone)
    assert_nothing_pending(house.cluster)
    assert house.cluster.configs() == clean_configs()
    assert not set(TARGETS.values()) & {house.cluster.replicas()[tp] for tp in list(TARGETS)[:3]}
    assert house.api.all(CONFIG_MAPS) == []
    assert notes(house)["Cancelling"] == ""
    assert "LeftBehind" not in notes(house)


async def test_roll_back_brings_everything_back() -> None:
    house = await moving("RollBack")
    await house.until(is_gone)
    assert {tp: house.cluster.replicas()[tp] for tp in ORIGINS} == ORIGINS
    assert house.cluster.configs() == clean_configs()


async def test_orphan_leaves_the_moves_and_takes_the_throttle_back() -> None:
    house = await moving("Orphan")
    pending = [tp for tp, p in house.cluster.partitions.items() if p.assignment.adding_replicas]
    assert pending
    await house.until(is_gone)
    assert house.cluster.configs() == clean_configs()
    assert "cancel" not in house.fuse.effects
    house.cluster.live(100)
    assert {tp: house.cluster.replicas()[tp] for tp in pending} == {
        tp: TARGETS[tp] for tp in pending
    }


async def test_cancelling_stops_a_roll_back_as_well() -> None:
    house = House()
    for partition in house.cluster.partitions.values():
        partition.sizes = {broker: 20 * size for broker, size in partition.sizes.items()}
    house.put(execution=THROTTLED)
    await house.until(lambda house: house.seen().status.get("batch", {}).get("index") == 1)
    house.put(desiredState="RolledBack")
    await house.until(lambda house: house.reason("Succeeded") == "Unknown RollingBack")
    house.delete()
    await house.until(is_gone)
    assert_nothing_pending(house.cluster)
    assert house.cluster.configs() == clean_configs()


@pytest.mark.parametrize("approval", [{"policy": "Manual"}, {"limits": {"maxReplicaMoves": 0}}])
async def test_what_has_not_begun_is_let_go_at_once(approval: dict[str, Any]) -> None:
    house = House()
    house.put(approval=approval)
    await house.looks(house.tender(), 5)
    assert house.seen().has_finalizer
    house.delete()
    house.admin.is_available = False
    assert await house.looks(house.tender(), 1) is None
    assert house.find() is None


@pytest.mark.parametrize("policy", ["Cancel", "RollBack", "Orphan"])
async def test_what_has_ended_stays_as_it_ended(policy: str) -> None:
    house = House()
    house.put(deletionPolicy=policy)
    await house.until(lambda house: house.reason("Succeeded") == "True Completed")
    house.delete()
    await house.until(is_gone)
    assert {tp: house.cluster.replicas()[tp] for tp in TARGETS} == TARGETS


async def test_an_object_that_we_do_not_hold_is_none_of_our_business() -> None:
    house = House()
    house.put()
    found = house.seen().document
    found["metadata"]["finalizers"] = ["example.com/other"]
    house.api.put(PARTITION_REASSIGNMENTS, found)
    house.delete()
    assert await house.looks(house.tender(), 1) is None
    assert house.seen().finalizers == ["example.com/other"]
    assert house.fuse.effects == []


async def test_a_broker_set_that_is_gone_holds_nothing() -> None:
    house = await moving()
    await house.api.delete(BROKER_SETS, NAMESPACE, "prod")
    await house.until(is_gone)
    assert notes(house)["LeftBehind"].startswith("BrokerSet prod is gone")


async def test_a_broker_set_that_is_going_is_waited_for_only_while_it_answers() -> None:
    house = await moving()
    found = house.api.find(BROKER_SETS, NAMESPACE, "prod")
    assert found is not None
    found["metadata"]["finalizers"] = ["ballast.dev/operator"]
    house.api.put(BROKER_SETS, found)
    await house.api.delete(BROKER_SETS, NAMESPACE, "prod")
    house.admin.is_available = False
    await house.until(is_gone)
    assert "LeftBehind" in notes(house)


async def test_a_cluster_that_does_not_answer_is_waited_for_and_the_way_out_is_named() -> None:
    house = await moving()
    house.admin.is_available = False
    await house.until(lambda house: house.reason("Stalled") == "True DeletionBlocked")
    words = house.message("Stalled")
    assert "no broker answers" in words
    assert "kubectl patch preassign move -n ns --type merge -p" in words
    assert notes(house)["Stalled"] == words
    effects = len(house.fuse.effects)
    await house.looks(house.tender(), 5)
    assert len(house.fuse.effects) == effects, "said once"
    house.admin.is_available = True
    await house.until(is_gone)
    assert house.cluster.configs() == clean_configs()


async def test_the_way_out_leads_out() -> None:
    house = await moving()
    house.admin.is_available = False
    await house.until(lambda house: house.reason("Stalled") == "True DeletionBlocked")
    house.put(deletionPolicy="Orphan")
    await house.until(is_gone)
    assert "throttles of this reassignment may be left" in notes(house)["LeftBehind"]


async def test_a_throttle_that_cannot_be_taken_back_is_waited_for() -> None:
    house = await moving()
    house.cluster.stop(4)
    await house.until(lambda house: house.reason("Stalled") == "True DeletionBlocked")
    assert "broker 4" in house.message("Stalled")
    house.cluster.start(4)
    await house.until(is_gone)
    assert house.cluster.configs() == clean_configs()


@pytest.mark.parametrize("policy", ["Cancel", "Orphan"])
async def test_a_memory_that_cannot_be_read_needs_the_way_out(policy: str) -> None:
    house = await moving(policy)
    index = house.api.find(CONFIG_MAPS, NAMESPACE, "move-state")
    assert index is not None
    house.api.put(CONFIG_MAPS, {**index, "data": {"format": "x"}})
    await house.looks(house.tender(), 3)
    if policy == "Cancel":
        assert house.reason("Stalled") == "True DeletionBlocked"
        house.put(deletionPolicy="Orphan")
    await house.until(is_gone)
    assert "LeftBehind" in notes(house)


async def test_a_spec_that_cannot_be_read_is_cancelled() -> None:
    house = await moving("RollBack", desiredState="Running")
    house.put(execution={"batchSize": 0})
    await house.until(is_gone)
    assert_nothing_pending(house.cluster)
    assert house.cluster.configs() == clean_configs()
