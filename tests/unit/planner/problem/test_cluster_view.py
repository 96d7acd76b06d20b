import numpy as np

from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.problem.cluster_view import ClusterView
from tests.unit.planner.builders import made

REBALANCE = PlanOptions(strategy=Strategy.REBALANCE, include=("^t$",))


def test_what_may_be_touched() -> None:
    cluster = made({1: "a", 2: "b", 3: "b"}, {"s": [[1, 2]], "t": [[2], [3, 2]]}, cordoned=[3])
    view = ClusterView(cluster, REBALANCE)
    assert view.in_scope.tolist() == [False, True, True]
    assert view.in_service.tolist() == [True, True, False]
    twos = np.array([False, True, False])
    assert view.replicas_on(twos).tolist() == [[False, False], [True, False], [False, True]]
    assert view.rules(view.in_service).floors[2].tolist() == [1, 1]


def test_capacities_are_weights_when_all_are_known() -> None:
    racks: dict[int, str | None] = {1: None, 2: None}
    known = made(racks, {}, capacities={1: 10, 2: 40})
    assert ClusterView(known, REBALANCE).weights.tolist() == [0.25, 1.0]
    assert ClusterView(made(racks, {}), REBALANCE).weights.tolist() == [1.0, 1.0]
