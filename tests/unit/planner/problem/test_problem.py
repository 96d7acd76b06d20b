from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.problem.cluster_view import Situation
from ballast.planner.problem.strategies import task_of
from tests.unit.planner.made import made

OPTIONS = PlanOptions(strategy=Strategy.REBALANCE)


def test_sizes_count_where_any_is_known() -> None:
    for sizes, expected in (([0, 0], None), ([0, 5], [0, 5])):
        cluster = made({0: None}, {"t": [[0], [0]]}, sizes={"t": sizes})
        found = task_of(Situation(cluster, OPTIONS)).sizes
        assert (found if found is None else found.tolist()) == expected
