import numpy as np

from ballast.planner.arrays import Bools
from ballast.planner.placement.select_replicas import ReplicaPool, select_surplus
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.planner.builders import made


def picked(
    cluster: ClusterColumns, surplus: list[int], wanting: list[bool], *, seed: int = 0
) -> Bools:
    rows = cluster.replicas
    racks = cluster.brokers.racks if cluster.brokers.has_racks else None
    holdings = ReplicaPool(
        rows=rows,
        movable=rows >= 0,
        factors=cluster.replication_factors,
        topics=cluster.topic_of,
    )
    rules = RackRules.of(racks, np.ones(len(surplus), np.bool_), 4)
    return select_surplus(holdings, np.array(surplus), np.array(wanting), rules, seed)


def test_as_many_as_are_too_many() -> None:
    cluster = made(dict.fromkeys(range(4)), {"t": [[0, 1], [0, 2], [0, 1], [1, 0]]})
    found = picked(cluster, [3, 1, 0, 0], [False, False, False, True])
    assert np.bincount(cluster.replicas[found]).tolist() == [3, 1]
    # One of each partition, as there are as many partitions as movers.
    assert found.sum(axis=1).tolist() == [1, 1, 1, 1]


def test_two_of_a_partition_when_nothing_else_is_left() -> None:
    cluster = made(dict.fromkeys(range(4)), {"t": [[0, 1]]})
    assert picked(cluster, [1, 1, 0, 0], [False, False, True, True]).tolist() == [[True, True]]


def test_first_those_that_can_go_where_replicas_are_wanted() -> None:
    racks: dict[int, str | None] = {0: "a", 1: "b", 2: "c", 3: "c"}
    cluster = made(racks, {"t": [[0, 2], [0, 1], [0, 2]]})
    for seed in range(8):
        found = picked(cluster, [1, 0, 0, 0], [False, False, False, True], seed=seed)
        assert found.tolist() == [[False, False], [True, False], [False, False]]


def test_first_those_of_a_topic_that_has_many_there() -> None:
    topics = {"s": [[0]], "t": [[0]] * 5, "u": [[0]]}
    cluster = made(dict.fromkeys(range(2)), topics)
    for seed in range(8):
        found = picked(cluster, [3, 0], [False, True], seed=seed)
        assert found.ravel()[1:6].sum() == 3


def test_the_seed_decides_between_equals() -> None:
    cluster = made(dict.fromkeys(range(2)), {f"t{n}": [[0]] for n in range(20)})
    found = {tuple(picked(cluster, [5, 0], [False, True], seed=s).ravel()) for s in range(5)}
    assert len(found) == 5
    assert all(sum(row) == 5 for row in found)


def test_nothing_is_picked_where_nothing_is_too_much() -> None:
    cluster = made(dict.fromkeys(range(2)), {"t": [[0]]})
    assert not picked(cluster, [0, 5], [True, True]).any()
