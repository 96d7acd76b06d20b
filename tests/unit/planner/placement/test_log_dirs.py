"""Directories are levelled, little is copied for it, and no replica leaves its broker."""

from typing import Any

import numpy as np
import pytest

from ballast.planner.errors import OptionsRejected
from ballast.planner.explain.explain import explain
from ballast.planner.explain.explain_log_dirs import LogDirMoves
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.plan import plan_targets
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.planner.builders import unracked
from tests.unit.planner.log_dir_builders import held, on_disks, one_broker, skewed


def options(**more: Any) -> PlanOptions:
    return PlanOptions(strategy=Strategy.REBALANCE_LOG_DIRS, **more)


def planned(cluster: ClusterColumns, **more: Any) -> list[int]:
    """Return what the directories of the only broker hold after the plan."""
    return held(cluster, plan_targets(cluster, options(**more)), 0)


def summary(cluster: ClusterColumns, **more: Any) -> LogDirMoves:
    table = plan_targets(cluster, options(**more), partitions_per_block=500)
    found = explain(cluster, cluster.replicas, log_dirs=table)
    assert found.replica_moves == 0
    assert found.log_dirs is not None
    return found.log_dirs


@pytest.mark.parametrize(
    ("disks", "after"),
    [
        (([10, 10, 10, 10], []), [20, 20]),
        (([40, 10, 10], []), [40, 20]),
        (([12, 12], [4]), [12, 16]),
        (([5] * 12, [5] * 6, []), [30, 30, 30]),
        (([10, 10], [10, 10]), [20, 20]),
        (([10, 10, 10], []), [20, 10]),
        (([30], []), [30, 0]),
        (([101], [100]), [101, 100]),
    ],
    ids=["half", "largest", "rounded", "three", "level", "odd", "indivisible", "tolerated"],
)
def test_a_broker_is_levelled(disks: tuple[list[int], ...], after: list[int]) -> None:
    assert sorted(planned(one_broker(*disks))) == sorted(after)


def test_capacities_weigh() -> None:
    assert planned(one_broker([10] * 8, [], capacities=[100, 300])) == [20, 60]


def test_what_holds_nothing_stays_where_it_is() -> None:
    cluster = one_broker([0, 0, 10, 10], [])
    table = plan_targets(cluster, options())
    assert table[:2].tolist() == [[0], [0]]
    assert held(cluster, table, 0) == [10, 10]


def test_numbers_are_levelled_where_sizes_are_not_known() -> None:
    cluster = on_disks({1: ("/a", "/b")}, {"t": [[(1, "/a")]] * 6})
    table = plan_targets(cluster, options())
    assert sorted(table.ravel().tolist()) == [0, 0, 0, 1, 1, 1]


def test_without_directories_there_is_no_plan() -> None:
    with pytest.raises(OptionsRejected, match="strategy: needs a snapshot with"):
        plan_targets(unracked(2, [[0, 1]]), options())


def test_a_replica_whose_directory_is_not_known_is_left_alone() -> None:
    cluster = on_disks(
        {1: ("/a", "/b")},
        {"t": [[(1, None)], [(1, "/a")], [(1, "/a")]]},
        sizes={"t": [99, 10, 10]},
    )
    table = plan_targets(cluster, options())
    assert table[0].tolist() == [-1]
    assert sorted(table[1:].ravel().tolist()) == [0, 1]


def test_topics_and_brokers_that_are_not_asked_for_stay() -> None:
    cluster = on_disks(
        {1: ("/a", "/b"), 2: ("/a", "/b")},
        {"t": [[(1, "/a"), (2, "/a")]] * 2, "u": [[(1, "/a"), (2, "/a")]] * 2},
        sizes={"t": [10, 10], "u": [10, 10]},
    )
    table = plan_targets(cluster, options(broker_ids=(2,), exclude=("u",)))
    assert table[:2].tolist() == [[0, 1], [0, 1]]
    assert table[2:].tolist() == [[0, 0], [0, 0]]


def test_limits_hold() -> None:
    cluster = one_broker([10] * 20, [])
    assert planned(cluster, max_replica_moves=3) == [170, 30]
    assert planned(cluster, max_bytes_to_move=45) == [160, 40]


@pytest.mark.parametrize("partitions", [400, 3000], ids=["whole", "blocks"])
def test_a_new_disk_gets_its_share(partitions: int) -> None:
    found = summary(skewed(partitions, 6, 5))
    assert found.fullest(found.before) > 1.2
    assert found.fullest(found.after) < 1.03
    copied = int(found.bytes_within.sum())
    least = _least(found)
    assert 0.95 * least <= copied <= 1.05 * least


def test_blocks_keep_to_the_limits_together() -> None:
    found = summary(skewed(3000, 6, 5), max_replica_moves=100)
    assert 50 < found.replicas <= 100


def _least(found: LogDirMoves) -> int:
    """Return what directories have beyond their shares."""
    whole = np.bincount(found.owners, found.before)[found.owners] * found.shares
    return int(np.maximum(found.before - whole, 0).sum())
