from dataclasses import replace

import numpy as np

from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.problem.balance_bounds import broker_bytes_of, byte_bounds, count_bounds
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.strategies import placement_problem
from tests.unit.planner.builders import made

RACKS: dict[int, str | None] = {0: "a", 1: "a", 2: "b", 3: "c"}
CLUSTER = made(RACKS, {"t": [[0, 2], [1, 2], [0, 1]]}, sizes={"t": [10, 20, 40]})
SIZES = np.array([10, 20, 40])


def problem(strategy: Strategy, *brokers: int) -> PlacementProblem:
    options = PlanOptions(strategy=strategy, broker_ids=brokers)
    return placement_problem(ClusterView(CLUSTER, options))


def test_bytes_by_broker() -> None:
    rows = np.array([[0, 1], [1, -1]], np.int32)
    assert broker_bytes_of(rows, np.array([5, 7]), 3).tolist() == [5, 12, 0]


def test_racks_of_a_rebalance_may_hold_what_the_rules_say() -> None:
    limits = count_bounds(problem(Strategy.REBALANCE))
    assert limits.rack_low.tolist() == [0, 0, 0]
    assert limits.rack_high.tolist() == [3, 3, 3]
    limits = byte_bounds(problem(Strategy.REBALANCE), SIZES)
    assert limits.rack_high.tolist() == [70, 70, 70]
    assert limits.low.tolist() == [0, 0, 0, 0]


def test_racks_of_a_drain_may_hold_what_is_there_and_what_comes() -> None:
    """Of the two that leave broker 2, none may go to the rack that its partition has already."""
    limits = count_bounds(problem(Strategy.REMOVE_BROKERS, 2))
    assert limits.rack_low.tolist() == [4, 0, 2]
    assert limits.rack_high.tolist() == [4, 0, 2]
    limits = byte_bounds(problem(Strategy.REMOVE_BROKERS, 2), SIZES)
    assert limits.rack_high.tolist() == [110, 0, 30]
    assert limits.low.tolist() == [50, 60, 0, 0]
    # A fair share of all bytes is the most that anyone comes to.
    assert limits.high.tolist() == [50, 60, 0, 47]


def test_what_is_against_the_rules_may_stay_where_nothing_is_repaired() -> None:
    limits = count_bounds(problem(Strategy.ADD_BROKERS, 3))
    assert limits.rack_high.tolist() == [4, 3, 3]


def test_without_racks_there_is_one_group() -> None:
    cluster = made(dict.fromkeys(range(3)), {"t": [[0, 1]] * 2})
    found = placement_problem(ClusterView(cluster, PlanOptions(strategy=Strategy.REBALANCE)))
    limits = count_bounds(replace(found))
    assert limits.racks.tolist() == [0, 0, 0]
    assert limits.rack_high.tolist() == [4]
