import numpy as np
import pytest

from ballast.planner.arrays import count_by_index
from ballast.planner.errors import Infeasible
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement import optimize as module
from ballast.planner.placement.optimize import count_moves, optimize
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.replica_targets import ReplicaTargets
from ballast.planner.problem.strategies import placement_problem, unbounded_problem
from ballast.planner.problem.targets import BalanceTargets
from tests.unit.planner.builders import against_the_rules, counts, ids, level_cluster, made


def test_moves_are_counted() -> None:
    before = np.array([[0, 1, -1], [0, 1, 2]], np.int32)
    after = np.array([[1, 0, 2], [3, -1, -1]], np.int32)
    assert count_moves(after, before) == 2


def test_too_few_brokers() -> None:
    cluster = made(dict.fromkeys((1, 2, 3)), {"s": [[1, 2]], "t": [[1, 2, 3], [3, 2, 1]]})
    options = PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=(3,))
    with pytest.raises(Infeasible) as caught:
        optimize(placement_problem(ClusterView(cluster, options)))
    assert str(caught.value) == (
        "t-0: has 3 replicas, and only 2 brokers stay that may hold one: fewer brokers may go, "
        "or the replication factor must be lowered first (and 1 other partitions)"
    )


def test_where_racks_leave_no_place_the_rule_gives_way_or_the_move() -> None:
    """Broker 2 may only go to broker 1, whose rack is there already; 3 need not move at all."""
    racks: dict[int, str | None] = {0: "a", 1: "a", 2: "b", 3: "b", 4: "b"}
    cluster = made(racks, {"t": [[0, 2]]}, cordoned=[3, 4])
    options = PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=(2,))
    assert ids(cluster, optimize(placement_problem(ClusterView(cluster, options)))) == [(0, 1)]
    cluster = made(racks, {"t": [[0, 1]]}, cordoned=[2, 3, 4])
    options = PlanOptions(strategy=Strategy.REPAIR_RACKS)
    assert ids(cluster, optimize(placement_problem(ClusterView(cluster, options)))) == [(0, 1)]


def test_what_is_large_is_mended_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few arcs allowed, a plan that dealing left uneven still ends level and by the rules."""
    cluster = level_cluster(400, 10, 5, factor=4, skew=True)
    options = PlanOptions(strategy=Strategy.REBALANCE)
    monkeypatch.setattr(module, "MAX_ARCS", 1000)
    found = counts(cluster, rows := optimize(placement_problem(ClusterView(cluster, options))))
    assert max(found.values()) - min(found.values()) <= 1
    assert against_the_rules(cluster, rows) == 0


def test_what_finds_no_better_place_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only rack a may be used: moving within it mends nothing, so nothing moves."""
    monkeypatch.setattr(module, "MAX_ARCS", 0)
    racks: dict[int, str | None] = {0: "a", 1: "a", 2: "a", 3: "b"}
    cluster = made(racks, {"t": [[0, 1]] * 4})
    options = PlanOptions(strategy=Strategy.REPAIR_RACKS, broker_ids=(0, 1, 2))
    rows = optimize(placement_problem(ClusterView(cluster, options)))
    assert ids(cluster, rows) == [(0, 1)] * 4


@pytest.mark.parametrize("is_part", [True, False])
def test_in_a_part_what_nobody_lacks_as_much_stays(is_part: bool) -> None:
    """There somebody else would have too much of it, and no other part would know."""
    cluster = made(
        dict.fromkeys(range(3)),
        {"t": [[0]] * 71 + [[1]] * 30 + [[2]] * 30},
        sizes={"t": [60] + [1] * 130},
    )
    problem = unbounded_problem(ClusterView(cluster, PlanOptions(strategy=Strategy.REBALANCE)))
    target = np.array([71, 30, 30])
    targets = BalanceTargets(
        replica_targets=ReplicaTargets(target=target, low=target, high=target),
        count_max=target,
        count_origin=target,
        byte_target=np.array([60.0, 65.0, 65.0]),
        is_block=is_part,
    )
    rows = optimize(problem, targets)
    assert (rows[0, 0] == 0) == is_part
    assert count_by_index(rows, 3).tolist() == target.tolist()
