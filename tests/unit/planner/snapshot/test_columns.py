import numpy as np
import pytest

from ballast.model.ids import TopicPartition
from ballast.planner.snapshot.columns import changed_rows
from tests.unit.planner.builders import ids, made, unracked

CLUSTER = made({10: "b", 20: "a", 30: "a"}, {"u": [[30, 10]], "t": [[20], [10, 20], [30, 20]]})


def test_everything_is_by_name_and_number() -> None:
    assert CLUSTER.topics == ("t", "u")
    assert CLUSTER.brokers.ids.tolist() == [10, 20, 30]
    assert ids(CLUSTER, CLUSTER.replicas) == [(20,), (10, 20), (30, 20), (30, 10)]
    assert [str(CLUSTER.partition(row)) for row in range(4)] == ["t-0", "t-1", "t-2", "u-0"]
    assert CLUSTER.partition(3) == TopicPartition("u", 0)
    assert CLUSTER.topic_of.tolist() == [0, 0, 0, 1]
    assert CLUSTER.replication_factors.tolist() == [1, 2, 2, 2]
    assert CLUSTER.replica_counts.tolist() == [2, 3, 2]


@pytest.mark.parametrize(("broker", "index"), [(10, 0), (30, 2), (5, None), (15, None), (31, None)])
def test_a_broker_is_found_by_its_id(broker: int, index: int | None) -> None:
    assert CLUSTER.brokers.index(broker) == index


def test_racks_count_when_all_have_one() -> None:
    assert CLUSTER.brokers.has_racks
    assert not unracked(2, [[0]]).brokers.has_racks
    assert not made({1: "a", 2: None}, {}).brokers.has_racks
    assert made({1: "a", 2: None}, {}, cordoned=[2]).brokers.has_racks


def test_rows_of_different_width_are_compared() -> None:
    one, two = np.array([[1], [2]], np.int32), np.array([[1, -1], [2, 3]], np.int32)
    assert changed_rows(one, two).tolist() == [False, True]
    assert changed_rows(two, one).tolist() == [False, True]
