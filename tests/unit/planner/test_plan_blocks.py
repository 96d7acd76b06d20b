"""Clusters that are planned in blocks: as good as if they were one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ballast.planner.errors import Infeasible
from ballast.planner.explain.explain import explain
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.optimize import count_moves
from ballast.planner.plan import plan_targets, plan_whole
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.planner.builders import (
    against_the_rules,
    clusters,
    counts,
    ids,
    leader_counts,
    level_cluster,
    made,
)

BLOCK = 500
NEW = (24, 25, 26)


def options(strategy: Strategy, **more: Any) -> PlanOptions:
    return PlanOptions(strategy=strategy, **more)


def spread(found: dict[int, int]) -> int:
    return max(found.values()) - min(found.values())


def sized(cluster: ClusterColumns) -> ClusterColumns:
    """Return the cluster with sizes of which some are much larger than others."""
    chance = np.random.default_rng(1)
    sizes = chance.lognormal(0, 1.2, cluster.partitions)
    return replace(cluster, sizes=(sizes * 1e9).astype(np.int64))


def of_few_brokers(seed: int, *, has_few_large: bool) -> ClusterColumns:
    """Return 24,000 partitions in four racks of 30 brokers, of which some have much more."""
    chance = np.random.default_rng(seed)
    racks = np.argsort(chance.random((24_000, 4)), axis=1)[:, :3]
    weights = np.exp(0.1 * np.arange(30))
    rows = 4 * chance.choice(30, (24_000, 3), p=weights / weights.sum()) + racks
    drawn = chance.pareto(1.3, 24_000) + 1 if has_few_large else chance.lognormal(0, 1.5, 24_000)
    for _ in range(9):
        drawn = np.minimum(drawn, drawn.sum() * 3 / 120 / 3)
    empty = made({broker: f"rack-{broker % 4}" for broker in range(120)}, {})
    return replace(
        empty,
        topics=tuple(f"topic-{number}" for number in range(480)),
        topic_starts=np.arange(0, 24_001, 50),
        replicas=rows.astype(np.int32),
        sizes=(drawn * 1e6).astype(np.int64),
        leaders=rows[:, 0].astype(np.int32),
    )


@pytest.mark.parametrize("racks", [1, 3, 8])
def test_brokers_are_added(racks: int) -> None:
    cluster = level_cluster(4000, 24, racks, new=3)
    rows = plan_targets(
        cluster, options(Strategy.ADD_BROKERS, broker_ids=NEW), partitions_per_block=BLOCK
    )
    summary = explain(cluster, rows)
    found = counts(cluster, rows)
    share = 12000 / 27
    if racks != 8:
        assert all(abs(found[broker] - share) <= 1 for broker in NEW)
    assert summary.replica_moves == summary.replica_moves_least == sum(found[b] for b in NEW)
    assert summary.rack_violations == (0, 0)
    led = leader_counts(cluster, rows)
    assert all(abs(led[broker] - 4000 / 27) <= 1 for broker in NEW)


@pytest.mark.parametrize("racks", [3, 8])
def test_brokers_are_removed(racks: int) -> None:
    cluster = level_cluster(4000, 24, racks)
    asked = options(Strategy.REMOVE_BROKERS, broker_ids=(5, 7))
    rows = plan_targets(cluster, asked, partitions_per_block=BLOCK)
    before, found = counts(cluster, cluster.replicas), counts(cluster, rows)
    assert count_moves(rows, cluster.replicas) == before[5] + before[7]
    assert found[5] == found[7] == 0
    assert against_the_rules(cluster, rows) == 0
    whole = counts(cluster, plan_whole(cluster, asked))
    assert sorted(found.values()) == sorted(whole.values())


@pytest.mark.parametrize(("racks", "factor"), [(1, 3), (3, 3), (8, 3), (8, 2), (2, 3), (3, 5)])
def test_a_skewed_cluster_is_made_level(racks: int, factor: int) -> None:
    cluster = level_cluster(3000, 24, racks, factor=factor, skew=True)
    rows = plan_targets(cluster, options(Strategy.REBALANCE), partitions_per_block=BLOCK)
    summary = explain(cluster, rows)
    assert spread(counts(cluster, rows)) <= 1
    assert spread(leader_counts(cluster, rows)) <= 1
    assert summary.rack_violations[1] == 0
    assert summary.replica_moves <= 1.01 * summary.replica_moves_least + summary.rack_violations[0]


@pytest.mark.parametrize("racks", [3, 8])
@pytest.mark.parametrize("strategy", [Strategy.ADD_BROKERS, Strategy.REBALANCE])
def test_bytes_are_level_too(strategy: Strategy, racks: int) -> None:
    is_added = strategy is Strategy.ADD_BROKERS
    cluster = sized(level_cluster(6000, 24, racks, new=3 * is_added, skew=not is_added))
    asked = options(strategy, broker_ids=NEW if is_added else ())
    rows = plan_targets(cluster, asked, partitions_per_block=1500)
    summary = explain(cluster, rows)
    assert summary.bytes_to_move <= 1.05 * summary.bytes_to_move_least
    assert summary.replica_moves <= 1.02 * summary.replica_moves_least
    assert summary.spread(summary.after.size_bytes).deviation < 0.1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("has_few_large", [False, True])
def test_what_blocks_leave_uneven_is_evened_out(seed: int, has_few_large: bool) -> None:
    """The largest are a third of what a broker holds, and more than it holds of one block."""
    cluster = of_few_brokers(seed, has_few_large=has_few_large)
    rows = plan_targets(cluster, options(Strategy.REBALANCE), partitions_per_block=6000)
    summary = explain(cluster, rows)
    held = summary.after.size_bytes / summary.after.size_bytes.mean()
    assert summary.bytes_to_move <= (1.03 if has_few_large else 1.01) * summary.bytes_to_move_least
    assert held.min() >= (0.8 if has_few_large else 0.84)
    assert held.max() <= (1.4 if has_few_large else 1.17)
    assert held.std() <= (0.09 if has_few_large else 0.04)
    assert spread(counts(cluster, rows)) <= 1
    assert summary.rack_violations[1] == 0


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 2)])
def test_the_replication_factor_is_set(before: int, after: int) -> None:
    cluster = level_cluster(3000, 24, 3, factor=before)
    asked = options(Strategy.SET_REPLICATION_FACTOR, replication_factor=after)
    rows = plan_targets(cluster, asked, partitions_per_block=BLOCK)
    assert {len(row) for row in ids(cluster, rows)} == {after}
    assert count_moves(rows, cluster.replicas) == 3000 * max(0, after - before)
    assert against_the_rules(cluster, rows) == 0
    if after > before:
        assert spread(counts(cluster, rows)) <= 1


def test_limits_hold_for_all_blocks_together() -> None:
    cluster = sized(level_cluster(3000, 24, 3, new=3))
    asked = options(Strategy.ADD_BROKERS, broker_ids=NEW, max_replica_moves=100)
    rows = plan_targets(cluster, asked, partitions_per_block=BLOCK)
    assert count_moves(rows, cluster.replicas) == 100
    asked = options(Strategy.ADD_BROKERS, broker_ids=NEW, max_bytes_to_move=10**11)
    rows = plan_targets(cluster, asked, partitions_per_block=BLOCK)
    summary = explain(cluster, rows)
    assert 0.5 * 10**11 < summary.bytes_to_move <= 10**11


def test_stock_is_the_same_in_blocks() -> None:
    cluster = level_cluster(3000, 24, 3)
    asked = options(Strategy.STOCK, seed=4)
    rows = plan_targets(cluster, asked, partitions_per_block=BLOCK)
    assert rows.tolist() == plan_whole(cluster, asked).tolist()


def test_what_is_infeasible_is_told_of_all_blocks() -> None:
    cluster = made(
        dict.fromkeys((1, 2, 3)),
        {f"t{n}": [[1, 2, 3]] * 40 if n != 1 else [[1, 2]] * 40 for n in range(5)},
    )
    asked = options(Strategy.REMOVE_BROKERS, broker_ids=(3,))
    with pytest.raises(Infeasible, match="t0-0: has 3 replicas") as caught:
        plan_targets(cluster, asked, partitions_per_block=40)
    assert caught.value.total == 160


STRATEGIES = st.sampled_from(
    [
        (Strategy.REBALANCE, {}),
        (Strategy.PREFERRED_LEADERS, {}),
        (Strategy.REPAIR_RACKS, {}),
        (Strategy.SET_REPLICATION_FACTOR, {"replication_factor": 2}),
        (Strategy.STOCK, {}),
    ]
)


@settings(max_examples=50)
@given(clusters(), STRATEGIES, st.lists(st.sampled_from([0, 1, 7, 10**12]), max_size=4))
def test_every_plan_in_blocks_can_be_carried_out(
    cluster: ClusterColumns, asked: tuple[Strategy, dict[str, Any]], sizes: list[int]
) -> None:
    """However small the blocks are, and whatever sizes are known."""
    strategy, more = asked
    if sizes:
        cluster = replace(cluster, sizes=np.resize(np.array(sizes, np.int64), cluster.partitions))
    try:
        rows = plan_targets(cluster, options(strategy, **more), partitions_per_block=2)
    except Infeasible:
        assume(False)
    closed = set(cluster.brokers.ids[cluster.brokers.cordoned].tolist())
    for old, new in zip(ids(cluster, cluster.replicas), ids(cluster, rows), strict=True):
        assert len(set(new)) == len(new) > 0
        assert not (set(new) - set(old)) & closed
        if strategy is Strategy.PREFERRED_LEADERS:
            assert sorted(new) == sorted(old)
