from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.strategies import placement_problem
from tests.unit.planner.builders import made

OPTIONS = PlanOptions(strategy=Strategy.REBALANCE)


def test_sizes_count_where_any_is_known() -> None:
    for sizes, expected in (([0, 0], None), ([0, 5], [0, 5])):
        cluster = made({0: None}, {"t": [[0], [0]]}, sizes={"t": sizes})
        found = placement_problem(ClusterView(cluster, OPTIONS)).sizes
        assert (found if found is None else found.tolist()) == expected
