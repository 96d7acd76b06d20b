"""Few large replicas: brokers end up level by bytes, by few copies, within numbers and rules."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from ballast.planner.arrays import Ints, Shorts, counted
from ballast.planner.columns import ClusterColumns
from ballast.planner.explain import explain
from ballast.planner.limits import bytes_of
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.targets import plan_targets
from tests.unit.planner.made import made

HOT, COLD = 1000, 100


def hot_cluster(
    brokers: int, topics: int, partitions: int, factor: int, racks: int = 0
) -> ClusterColumns:
    """Return a cluster whose topic ``t0`` is ten times larger and on as few brokers as can be."""
    rows: dict[str, Sequence[Sequence[int]]] = {
        "t0": [[(p + place) % factor for place in range(factor)] for p in range(partitions)]
    }
    sizes: Mapping[str, Sequence[int]] = {
        f"t{number}": [COLD if number else HOT] * partitions for number in range(topics)
    }
    for number in range(1, topics):
        rows[f"t{number}"] = [
            [(p + number + place) % brokers for place in range(factor)] for p in range(partitions)
        ]
    names = {broker: f"r{broker % racks}" if racks else None for broker in range(brokers)}
    return made(names, rows, sizes=sizes)


def rebalanced(cluster: ClusterColumns) -> tuple[Shorts, Ints]:
    """Return the plan, and the bytes of each broker under it."""
    rows = plan_targets(cluster, PlanOptions(strategy=Strategy.REBALANCE))
    assert cluster.sizes is not None
    return rows, bytes_of(rows, cluster.sizes, cluster.brokers.count)


@pytest.mark.parametrize(
    ("shape", "racks"),
    [
        ((4, 5, 4, 2), 0),
        ((4, 4, 8, 2), 0),
        ((6, 6, 6, 2), 3),
        ((6, 6, 6, 3), 3),
        ((6, 10, 12, 3), 3),
        ((9, 10, 9, 3), 3),
        ((30, 10, 200, 3), 3),
    ],
)
def test_a_hot_topic_is_moved_apart(shape: tuple[int, int, int, int], racks: int) -> None:
    """Each partition lay on the same few brokers with all its replicas: several of them go."""
    cluster = hot_cluster(*shape, racks)
    rows, held = rebalanced(cluster)
    brokers, _, partitions, factor = shape
    assert held.max() <= 1.02 * held.mean()
    of_hot = counted(rows[:partitions], brokers)
    assert np.ptp(of_hot) <= 1
    assert np.ptp(counted(rows, brokers)) <= 1
    found = explain(cluster, rows)
    assert found.rack_violations[1] == 0
    assert of_hot.sum() == partitions * factor


def test_what_no_plan_can_level_is_left_as_level_as_it_can_be() -> None:
    """Of 4 hot and 16 cold replicas one of three brokers gets 2 and 4: 6 is the fewest it may."""
    cluster = hot_cluster(3, 5, 4, 1)
    rows, held = rebalanced(cluster)
    assert sorted(counted(rows[:4], 3).tolist()) == [1, 1, 2]
    assert sorted(held.tolist()) == [HOT + 6 * COLD, HOT + 6 * COLD, 2 * HOT + 4 * COLD]


def test_numbers_stay_within_one_though_bytes_would_have_it_otherwise() -> None:
    rows = {"large": [[0]], "small": [[1], [2], [1], [2], [0], [0]]}
    cluster = made(dict.fromkeys(range(3)), rows, sizes={"large": [600], "small": [100] * 6})
    found, _ = rebalanced(cluster)
    assert np.ptp(counted(found, 3)) <= 1


def test_nothing_is_copied_that_is_not_worth_it() -> None:
    """Two large replicas of nearly the same size are not exchanged for their difference."""
    rows = {"a": [[0], [1]]}
    cluster = made(dict.fromkeys(range(2)), rows, sizes={"a": [1000, 900]})
    found, _ = rebalanced(cluster)
    assert found.tolist() == [[0], [1]]


def test_what_levels_little_for_all_that_it_copies_is_left() -> None:
    """To exchange the 900 for an 800 would copy 1,700 bytes, and 100 of them count."""
    rows = [[0], [1], [0], [1]]
    cluster = made(dict.fromkeys(range(2)), {"a": rows}, sizes={"a": [1000, 800, 900, 800]})
    found, _ = rebalanced(cluster)
    assert found.tolist() == rows


def test_a_broker_that_lacks_bytes_and_has_its_number_gets_none_without_giving_one() -> None:
    rows = [[0], [1], [3], [1], [1], [0], [0]]
    sizes = [10, 10, 10, 10, 50, 50, 10]
    found, _ = rebalanced(made(dict.fromkeys(range(4)), {"a": rows}, sizes={"a": sizes}))
    assert np.ptp(counted(found, 4)) <= 1
