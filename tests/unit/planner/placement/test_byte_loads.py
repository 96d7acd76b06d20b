"""What is known of replicas while they are moved one by one."""

import numpy as np

from ballast.planner.arrays import Shorts
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.byte_loads import ByteLoads
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.strategies import placement_problem
from tests.unit.planner.builders import made

RACKS: dict[int, str | None] = {0: "a", 1: "a", 2: "b", 3: "b"}
ROWS = [[0, 2], [1, 3], [0, 3]]
SIZES = [50, 20, 7]
TARGET = np.array([40.0, 30.0, 40.0, 44.0])


def levels(exclude: tuple[str, ...] = ()) -> tuple[PlacementProblem, Shorts, ByteLoads]:
    """Return those of a cluster of two racks: a task, its rows, and what is known of them."""
    cluster = made(RACKS, {"t": ROWS[:2], "u": ROWS[2:]}, sizes={"t": SIZES[:2], "u": SIZES[2:]})
    problem = placement_problem(
        ClusterView(cluster, PlanOptions(strategy=Strategy.REBALANCE, exclude=exclude))
    )
    assert problem.sizes is not None
    rows = problem.rows.copy()
    return problem, rows, ByteLoads(problem, rows, problem.sizes, TARGET)


def test_what_brokers_hold_above_their_share() -> None:
    _, _, found = levels()
    assert found.excess.tolist() == [17, -10, 10, -17]
    assert found.scale.tolist() == TARGET.tolist()
    assert found.replica_counts.tolist() == [2, 1, 1, 2]
    assert found.cells.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.sizes_of(np.array([5, 0, 3])).tolist() == [7, 50, 20]


def test_the_replicas_of_a_broker() -> None:
    _, _, found = levels()
    assert [found.cells_of(broker).tolist() for broker in range(4)] == [[0, 4], [2], [1], [3, 5]]


def test_what_the_plan_may_not_touch_is_nobodys_to_move() -> None:
    _, _, found = levels(exclude=("t",))
    assert [found.cells_of(broker).tolist() for broker in range(4)] == [[4], [], [], [5]]


def test_what_may_be_elsewhere() -> None:
    """In the other rack is the other replica already, on the broker itself the replica too."""
    _, _, found = levels()
    cells = np.array([0, 2, 4])
    assert found.fits(cells, 1).tolist() == [True, True, True]
    assert found.fits(cells, 3).tolist() == [False, False, False]
    assert found.fits(np.array([1, 3, 5]), 3).tolist() == [True, True, True]


def test_a_replica_is_moved() -> None:
    _, rows, found = levels()
    found.move(0, 1)
    assert rows.tolist() == [[1, 2], [1, 3], [0, 3]]
    assert found.excess.tolist() == [-33, 40, 10, -17]
    assert found.replica_counts.tolist() == [1, 2, 1, 2]
    assert found.cells_of(1).tolist() == [0, 2]
