"""Placement, with the goldens published in Kafka's AdminRackAwareTest and some computed ones."""

from collections.abc import Mapping

import pytest

from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.placement import deal_by_rack, place_replicas

Placed = list[list[int]]

SIX = {0: "rack1", 1: "rack2", 2: "rack2", 3: "rack3", 4: "rack3", 5: "rack1"}
PUBLISHED = {0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}
NINE = {b: f"rack{b // 3 + 1}" for b in range(9)}
TWELVE = {6: "rack1", 7: "rack2", 8: "rack2", 9: "rack3", 10: "rack3", 11: "rack1"}
SKIPPING = {0: "a", 1: "b", 2: "c", 3: "a", 4: "a"}
UNEVEN = {0: "rack1", 1: "rack1", 5: "rack1", 2: "rack2", 3: "rack3", 4: "rack3"}
MORE_REPLICAS = {0: "rack1", 1: "rack2", 2: "rack2", 3: "rack3", 4: "rack3", 5: "rack2"}


def brokers(racks: Mapping[int, str | None]) -> list[RegisteredBroker]:
    endpoint = Endpoint(host="localhost", port=9092)
    return [
        RegisteredBroker(broker_id=b, endpoints=(endpoint,), rack=rack) for b, rack in racks.items()
    ]


def unaware(*broker_ids: int) -> list[RegisteredBroker]:
    return brokers(dict.fromkeys(broker_ids))


def place(
    among: list[RegisteredBroker],
    partitions: int,
    factor: int,
    start: int,
    shift: int,
    first: int = 0,
) -> Placed:
    placed = place_replicas(
        among, partitions, factor, start_index=start, shift=shift, first_partition=first
    )
    assert list(placed) == list(range(first, first + partitions))
    return [[*replicas] for replicas in placed.values()]


def rows(text: str) -> Placed:
    return [[int(b) for b in row.split()] for row in text.split("|")]


@pytest.mark.parametrize(
    ("among", "factor", "start", "shift", "expected"),
    [
        pytest.param(
            unaware(0, 1, 2, 3, 4), 3, 0, 0,
            "0 1 2|1 2 3|2 3 4|3 4 0|4 0 1|0 2 3|1 3 4|2 4 0|3 0 1|4 1 2",
            id="published",
        ),
        pytest.param(
            unaware(0, 1, 2, 3, 4), 3, 2, 2,
            "2 0 1|3 1 2|4 2 3|0 3 4|1 4 0|2 1 3|3 2 4|4 3 0|0 4 1|1 0 2",
            id="A",
        ),
        pytest.param(
            unaware(104, 101, 102, 103), 2, 1, 1,
            "102 104|103 101|104 102|101 103|102 101|103 102|104 103|101 104",
            id="B, ids not in order",
        ),
        pytest.param(unaware(1, 2, 3), 3, 0, 0, "1 2 3|2 3 1|3 1 2|1 3 2|2 1 3|3 2 1", id="C"),
        pytest.param(unaware(1, 2, 3), 3, 1, 2, "2 3 1|3 1 2|1 2 3|2 1 3|3 2 1|1 3 2", id="C2"),
        pytest.param(unaware(0, 1, 2), 1, 1, 1, "1|2|0|1", id="D"),
        pytest.param(
            brokers(PUBLISHED), 3, 0, 0,
            "0 3 1|3 1 5|1 5 4|5 4 2|4 2 0|2 0 3|0 4 2",
            id="published, racks",
        ),
        pytest.param(brokers(SIX), 3, 2, 2, "3 2 0|5 4 1|2 0 3|4 1 5|0 3 2|1 5 4", id="E"),
        pytest.param(
            brokers(SIX), 3, 0, 0,
            "0 1 3|1 3 5|3 5 2|5 2 4|2 4 0|4 0 1|0 2 4|1 4 0|3 0 1|5 1 3|2 3 5|4 5 2|0 3 2",
            id="F",
        ),
        pytest.param(
            brokers(SKIPPING), 4, 2, 2,
            "2 0 1 3|3 1 2 4|4 2 1 3|0 1 2 3|1 4 2 3|2 4 1 3",
            id="G, skips a rack",
        ),
        pytest.param(
            brokers(MORE_REPLICAS), 5, 0, 0,
            "0 1 3 2 4|1 3 0 2 4|3 2 0 1 4|2 4 0 1 3|4 5 0 1 3|5 0 3 2 4",
            id="H, more replicas than racks",
        ),
        pytest.param(
            brokers(NINE), 3, 0, 0,
            "0 3 6|3 6 1|6 1 4|1 4 7|4 7 2|7 2 5|2 5 8|5 8 0|8 0 3|0 4 7",
            id="K",
        ),
        pytest.param(
            brokers(dict.fromkeys(range(6), "rack1")), 3, 0, 0,
            "0 1 2|1 2 3|2 3 4|3 4 5|4 5 0|5 0 1|0 2 3",
            id="L, a single rack",
        ),
        pytest.param(
            brokers(UNEVEN), 3, 0, 0,
            "0 2 3|2 3 1|3 1 2|1 4 2|4 5 2|5 2 3|0 4 2|2 5 3|3 0 2|1 2 3|4 1 2|5 4 2",
            id="M, uneven racks",
        ),
    ],
)  # fmt: skip
def test_goldens(
    among: list[RegisteredBroker], factor: int, start: int, shift: int, expected: str
) -> None:
    expected_rows = rows(expected)
    assert place(among, len(expected_rows), factor, start, shift) == expected_rows


def test_expansion_with_racks() -> None:
    expected = "6 8|7 10|9 6|11 7|8 9|10 11|6 9|7 11|9 8|11 10|8 6|10 7"
    assert place(brokers(TWELVE), 12, 2, 0, 0, first=12) == rows(expected)


def test_expansion_without_racks() -> None:
    assert place(unaware(0, 1, 2, 3, 4), 3, 2, 2, 2, first=3) == rows("0 3|1 4|2 1")


@pytest.mark.parametrize(
    ("racks", "dealt"),
    [
        (PUBLISHED, [0, 3, 1, 5, 4, 2]),
        ({b: r for b, r in PUBLISHED.items() if b != 5}, [0, 3, 1, 4, 2]),
        (NINE, [0, 3, 6, 1, 4, 7, 2, 5, 8]),
        (SKIPPING, [0, 1, 2, 3, 4]),
    ],
)
def test_dealing(racks: Mapping[int, str], dealt: list[int]) -> None:
    assert deal_by_rack(racks) == dealt


def test_racks_known_of_some_brokers_only_do_not_count() -> None:
    some = brokers({0: "a", 1: "a", 2: None})
    assert place(some, 3, 2, 0, 0) == place(unaware(0, 1, 2), 3, 2, 0, 0)


@pytest.mark.parametrize("start", range(4))
@pytest.mark.parametrize("shift", range(0, 9, 4))
def test_even_racks_get_even_shares(start: int, shift: int) -> None:
    placed = place(brokers(NINE), 36, 3, start, shift)
    leaders = [replicas[0] for replicas in placed]
    every = [broker_id for replicas in placed for broker_id in replicas]
    assert {leaders.count(b) for b in NINE} == {4}
    assert {every.count(b) for b in NINE} == {12}
    assert all(len({NINE[b] for b in replicas}) == 3 for replicas in placed)


def test_any_start_and_shift_will_do() -> None:
    assert place(unaware(1, 2, 3), 6, 3, 3 + 1, 30 + 2) == place(unaware(1, 2, 3), 6, 3, 1, 2)
