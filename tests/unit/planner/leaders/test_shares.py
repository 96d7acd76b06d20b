import numpy as np

from ballast.planner.leaders.shares import (
    LeaderCounts,
    block_leader_targets,
    count_leaders,
    leader_problem,
    leader_targets,
)
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.problem.cluster_view import ClusterView
from tests.unit.planner.builders import made

CLUSTER = made(dict.fromkeys(range(3)), {"t": [[0, 1], [0, 2], [0, 1]]})


def view(strategy: Strategy, *brokers: int) -> ClusterView:
    return ClusterView(CLUSTER, PlanOptions(strategy=strategy, broker_ids=brokers))


def test_who_leads_and_who_might() -> None:
    found = count_leaders(view(Strategy.REBALANCE), CLUSTER.replicas)
    assert found.leader_counts.tolist() == found.movable_counts.tolist() == [3, 0, 0]
    assert found.candidate_counts.tolist() == [3, 2, 1]


def test_where_brokers_are_added_only_what_moves_may_change() -> None:
    rows = np.array([[0, 1], [0, 2], [2, 1]], np.int32)
    asked = view(Strategy.ADD_BROKERS, 2)
    assert leader_problem(asked, rows).changeable.tolist() == [False, False, True]
    assert count_leaders(asked, rows).movable_counts.tolist() == [0, 0, 1]


def test_where_brokers_leave_a_leader_that_stays_stays() -> None:
    rows = np.array([[1, 0], [0, 2], [0, 1]], np.int32)
    found = leader_problem(view(Strategy.REMOVE_BROKERS, 0), rows)
    assert found.changeable.tolist() == [True, False, False]


def test_all_lead_alike() -> None:
    asked = view(Strategy.REBALANCE)
    replica_targets = leader_targets(asked, count_leaders(asked, CLUSTER.replicas))
    assert replica_targets.target.tolist() == [1, 1, 1]


def test_shares_of_blocks_add_up() -> None:
    led = [
        LeaderCounts(
            partitions=6,
            leader_counts=np.array(led),
            movable_counts=np.array(led),
            candidate_counts=np.array([6, 6, 6]),
        )
        for led in ([6, 0, 0], [3, 3, 0])
    ]
    shares = block_leader_targets(view(Strategy.REBALANCE), led)
    targets = np.stack([share.target for share in shares])
    assert targets.sum(axis=0).tolist() == [4, 4, 4]
    assert targets.sum(axis=1).tolist() == [6, 6]
