from ballast.brokersets.observation.observation import VolumeView
from ballast.brokersets.observation.room import capacities, full_brokers, room_problem
from tests.unit.brokersets.builders import broker_set

GIB = 1 << 30


def test_volumes_are_the_brokers_that_run_on_them() -> None:
    volumes = tuple(
        VolumeView(name=f"data-{ordinal}", ordinal=ordinal, requested=requested)
        for ordinal, requested in enumerate(("10Gi", "odd", "1Ti"))
    )
    assert capacities(broker_set(brokerIdOffset=10), volumes) == {10: 10 * GIB, 12: 1024 * GIB}


def test_no_volume_is_filled_beyond_its_share() -> None:
    held, capacity = {0: 60, 1: 60, 2: 99}, dict.fromkeys(range(3), 100)
    assert room_problem(held, {0: 20}, capacity) == ""
    assert room_problem(held, {0: 21, 1: 5}, capacity) == (
        "NotEnoughDisk: broker 0 would hold 81 of 100: more than 80 % of its volume"
    )
    assert room_problem(held, {2: 0}, capacity) == "", "it gets nothing"


def test_what_is_not_known_is_not_judged() -> None:
    assert room_problem({}, {0: 500}, {0: 100}) == ""
    assert room_problem({0: 500}, {0: 500}, {}) == ""


def test_a_volume_is_full_beyond_nine_tenths() -> None:
    assert full_brokers({0: 90, 1: 91, 2: 500}, {0: 100, 1: 100}) == {1}


def test_some_brokers_are_named() -> None:
    everyone = dict.fromkeys(range(9), 100)
    assert "and 6 more" in room_problem(everyone, everyone, everyone)
