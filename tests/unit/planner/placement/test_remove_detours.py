"""Detours of a plan that is given: what could stay stays, and the rest goes in its place."""

import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner.arrays import Ints, Shorts, count_by_index
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.remove_detours import remove_detours
from ballast.planner.problem.balance_bounds import broker_bytes_of
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.strategies import placement_problem
from ballast.planner.problem.targets import BalanceTargets, balance_targets
from tests.unit.planner.builders import against_the_rules, made

Rows = Sequence[Sequence[int]]


def shortened(
    before: Rows,
    after: Rows,
    sizes: Sequence[int],
    racks: Mapping[int, str | None] | None = None,
) -> list[list[int]]:
    """Return what becomes of a plan for one topic; the brokers are 0 … in service."""
    brokers = racks or dict.fromkeys(range(1 + max(max(row) for row in [*before, *after])))
    cluster = made(brokers, {"t": before}, sizes={"t": sizes})
    problem = placement_problem(ClusterView(cluster, PlanOptions(strategy=Strategy.REBALANCE)))
    rows: Shorts = np.array(after, np.int32)
    remove_detours(problem, rows, balance_targets(problem))
    return [[int(broker) for broker in row] for row in rows]


def test_a_detour_is_spared() -> None:
    """0 goes from 0 to 1, and 1 from 2 to 0: 1 goes to 1 instead. 2 and 3 make all level."""
    before = [[0], [2], [2], [1]]
    assert shortened(before, [[1], [0], [2], [1]], [100, 100, 200, 100]) == [[0], [1], [2], [1]]


def test_two_that_change_places_both_stay() -> None:
    before = [[0], [1], [0]]
    assert shortened(before, [[1], [0], [0]], [100, 99, 1]) == before


@pytest.mark.parametrize(
    ("size", "expected"), [(103, [[0], [1], [2], [1]]), (110, [[1], [0], [2], [1]])]
)
def test_brokers_stay_level(size: int, expected: Rows) -> None:
    """The share is 200: with 206 instead of 200 broker 1 would hold 3 % above it."""
    before = [[0], [2], [2], [1], [0]]
    after = [[1], [0], [2], [1], [0]]
    assert shortened(before, after, [100, size, 200, 97, 100])[:4] == expected


def test_what_is_uneven_already_may_stay_as_uneven() -> None:
    """Broker 3 is far above its share whatever becomes of the others."""
    before = [[0], [2], [2], [1], [3]]
    after = [[1], [0], [2], [1], [3]]
    sizes = [100, 100, 200, 100, 800]
    assert shortened(before, after, sizes) == [[0], [1], [2], [1], [3]]


BESIDE = [10_000] * 4
"""What each of four brokers holds beside, in two replicas: 2 % of it are 200."""


def changed(
    start: Sequence[int], end: Sequence[int], sizes: Sequence[int], beside: Sequence[int] = BESIDE
) -> list[int]:
    """Return the brokers of a plan for partitions of one replica, on four brokers."""
    others = [[broker] for broker in range(4) for _ in range(2)]
    halves = [size // 2 for size in beside for _ in range(2)]
    before, after = [[[broker] for broker in brokers] + others for brokers in (start, end)]
    return [row[0] for row in shortened(before, after, [*sizes, *halves])][: len(start)]


def test_of_several_that_could_go_instead_the_one_that_levels_most_goes() -> None:
    beside = [9800, 10_000, 10_000, 10_000]
    assert changed([0, 2, 2], [1, 0, 0], [100, 180, 101], beside) == [0, 0, 1]


def test_what_comes_home_by_that_stays_too() -> None:
    assert changed([0, 1, 2], [1, 0, 0], [100, 100, 100]) == [0, 1, 0]


def test_what_stays_may_let_another_one_stay() -> None:
    """1 cannot go to broker 1 in place of 0; but when it stays, 2 comes to broker 0 and can."""
    before = [[0, 3], [2, 1], [3, 4]]
    after = [[1, 3], [0, 1], [2, 4]]
    assert shortened(before, after, [100] * 3) == [[0, 3], [2, 1], [1, 4]]


def test_of_several_that_could_stay_the_largest_stays() -> None:
    assert changed([0, 0, 2], [1, 1, 0], [100, 110, 105]) == [1, 0, 1]
    assert changed([0, 0, 2], [1, 1, 0], [110, 100, 105]) == [0, 1, 1]


@pytest.mark.parametrize(("beside", "expected"), [(9600, [0, 1]), (9300, [1, 0])])
def test_no_broker_becomes_much_lighter(beside: int, expected: list[int]) -> None:
    """The share is about 10,150: with 9,400 broker 1 would hold 7 % less."""
    assert changed([0, 2], [1, 0], [600, 100], [9000, beside, 10_800, 10_800]) == expected


def test_rules_about_racks_hold() -> None:
    """1 may not go to broker 1: its other replica is in that rack. Without racks it may."""
    racks: dict[int, str | None] = {0: "a", 1: "b", 2: "c", 3: "b"}
    before = [[0, 2], [2, 3], [1, 0]]
    after = [[1, 2], [0, 3], [1, 0]]
    sizes = [100, 100, 100]
    assert shortened(before, after, sizes, racks) == after
    assert shortened(before, after, sizes) != after


def test_without_sizes_nothing_is_done() -> None:
    cluster = made(dict.fromkeys(range(3)), {"t": [[0], [2], [2], [1]]})
    problem = placement_problem(ClusterView(cluster, PlanOptions(strategy=Strategy.REBALANCE)))
    rows: Shorts = np.array([[1], [0], [2], [1]], np.int32)
    remove_detours(problem, rows, balance_targets(problem))
    assert rows.tolist() == [[1], [0], [2], [1]]


@given(
    st.lists(st.permutations(range(6)), min_size=1, max_size=20),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_numbers_and_rules_hold_and_less_is_copied(
    orders: list[list[int]], chance: random.Random, has_racks: bool
) -> None:
    before = [order[:2] for order in orders]
    sizes = [chance.randrange(1, 100) for _ in before]
    racks = {broker: f"r{broker % 3}" if has_racks else None for broker in range(6)}
    cluster = made(racks, {"t": before}, sizes={"t": sizes})
    problem = placement_problem(ClusterView(cluster, PlanOptions(strategy=Strategy.REBALANCE)))
    rows: Shorts = np.array([chance.sample(range(6), 2) for _ in before], np.int32)
    held, copied = count_by_index(rows, 6), _copied(problem.origins, rows, sizes)
    broken, targets = against_the_rules(cluster, rows), balance_targets(problem)
    levels = broker_bytes_of(rows, np.array(sizes), 6)
    remove_detours(problem, rows, targets)
    assert count_by_index(rows, 6).tolist() == held.tolist()
    assert _copied(problem.origins, rows, sizes) <= copied
    assert against_the_rules(cluster, rows) <= broken
    _assert_no_fuller(targets, levels, broker_bytes_of(rows, np.array(sizes), 6))


def _copied(before: Shorts, after: Shorts, sizes: Sequence[int]) -> int:
    there = (after[:, :, None] == before[:, None, :]).any(axis=2)
    return int(((~there).sum(axis=1) * np.array(sizes)).sum())


def _assert_no_fuller(targets: BalanceTargets, before: Ints, after: Ints) -> None:
    assert targets.byte_target is not None
    most = np.maximum(before, 1.02 * np.maximum(targets.byte_target, 1.0) + 1e-6)
    assert (after <= most).all()
