"""The worked examples of the planner's docstrings: the same clusters, the same numbers.

Brokers 1, 2, 3 of the docstrings are the indices 0, 1, 2 here.
"""

from collections.abc import Sequence

import numpy as np
import pytest

from ballast.planner.arrays import Shorts, count_by_index, stride_order
from ballast.planner.integer_tables import balanced_table
from ballast.planner.leaders.balance import LeaderProblem, balance_leaders
from ballast.planner.leaders.shares import LeaderCounts, block_leader_targets
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.assign_vacancies import Vacancies, assign_vacancies
from ballast.planner.placement.balance_bytes import balance_bytes
from ballast.planner.placement.exact_assignment import AssignmentProblem, solve_assignment
from ballast.planner.placement.min_cost_flow import FlowNetwork
from ballast.planner.placement.optimize import count_moves, moves_lower_bound, optimize
from ballast.planner.placement.rack_apportionment import apportion_to_racks
from ballast.planner.placement.remove_detours import remove_detours
from ballast.planner.placement.select_replicas import ReplicaPool, select_surplus
from ballast.planner.placement.size_matching import assign_by_size, select_by_mean_size
from ballast.planner.plan import plan_targets
from ballast.planner.problem.balance_bounds import broker_bytes_of, count_bounds
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.problem.replica_targets import balanced_targets
from ballast.planner.problem.strategies import placement_problem
from ballast.planner.problem.targets import balance_targets
from ballast.planner.sharding.block_quotas import BlockQuota, assign_quotas
from ballast.planner.sharding.block_summary import summarize_block
from ballast.planner.sharding.cross_block_balance import PlacedBytes, redistribute_excess_bytes
from ballast.planner.snapshot.blocks import extract_block
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.planner.builders import ids, made

REBALANCE = PlanOptions(strategy=Strategy.REBALANCE)
ALL = np.ones(3, np.bool_)
NO_RACKS = RackRules.of(None, ALL, 3)


def cluster(
    rows: Sequence[Sequence[int]], brokers: int = 3, sizes: Sequence[int] | None = None
) -> ClusterColumns:
    """Return a cluster of brokers 1 … with one topic and no racks."""
    return made(
        dict.fromkeys(range(1, brokers + 1)),
        {"t": rows},
        sizes=None if sizes is None else {"t": sizes},
    )


def problem_of(columns: ClusterColumns, options: PlanOptions = REBALANCE) -> PlacementProblem:
    return placement_problem(ClusterView(columns, options))


def table(rows: Sequence[Sequence[int]]) -> Shorts:
    return np.array(rows, np.int32)


def test_plan() -> None:
    columns = cluster([[1, 3], [2, 1], [3, 2]])
    options = PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=(3,))
    assert ids(columns, plan_targets(columns, options)) == [(1, 2), (2, 1), (1, 2)]


def test_problem() -> None:
    columns = cluster([[1, 3], [2, 1]])
    problem = problem_of(columns, PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=(3,)))
    assert problem.rows.tolist() == [[0, -1], [1, 0]]
    assert problem.unassigned.tolist() == [[False, True], [False, False]]
    assert not problem.movable.any()
    assert problem.receivers.tolist() == problem.retainers.tolist() == [True, True, False]
    assert (problem.low.tolist(), problem.high.tolist()) == ([2, 1, 0], [2, 2, 0])


def test_strategies() -> None:
    columns = cluster([[1], [1], [1], [2], [2], [2]])
    options = PlanOptions(strategy=Strategy.ADD_BROKERS, broker_ids=(3,))
    added = problem_of(columns, options)
    assert (added.low.tolist(), added.high.tolist()) == ([0, 0, 0], [3, 3, 2])
    removed = problem_of(columns, PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=(2,)))
    assert removed.unassigned.sum() == 3
    assert removed.low.tolist() == [3, 0, 0]


def test_rack_rules() -> None:
    rules = RackRules.of(np.array([0, 0, 1, 1], np.int32), np.ones(4, np.bool_), 3)
    assert rules.floors[3].tolist() == [1, 1]
    assert rules.extras[3] == 1
    assert rules.ceilings[3].tolist() == [2, 2]
    assert (rules.extras[2], rules.ceilings[2].tolist()) == (0, [1, 1])


