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
    cluster = made(dict.fromkeys(range(2)), {"t": [[0], [0], [0]]}, sizes={"t": [20, 10, 10]})
    aims = aims_of(task_of(Situation(cluster, OPTIONS)))
    assert aims.byte_target is not None
    assert aims.byte_target.round(6).tolist() == [20, 20]


def test_others_share_what_a_replica_leaves_that_is_larger_than_any_share() -> None:
    """Broker 0 cannot get below 90, nor broker 1 below 20 then: 2 and 3 share the other 20."""
    rows = {"t": [[0], [0], [1], [1], [2]]}
    cluster = made(dict.fromkeys(range(4)), rows, sizes={"t": [90, 6, 20, 6, 8]})
    aims = aims_of(task_of(Situation(cluster, OPTIONS)))
    assert aims.byte_target is not None
    assert aims.byte_target.round(6).tolist() == [90, 20, 10, 10]


def test_a_replica_may_go_to_a_broker_whose_share_is_large_enough() -> None:
    cluster = made(
        dict.fromkeys(range(2)),
        {"t": [[0], [1]]},
        sizes={"t": [30, 10]},
        capacities={0: 100, 1: 300},
    )
    aims = aims_of(task_of(Situation(cluster, OPTIONS)))
    assert aims.byte_target is not None
    assert aims.byte_target.round(6).tolist() == [10, 30]
