"""A reassignment whose plan is in a ConfigMap: read, waited for, and held to what was stored."""

from typing import Any

from ballast.kube.api.resources import CONFIG_MAPS
from ballast.reassign.plan.kafka_json import format_reassignment_json
from ballast.reassign.state.conditions import LifecycleState
from tests.unit.kube.reassignment_house import NAMESPACE, House, cluster, has_ended
from tests.unit.reassign.house import T0, T1, TARGETS

REFERENCE: dict[str, Any] = {"plan": {"configMapRef": {"name": "plan", "key": "plan.json"}}}


def put_plan(house: House, text: str) -> None:
    house.api.put(
        CONFIG_MAPS,
        {"metadata": {"name": "plan", "namespace": NAMESPACE}, "data": {"plan.json": text}},
    )


async def test_it_is_executed() -> None:
    house = House()
    put_plan(house, format_reassignment_json(TARGETS))
    house.put(**REFERENCE)
    await house.until(has_ended)
    assert {tp: house.cluster.replicas()[tp] for tp in TARGETS} == TARGETS


async def test_that_it_is_being_read_is_to_be_seen() -> None:
    house = House()
    put_plan(house, format_reassignment_json(TARGETS))
    house.put(**REFERENCE)
    await house.looks(house.tender(), 1)
    asked = [(verb, name) for verb, _, _, name in house.api.requests]
    assert asked.index(("apply_status", "move")) < asked.index(("get", "plan"))


async def test_it_is_waited_for_until_it_can_be_read() -> None:
    house = House()
    house.put(**REFERENCE)
    tender = house.tender()
    await house.looks(tender, 2)
    assert house.reason("Accepted") == "False PlanUnreadable"
    assert house.reason("Succeeded") == "Unknown Pending"
    put_plan(house, "{")
    await house.looks(tender, 2)
    assert "not a valid JSON" in house.message("Accepted")
    put_plan(house, format_reassignment_json(TARGETS))
    await house.until(has_ended, tender)
    assert house.reason("Succeeded") == "True Completed"


async def test_a_plan_that_changes_under_way_is_not_taken_over() -> None:
    house = House(cluster(copy_rate=100.0))
    put_plan(house, format_reassignment_json(TARGETS))
    before = house.cluster.configs()
    house.put(**REFERENCE, execution={"throttle": {"rate": "1Ki"}, "batchSize": 1})
    house.cluster.stop(4)
    tender = house.tender()
    await house.until(lambda house: "submit" in house.fuse.effects, tender)
    put_plan(house, format_reassignment_json({T0: (1, 2), T1: (2, 3)}))
    await house.until(lambda house: house.reason("Stalled") == "True PlanChanged", tender)
    submitted = house.fuse.effects.count("submit")
    await house.looks(tender, 5)
    assert house.fuse.effects.count("submit") == submitted
    assert house.state() is LifecycleState.EXECUTING
    house.cluster.start(4)
    house.put(desiredState="RolledBack")
    await house.until(has_ended, tender)
    assert house.reason("Succeeded") == "False RolledBack"
    assert house.cluster.configs() == before


async def test_what_has_begun_does_not_need_its_config_map_any_more() -> None:
    house = House()
    put_plan(house, format_reassignment_json(TARGETS))
    house.put(**REFERENCE, execution={"throttle": {"rate": "1Ki"}})
    await house.until(lambda house: "submit" in house.fuse.effects)
    await house.api.delete(CONFIG_MAPS, NAMESPACE, "plan")
    await house.until(has_ended, house.tender())
    assert house.reason("Succeeded") == "True Completed"