def test_replica_targets() -> None:
    problem = problem_of(cluster([[1]] * 4 + [[2]] * 3 + [[3]] * 2 + [[4]], brokers=4))
    targets = balanced_targets(count_bounds(problem), np.array([4, 3, 2, 1]), 10)
    assert targets.target.tolist() == [3, 3, 2, 2]
    assert (targets.low.tolist(), targets.high.tolist()) == ([2] * 4, [3] * 4)


def test_balance_bounds() -> None:
    columns = made({1: "a", 2: "a", 3: "b"}, {"t": [[1, 3]] * 6})
    targets = balance_targets(problem_of(columns))
    assert targets.replica_targets.target.tolist() == [3, 3, 6]


def test_balance_targets() -> None:
    rows = [[1]] + [[2]] * 3 + [[3]] * 3
    targets = balance_targets(problem_of(cluster(rows, sizes=[900] + [100] * 6)))
    assert targets.byte_target is not None
    assert targets.byte_target.tolist() == pytest.approx([900, 300, 300])


def test_optimize() -> None:
    columns = cluster([[1], [1], [1], [1], [2]])
    problem = problem_of(columns)
    rows = optimize(problem)
    targets = balance_targets(problem).replica_targets
    assert targets.target.tolist() == count_by_index(rows, 3).tolist() == [2, 2, 1]
    assert count_moves(rows, columns.replicas) == moves_lower_bound(problem, targets) == 2


def test_assign_vacancies() -> None:
    deficits = np.array([1, 2, 1])
    assert stride_order(np.arange(3), deficits).tolist() == [1, 0, 2, 1]
    vacancies = Vacancies(
        rows=table([[-1]] * 4),
        unassigned=np.ones((4, 1), np.bool_),
        factors=np.ones(4, np.int32),
    )
    left = assign_vacancies(vacancies, deficits, ALL, NO_RACKS, 0)
    assert vacancies.rows.ravel().tolist() == [1, 0, 2, 1]
    assert not len(left)


def test_rack_apportionment() -> None:
    is_open = np.array([[True, True], [True, False]])
    found = apportion_to_racks(np.array([2, 2]), is_open, np.array([3, 1]), 1.0)
    assert found.tolist() == [[1, 1], [2, 0]]


def test_exact_assignment() -> None:
    problem = AssignmentProblem(
        rows=table([[0], [0]]),
        origins=table([[0], [0]]),
        fixed=np.zeros((2, 1), np.bool_),
        factors=np.ones(2, np.int32),
        receivers=np.ones(2, np.bool_),
        retainers=np.ones(2, np.bool_),
        repairs_racks=False,
        other_counts=np.zeros(2, np.int64),
        marginal_cost=lambda counts: 2 * counts - 1,
        rules=RackRules.of(None, np.ones(2, np.bool_), 1),
    )
    solve_assignment(problem)
    assert sorted(problem.rows.ravel().tolist()) == [0, 1]


def test_min_cost_flow() -> None:
    network = FlowNetwork()
    direct = network.arc(1, 0, capacity=1, flow=1, cost=5)
    first = network.arc(1, 2, capacity=1, flow=0, cost=1)
    second = network.arc(2, 0, capacity=1, flow=0, cost=1)
    residual = network.residual()
    cycle = residual.negative_cycle()
    assert sum(int(residual.costs[arc]) for arc in cycle) == -3
    residual.push(cycle)
    assert [residual.flow(arc) for arc in (direct, first, second)] == [0, 1, 1]
    assert residual.negative_cycle() == []


def test_select_replicas() -> None:
    rows = table([[0]] * 4)
    pool = ReplicaPool(
        rows=rows,
        movable=np.ones((4, 1), np.bool_),
        factors=np.ones(4, np.int32),
        topics=np.array([0, 0, 0, 1], np.int32),
    )
    surplus, in_deficit = np.array([1, 0, 0]), np.array([False, True, True])
    selected = select_surplus(pool, surplus, in_deficit, NO_RACKS, 0)
    assert selected[:3].sum() == 1
    assert not selected[3]


