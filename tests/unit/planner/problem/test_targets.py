from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.strategies import placement_problem
from ballast.planner.problem.targets import balance_targets
from tests.unit.planner.builders import made

OPTIONS = PlanOptions(strategy=Strategy.REBALANCE)


def test_counts_are_level_and_nearest_to_what_is_there() -> None:
    cluster = made(dict.fromkeys(range(3)), {"t": [[0], [0], [0], [1]]})
    targets = balance_targets(placement_problem(ClusterView(cluster, OPTIONS)))
    assert targets.replica_targets.target.tolist() == [2, 1, 1]
    assert targets.count_max.tolist() == [4, 4, 4]
    assert targets.count_origin.tolist() == [0, 0, 0]
    assert targets.byte_target is None


def test_bytes_are_level_where_sizes_are_known() -> None:
    cluster = made(dict.fromkeys(range(2)), {"t": [[0], [0], [0]]}, sizes={"t": [20, 10, 10]})
    targets = balance_targets(placement_problem(ClusterView(cluster, OPTIONS)))
    assert targets.byte_target is not None
    assert targets.byte_target.round(6).tolist() == [20, 20]


def test_others_share_what_a_replica_leaves_that_is_larger_than_any_share() -> None:
    """Broker 0 cannot get below 90, nor broker 1 below 20 then: 2 and 3 share the other 20."""
    rows = {"t": [[0], [0], [1], [1], [2]]}
    cluster = made(dict.fromkeys(range(4)), rows, sizes={"t": [90, 6, 20, 6, 8]})
    targets = balance_targets(placement_problem(ClusterView(cluster, OPTIONS)))
    assert targets.byte_target is not None
    assert targets.byte_target.round(6).tolist() == [90, 20, 10, 10]


def test_a_replica_may_go_to_a_broker_whose_share_is_large_enough() -> None:
    cluster = made(
        dict.fromkeys(range(2)),
        {"t": [[0], [1]]},
        sizes={"t": [30, 10]},
        capacities={0: 100, 1: 300},
    )
    targets = balance_targets(placement_problem(ClusterView(cluster, OPTIONS)))
    assert targets.byte_target is not None
    assert targets.byte_target.round(6).tolist() == [10, 30]


def test_a_replica_on_a_broker_that_takes_nothing_makes_no_share_of_others_less() -> None:
    """Broker 2 keeps its 90, which counted already: 0 and 1 share the rest."""
    rows = {"t": [[0], [0], [1], [2]]}
    sizes = {"t": [20, 14, 6, 90]}
    cluster = made(dict.fromkeys(range(3)), rows, cordoned=[2], sizes=sizes)
    targets = balance_targets(placement_problem(ClusterView(cluster, OPTIONS)))
    assert targets.byte_target is not None
    assert targets.byte_target.round(6).tolist() == [20, 20, 90]


def test_a_rack_may_hold_more_for_the_sake_of_a_large_replica() -> None:
    """Rack a cannot get below the 90 of broker 0, though each rack has one replica of all."""
    racks: dict[int, str | None] = {0: "a", 1: "a", 2: "b", 3: "b"}
    rows = {"t": [[0, 2], [1, 3], [1, 2]]}
    cluster = made(racks, rows, sizes={"t": [90, 6, 8]})
    targets = balance_targets(placement_problem(ClusterView(cluster, OPTIONS)))
    assert targets.byte_target is not None
    assert targets.byte_target.round(6).tolist() == [90, 14, 90, 14]


def test_what_may_not_move_counts_as_before_beside_a_large_replica() -> None:
    rows = {"t": [[0], [1], [2]], "u": [[3], [3]]}
    cluster = made(dict.fromkeys(range(4)), rows, sizes={"t": [90, 6, 6], "u": [25, 25]})
    options = PlanOptions(strategy=Strategy.REBALANCE, exclude=("u",))
    targets = balance_targets(placement_problem(ClusterView(cluster, options)))
    assert targets.byte_target is not None
    assert targets.byte_target.round(6).tolist() == [90, 6, 6, 50]
