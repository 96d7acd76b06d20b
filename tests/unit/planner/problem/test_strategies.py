import numpy as np
import pytest

from ballast.planner.errors import OptionsRejected
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.strategies import placement_problem
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.planner.builders import made

RACKS: dict[int, str | None] = {0: "a", 1: "a", 2: "b", 3: "c"}
CLUSTER = made(RACKS, {"s": [[0, 1]], "t": [[0, 2], [1, 2]]})


def problem(
    strategy: Strategy, *broker_ids: int, cluster: ClusterColumns = CLUSTER
) -> PlacementProblem:
    options = PlanOptions(strategy=strategy, broker_ids=broker_ids, exclude=("^s$",))
    return placement_problem(ClusterView(cluster, options))


def test_add_brokers() -> None:
    """Only the new take, up to a fair share; only what may be touched gives way."""
    found = problem(Strategy.ADD_BROKERS, 3)
    assert found.receivers.tolist() == [False, False, False, True]
    assert not found.unassigned.any()
    assert found.movable.tolist() == [[False, False], [True, True], [True, True]]
    assert found.low.tolist() == [1, 1, 0, 0]
    assert found.high.tolist() == [2, 2, 2, 2]
    assert not found.repairs_racks


def test_a_cordoned_broker_is_not_added() -> None:
    cluster = made({0: None, 1: None}, {"t": [[0]]}, cordoned=[1])
    with pytest.raises(OptionsRejected, match="brokerIds: broker 1 is cordoned"):
        problem(Strategy.ADD_BROKERS, 1, cluster=cluster)


def test_remove_brokers() -> None:
    found = problem(Strategy.REMOVE_BROKERS, 0)
    assert found.unassigned.tolist() == [[False, False], [True, False], [False, False]]
    assert found.rows.tolist() == [[0, 1], [-1, 2], [1, 2]]
    assert not found.movable.any()
    assert found.receivers.tolist() == [False, True, True, True]
    assert found.retainers.tolist() == [False, True, True, True]
    assert found.low.tolist() == [1, 2, 2, 0]
    assert found.high.tolist() == [1, 3, 3, 3]


def test_rebalance() -> None:
    found = problem(Strategy.REBALANCE, 0, 2, 3)
    assert found.receivers.tolist() == [True, False, True, True]
    assert found.movable.tolist() == [[False, False], [True, True], [False, True]]
    assert found.low.tolist() == [1, 2, 0, 0]
    assert found.high.tolist() == [3, 2, 3, 3]
    assert found.repairs_racks


def test_repair_racks() -> None:
    """The replica on the fuller broker goes; a topic that is left alone stays as it is."""
    cluster = made(RACKS, {"s": [[0, 1]], "t": [[0, 1], [1, 2]]})
    found = problem(Strategy.REPAIR_RACKS, cluster=cluster)
    assert found.unassigned.tolist() == [[False, False], [False, True], [False, False]]
    assert found.low.tolist() == [2, 2, 1, 0]


def test_more_replicas() -> None:
    options = PlanOptions(strategy=Strategy.SET_REPLICATION_FACTOR, replication_factor=3)
    found = placement_problem(ClusterView(CLUSTER, options))
    assert found.rows.tolist() == [[0, 1, -1], [0, 2, -1], [1, 2, -1]]
    assert found.unassigned.tolist() == [[False, False, True]] * 3
    assert found.factors.tolist() == [3, 3, 3]


def test_fewer_replicas() -> None:
    """The fuller go, a rack that is there twice goes first, and leaders stay."""
    cluster = made(RACKS, {"t": [[0, 1, 2], [0, 3, 2], [3, 2]]})
    options = PlanOptions(strategy=Strategy.SET_REPLICATION_FACTOR, replication_factor=2)
    found = placement_problem(ClusterView(cluster, options))
    assert found.rows[:, :2].tolist() == [[0, 2], [0, 3], [3, 2]]
    assert not found.unassigned.any()


def test_dropping_is_level() -> None:
    """The first two stay on 300 partitions of brokers 0-4: the others go round."""
    rows = [[0, 1 + n % 4, 1 + (n + 1) % 4, 1 + (n + 2) % 4] for n in range(300)]
    cluster = made(dict.fromkeys(range(5)), {"t": rows})
    options = PlanOptions(strategy=Strategy.SET_REPLICATION_FACTOR, replication_factor=3)
    found = placement_problem(ClusterView(cluster, options))
    kept = np.bincount(found.rows[found.rows >= 0], minlength=5)[1:]
    assert kept.sum() == 600
    assert kept.max() - kept.min() <= 4
