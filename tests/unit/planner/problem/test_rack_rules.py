from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner.arrays import Shorts
from ballast.planner.problem import rack_rules
from ballast.planner.problem.rack_rules import RackRules


def rules(racks: list[int] | None, brokers: int = 0, factor: int = 6) -> RackRules:
    count = len(racks) if racks is not None else brokers
    numbers = None if racks is None else np.array(racks, np.int32)
    return RackRules.of(numbers, np.ones(count, np.bool_), factor)


@pytest.mark.parametrize(
    ("racks", "factor", "floors", "tops", "extras"),
    [
        pytest.param([0, 1, 2, 3], 3, [0, 0, 0, 0], [1, 1, 1, 1], 3, id="more racks"),
        pytest.param([0, 1, 2], 3, [1, 1, 1], [1, 1, 1], 0, id="as many racks"),
        pytest.param([0, 0, 1, 1], 3, [1, 1], [2, 2], 1, id="fewer racks"),
        pytest.param([0, 0, 0, 1], 3, [2, 1], [2, 1], 0, id="one rack is small"),
        pytest.param([0, 0, 0, 1], 2, [1, 1], [1, 1], 0, id="one each"),
        pytest.param([0, 0, 0], 2, [2], [2], 0, id="one rack"),
        pytest.param([0, 0], 3, [2], [2], 1, id="more than there are brokers"),
        pytest.param([0, -1, -1], 2, [0, 0, 0], [1, 1, 1], 2, id="not known"),
    ],
)
def test_the_rule(
    racks: list[int], factor: int, floors: list[int], tops: list[int], extras: int
) -> None:
    found = rules(racks)
    assert found.floors[factor].tolist() == floors
    assert found.ceilings[factor].tolist() == tops
    assert found.extras[factor] == extras


def test_without_racks_every_broker_is_one() -> None:
    found = rules(None, 3)
    assert found.racks.tolist() == [0, 1, 2]
    assert found.floors[2].tolist() == [0, 0, 0]
    assert found.ceilings[2].tolist() == [1, 1, 1]


def test_brokers_that_go_make_no_room() -> None:
    in_use = np.array([True, True, False, False])
    found = RackRules.of(np.array([0, 1, 2, 2], np.int32), in_use, 3)
    assert found.floors[2].tolist() == [1, 1, 0]
    assert found.floors[3].tolist() == [1, 1, 0]
    assert found.extras[3] == 1, "and no rack that has room for it"


RACKS = [0, 0, 1, 1, 2]
ROWS = np.array([[0, 1, -1], [0, 2, -1], [0, 2, 3], [4, -1, -1]], np.int32)


def test_usage_and_room() -> None:
    found = rules(RACKS)
    factors = np.array([3, 3, 4, 2], np.int32)
    used = found.usage(ROWS)
    assert used.tolist() == [[2, 0, 0], [1, 1, 0], [1, 2, 0], [0, 0, 1]]
    assert found.open_racks(used, factors).tolist() == [
        [False, True, True],
        [False, False, True],
        [False, False, True],
        [True, True, False],
    ]
    # Four in three racks: one of those with two brokers has one more.
    assert found.room(used, factors).tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert found.room(used[3:], np.array([4], np.int32)).tolist() == [[2, 2, 0]]


@pytest.mark.parametrize(
    ("broker", "expected"),
    [
        (0, [True, True, True, False]),
        (1, [True, True, True, False]),
        (4, [False, False, False, True]),
    ],
)
def test_conflicts(broker: int, expected: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    factors = np.array([3, 3, 4, 2], np.int32)
    brokers = np.full(4, broker)
    found = rules(RACKS)
    assert found.conflicts(ROWS, brokers, factors).tolist() == expected
    # With many racks no table is made, and no two replicas may share one.
    monkeypatch.setattr(rack_rules, "MAX_TABLED_RACKS", 2)
    assert found.conflicts(ROWS, brokers, factors).tolist() == expected


@pytest.mark.parametrize(
    ("rows", "racks", "expected"),
    [
        pytest.param([[0, 2, 4]], RACKS, [[0, 0, 0]], id="in order"),
        pytest.param([[0, 1, 4]], RACKS, [[0, 1, 0]], id="the fuller goes"),
        pytest.param([[1, 0, 4]], RACKS, [[1, 0, 0]], id="the fuller goes, first or not"),
        pytest.param([[0, 1, 2]], [0, 0, 0, 1, 1], [[0, 0, 1]], id="three in one of two racks"),
        pytest.param([[0, 1, 3]], [0, 0, 0, 1, 1], [[0, 0, 0]], id="two in one of two racks"),
        pytest.param([[0, 1, -1]], RACKS, [[0, 1, 0]], id="two replicas"),
    ],
)
def test_excess(rows: list[list[int]], racks: list[int], expected: list[list[int]]) -> None:
    some = np.array(rows, np.int32)
    factors = (some >= 0).sum(axis=1).astype(np.int32)
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    fixed = np.zeros(some.shape, np.bool_)
    assert rules(racks).excess(some, factors, weights, fixed).astype(int).tolist() == expected


def test_what_is_fixed_stays() -> None:
    some = np.array([[0, 1, 4]], np.int32)
    fixed = np.array([[False, True, False]])
    weights = np.arange(5.0)
    factors = np.array([3], np.int32)
    assert rules(RACKS).excess(some, factors, weights, fixed).tolist() == [[True, False, False]]


@given(st.data())
def test_no_fewer_than_the_excess_could_leave(data: st.DataObject) -> None:
    """What stays is in order, and no larger part of the row is."""
    count = data.draw(st.integers(2, 7))
    racks = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    found = rules(racks)
    row = data.draw(
        st.lists(st.integers(0, count - 1), min_size=1, max_size=min(4, count), unique=True)
    )
    factor = np.array([len(row)], np.int32)
    some = np.array([row], np.int32)
    gone = found.excess(some, factor, np.zeros(count), np.zeros(some.shape, np.bool_))

    def in_order(kept: tuple[int, ...]) -> bool:
        padded: Shorts = np.array([[*kept, *[-1] * (len(row) - len(kept))]], np.int32)
        used = found.usage(padded)[0]
        floors, tops = found.floors[len(row)], found.ceilings[len(row)]
        beyond = (used - floors).clip(0).sum()
        return bool((used <= tops).all()) and bool(beyond <= found.extras[len(row)])

    kept = tuple(some[0][~gone[0]].tolist())
    assert in_order(kept)
    assert not any(in_order(more) for more in combinations(row, len(kept) + 1))