def test_size_matching() -> None:
    sizes = np.array([10, 20, 30, 100])
    selected = select_by_mean_size(
        np.zeros(4, np.int64), sizes, np.arange(4), np.array([2]), np.array([50.0])
    )
    assert sizes[selected].tolist() == [10, 30]
    assigned = assign_by_size(np.array([100, 60, 30]), np.array([2, 1]), np.array([120.0, 70.0]))
    assert assigned.tolist() == [0, 1, 0]


def test_balance_bytes() -> None:
    sizes = [300, 300, 10, 10, 10, 10]
    columns = cluster([[1]] * 3 + [[2]] * 3, brokers=2, sizes=sizes)
    problem = problem_of(columns)
    rows = problem.rows.copy()
    balance_bytes(problem, rows, balance_targets(problem))
    assert broker_bytes_of(rows, np.array(sizes), 2).tolist() == [320, 320]
    assert count_moves(rows, columns.replicas) == 2


def test_remove_detours() -> None:
    columns = cluster([[1], [3], [3], [2]], sizes=[100, 100, 200, 100])
    problem = problem_of(columns)
    rows = table([[1], [0], [2], [1]])
    remove_detours(problem, rows, balance_targets(problem))
    assert rows[:2].tolist() == [[0], [1]]


def test_kafka_default() -> None:
    columns = cluster([[1, 2]] * 3)
    rows = plan_targets(columns, PlanOptions(strategy=Strategy.STOCK, start_index=0))
    assert ids(columns, rows) == [(1, 2), (2, 3), (3, 1)]


def test_integer_tables() -> None:
    bounds = np.zeros((2, 2), np.int64), np.full((2, 2), 2)
    found = balanced_table(np.array([3, 3]), np.array([4, 2]), *bounds)
    assert found.tolist() == [[2, 1], [2, 1]]


def test_leaders() -> None:
    rows = table([[0, 1], [0, 1], [1, 2]])
    ones = np.ones(3, np.int64)
    balance_leaders(
        LeaderProblem(
            rows=rows, changeable=ALL, receivers=ALL, target=ones, low=ones, high=ones, seed=0
        )
    )
    assert rows.tolist() == [[1, 0], [0, 1], [2, 1]]


def test_leader_targets_of_blocks() -> None:
    columns = cluster([[1, 2, 3]])
    blocks = [
        LeaderCounts(
            partitions=6,
            leader_counts=np.array(leaders),
            movable_counts=np.array(leaders),
            candidate_counts=np.full(3, 6),
        )
        for leaders in ([6, 0, 0], [3, 3, 0])
    ]
    targets = block_leader_targets(ClusterView(columns, REBALANCE), blocks)
    assert np.sum([one.target for one in targets], axis=0).tolist() == [4, 4, 4]
    assert [int(one.target.sum()) for one in targets] == [6, 6]


def two_blocks() -> tuple[ClusterColumns, list[ClusterColumns]]:
    columns = made(dict.fromkeys((1, 2)), {"a": [[1]] * 4, "b": [[1]] * 2})
    return columns, [extract_block(columns, 0, 1), extract_block(columns, 1, 2)]


def test_block_summary_and_quotas() -> None:
    columns, blocks = two_blocks()
    summaries = [summarize_block(block, REBALANCE) for block in blocks]
    assert [one.totals.replica_counts.tolist() for one in summaries] == [[4, 0], [2, 0]]
    quotas = assign_quotas(columns.brokers, REBALANCE, summaries)
    assert [quota.target.tolist() for quota in quotas] == [[2, 2], [1, 1]]


def test_cross_block_balance() -> None:
    quota = BlockQuota(
        target=np.array([1, 1]),
        byte_target=np.array([100.0, 100.0]),
        max_replica_moves=None,
        max_bytes_to_move=None,
    )
    placed = [
        PlacedBytes(broker_bytes=np.array(held), copied_bytes=2000)
        for held in ([150, 50], [100, 100])
    ]
    again = redistribute_excess_bytes([quota, quota], placed)
    assert again is not None
    targets = [one.byte_target.tolist() for one in again if one.byte_target is not None]
    assert targets == [pytest.approx([120, 80]), pytest.approx([80, 120])]
