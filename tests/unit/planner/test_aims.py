from ballast.planner.aims import aims_of
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.situation import Situation
from ballast.planner.tasks import task_of
from tests.unit.planner.made import made

OPTIONS = PlanOptions(strategy=Strategy.REBALANCE)


def test_counts_are_level_and_nearest_to_what_is_there() -> None:
    cluster = made(dict.fromkeys(range(3)), {"t": [[0], [0], [0], [1]]})
    aims = aims_of(task_of(Situation(cluster, OPTIONS)))
    assert aims.band.target.tolist() == [2, 1, 1]
    assert aims.most.tolist() == [4, 4, 4]
    assert aims.origin.tolist() == [0, 0, 0]
    assert aims.byte_target is None


def test_bytes_are_level_where_sizes_are_known() -> None:
    cluster = made(dict.fromkeys(range(2)), {"t": [[0], [0]]}, sizes={"t": [30, 10]})
    aims = aims_of(task_of(Situation(cluster, OPTIONS)))
    assert aims.byte_target is not None
    assert aims.byte_target.round(6).tolist() == [20, 20]
