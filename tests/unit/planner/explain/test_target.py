import pytest

from ballast.planner.errors import PlanStale
from ballast.planner.explain.applying import applied
from ballast.planner.explain.target import Change, Target, changes
from ballast.planner.options import Strategy
from ballast.planner.snapshot.columns import ClusterColumns, pad_to_width
from tests.unit.planner.builders import made
from tests.unit.planner.log_dir_builders import on_disks

CLUSTER = made({10: "b", 20: "a", 30: "a"}, {"u": [[30, 10]], "t": [[20], [10, 20], [30, 20]]})
DISKS = on_disks({1: ("/a", "/b"), 2: ("/a", "/b")}, {"t": [[(1, "/a"), (2, "/b")], [(2, "/b")]]})


def test_what_moves_comes_by_topic_in_pieces() -> None:
    targets = pad_to_width(CLUSTER.replicas, 3).copy()
    targets[0, 0] = 2
    targets[1, 2] = 2
    targets[3] = [0, 2, -1]
    target = Target.of(CLUSTER, Strategy.REBALANCE, targets)
    assert list(changes(CLUSTER, target, rows_at_once=1)) == [
        Change(topic="t", partitions=[0], origins=[(20,)], targets=[(30,)], log_dirs=[]),
        Change(topic="t", partitions=[1], origins=[(10, 20)], targets=[(10, 20, 30)], log_dirs=[]),
        Change(topic="u", partitions=[0], origins=[(30, 10)], targets=[(10, 30)], log_dirs=[]),
    ]
    together = changes(CLUSTER, target, rows_at_once=9)
    assert [change.partitions for change in together] == [[0, 1], [0]]
    assert list(changes(CLUSTER, Target(replicas=CLUSTER.replicas), rows_at_once=9)) == []


def moved(cluster: ClusterColumns) -> Target:
    """Return the cluster with every replica in the other directory of its broker."""
    assert cluster.log_dirs is not None
    table = cluster.log_dirs.copy()
    table[cluster.replicas >= 0] = 1 - table[cluster.replicas >= 0]
    return Target.of(cluster, Strategy.REBALANCE_LOG_DIRS, table)


def test_changes_of_directories_name_broker_and_ways() -> None:
    (change,) = changes(DISKS, moved(DISKS), rows_at_once=9)
    assert change.origins == change.targets == [(1, 2), (2,)]
    assert change.log_dirs == [((1, "/a", "/b"), (2, "/b", "/a")), ((2, "/b", "/a"),)]


def test_changes_of_directories_are_applied() -> None:
    target = moved(DISKS)
    found = applied(DISKS, changes(DISKS, target, rows_at_once=1))
    assert found.log_dirs is not None
    assert target.log_dirs is not None
    assert found.log_dirs.tolist() == target.log_dirs.tolist()


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ((1, "/b", "/a"), "t-0 is in /a of broker 1, and the plan begins in /b"),
        ((1, "/a", "/c"), "broker 1 has no log dir /c"),
        ((9, "/a", "/b"), "broker 9 has no log dir /b"),
    ],
)
def test_a_plan_for_other_directories(way: tuple[int, str, str], message: str) -> None:
    change = Change(topic="t", partitions=[0], origins=[(1, 2)], targets=[(1, 2)], log_dirs=[[way]])
    with pytest.raises(PlanStale, match=message):
        applied(DISKS, [change])


def test_the_directory_of_a_replica_that_comes_is_its_brokers_matter() -> None:
    change = Change(
        topic="t", partitions=[1], origins=[(2,)], targets=[(1,)], log_dirs=[[(1, None, "/b")]]
    )
    assert applied(DISKS, [change]).log_dirs is None
