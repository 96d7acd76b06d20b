from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner.errors import Infeasible, PlanStale
from ballast.planner.explain.applying import applied
from ballast.planner.explain.target import Change, Target, changes
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.plan import plan_targets
from ballast.planner.snapshot.columns import ClusterColumns, pad_to_width
from tests.unit.planner.builders import clusters, ids, made

CLUSTER = made(dict.fromkeys(range(3)), {"s": [], "t": [[0, 1], [2]]})


def change(
    topic: str, partitions: list[int], origins: list[list[int]], targets: list[list[int]]
) -> Change:
    return Change(topic=topic, partitions=partitions, origins=origins, targets=targets)


@pytest.mark.parametrize(
    ("partition", "origin", "target", "message"),
    [
        (2, [0], [1], "t-2 is not in the snapshot"),
        (1, [1], [0], r"t-1 is on \[2\], and the plan begins at \[1\]"),
        (1, [2], [7], "broker 7 is not in the snapshot"),
    ],
)
def test_a_plan_for_another_cluster(
    partition: int, origin: list[int], target: list[int], message: str
) -> None:
    with pytest.raises(PlanStale, match=message):
        applied(CLUSTER, [change("t", [partition], [origin], [target])])
    with pytest.raises(PlanStale, match="x-0 is not in the snapshot"):
        applied(CLUSTER, [change("x", [0], [[0]], [[1]])])


def test_rows_grow_and_shrink() -> None:
    after = applied(CLUSTER, [change("t", [0, 1], [[0, 1], [2]], [[1], [2, 0, 1]])])
    assert ids(CLUSTER, after.replicas) == [(1,), (2, 0, 1)]


@given(clusters(), st.sampled_from([1, 3]), st.integers(0, 5))
def test_a_plan_leads_to_its_target_and_its_inverse_back(
    cluster: ClusterColumns, factor: int, seed: int
) -> None:
    options = PlanOptions(
        strategy=Strategy.SET_REPLICATION_FACTOR if factor == 1 else Strategy.REBALANCE,
        replication_factor=factor if factor == 1 else None,
        seed=seed,
    )
    try:
        targets = plan_targets(cluster, options)
    except Infeasible:
        return
    plan = list(changes(cluster, Target(replicas=targets), rows_at_once=2))
    after = applied(cluster, plan).replicas
    assert ids(cluster, after) == ids(cluster, targets)
    there = ClusterColumns(
        brokers=cluster.brokers,
        topics=cluster.topics,
        topic_starts=cluster.topic_starts,
        replicas=after,
    )
    inverse = [replace(one, origins=one.targets, targets=one.origins) for one in plan]
    width = cluster.replicas.shape[1]
    assert (
        pad_to_width(applied(there, inverse).replicas, width)[:, :width].tolist()
        == cluster.replicas.tolist()
    )
