from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ballast.planner.errors import Infeasible
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.optimize import count_moves
from ballast.planner.plan import plan_targets
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


def options(strategy: Strategy, **more: Any) -> PlanOptions:
    return PlanOptions(strategy=strategy, **more)


def spread(found: dict[int, int]) -> int:
    return max(found.values()) - min(found.values())


@pytest.mark.parametrize("racks", [2, 3, 7])
def test_brokers_are_added(racks: int) -> None:
    """As many replicas move as the new ones' share, and by racks all is as before."""
    cluster = level_cluster(2000, 21, racks, new=racks)
    new = tuple(range(21, 21 + racks))
    rows = plan_targets(cluster, options(Strategy.ADD_BROKERS, broker_ids=new))
    share = 6000 / (21 + racks)
    found = counts(cluster, rows)
    assert all(int(share) <= found[broker] <= int(share) + 1 for broker in new)
    assert count_moves(rows, cluster.replicas) == sum(found[broker] for broker in new)
    assert against_the_rules(cluster, rows) == against_the_rules(cluster, cluster.replicas) == 0
    led = leader_counts(cluster, rows)
    assert all(abs(led[broker] - 2000 / (21 + racks)) <= 1 for broker in new)


@pytest.mark.parametrize("racks", [3, 7])
def test_brokers_are_removed(racks: int) -> None:
    cluster = level_cluster(2000, 21, racks)
    before = counts(cluster, cluster.replicas)
    rows = plan_targets(cluster, options(Strategy.REMOVE_BROKERS, broker_ids=(4, 11)))
    found = counts(cluster, rows)
    assert count_moves(rows, cluster.replicas) == before[4] + before[11]
    assert found[4] == found[11] == 0
    assert all(found[broker] >= before[broker] for broker in found if broker not in (4, 11))
    assert against_the_rules(cluster, rows) == 0


@pytest.mark.parametrize(("racks", "factor"), [(1, 3), (2, 3), (3, 3), (7, 3), (7, 2), (3, 5)])
def test_a_skewed_cluster_is_made_level(racks: int, factor: int) -> None:
    cluster = level_cluster(1000, 21, racks, factor=factor, skew=True)
    before = counts(cluster, cluster.replicas)
    violations = against_the_rules(cluster, cluster.replicas)
    rows = plan_targets(cluster, options(Strategy.REBALANCE))
    found = counts(cluster, rows)
    assert spread(found) <= 1
    assert spread(leader_counts(cluster, rows)) <= 1
    assert against_the_rules(cluster, rows) == 0
    level = 1000 * factor // 21
    surplus = sum(max(0, count - level - 1) for count in before.values())
    lacking = sum(max(0, level - count) for count in before.values())
    assert (
        count_moves(rows, cluster.replicas) <= 1.01 * max(surplus, lacking, violations) + violations
    )


def test_capacities_are_shares() -> None:
    capacities = {broker: 100 if broker % 2 else 200 for broker in range(6)}
    cluster = made(
        dict.fromkeys(range(6)),
        {"t": [[n % 6, (n + 1) % 6] for n in range(90)]},
        capacities=capacities,
    )
    found = counts(cluster, plan_targets(cluster, options(Strategy.REBALANCE)))
    assert found == {broker: 20 if broker % 2 else 40 for broker in range(6)}


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 2), (2, 2)])
def test_the_replication_factor_is_set(before: int, after: int) -> None:
    cluster = level_cluster(900, 9, 3, factor=before)
    rows = plan_targets(cluster, options(Strategy.SET_REPLICATION_FACTOR, replication_factor=after))
    assert {len(row) for row in ids(cluster, rows)} == {after}
    assert count_moves(rows, cluster.replicas) == 900 * max(0, after - before)
    assert against_the_rules(cluster, rows) == 0
    kept = zip(ids(cluster, cluster.replicas), ids(cluster, rows), strict=True)
    assert all(set(old) <= set(new) or set(new) <= set(old) for old, new in kept)
    if after == 3:
        assert spread(counts(cluster, rows)) <= 1


def test_only_racks_are_repaired() -> None:
    racks: dict[int, str | None] = {broker: f"r{broker % 3}" for broker in range(6)}
    rows = [[n % 6, (n + 3) % 6, (n + 1) % 6] if n % 4 == 0 else [0, 1, 2] for n in range(60)]
    cluster = made(racks, {"t": rows})
    found = plan_targets(cluster, options(Strategy.REPAIR_RACKS))
    assert (
        count_moves(found, cluster.replicas) == against_the_rules(cluster, cluster.replicas) == 15
    )
    assert against_the_rules(cluster, found) == 0


def test_preferred_leaders_are_evened_out_and_nothing_moves() -> None:
    cluster = made(dict.fromkeys(range(4)), {"t": [[0, 1 + n % 3] for n in range(40)]})
    rows = plan_targets(cluster, options(Strategy.PREFERRED_LEADERS))
    assert count_moves(rows, cluster.replicas) == 0
    assert leader_counts(cluster, rows) == dict.fromkeys(range(4), 10)


ASKED = st.sampled_from(
    [
        Strategy.ADD_BROKERS,
        Strategy.REMOVE_BROKERS,
        Strategy.REBALANCE,
        Strategy.SET_REPLICATION_FACTOR,
        Strategy.PREFERRED_LEADERS,
        Strategy.REPAIR_RACKS,
    ]
)


@st.composite
def asked(draw: st.DrawFn, cluster: ClusterColumns) -> PlanOptions:
    strategy = draw(ASKED)
    brokers = [
        broker
        for broker, cordoned in zip(
            cluster.brokers.ids.tolist(), cluster.brokers.cordoned.tolist(), strict=True
        )
        if not cordoned
    ]
    needs = strategy in (Strategy.ADD_BROKERS, Strategy.REMOVE_BROKERS)
    some = st.lists(st.sampled_from(brokers), min_size=int(needs), max_size=3, unique=True)
    factor = draw(st.integers(1, 4)) if strategy is Strategy.SET_REPLICATION_FACTOR else None
    return PlanOptions(
        strategy=strategy,
        broker_ids=tuple(draw(some)),
        replication_factor=factor,
        exclude=draw(st.sampled_from([(), ("^t$",)])),
        seed=draw(st.integers(0, 3)),
    )


@settings(max_examples=25)
@given(clusters(), st.data())
def test_every_plan_can_be_carried_out(cluster: ClusterColumns, data: st.DataObject) -> None:
    """Replicas are different and as many as asked for.

    What is to be left alone stays, and who may get nothing gets nothing.
    """
    asked_for = data.draw(asked(cluster))
    try:
        rows = plan_targets(cluster, asked_for)
    except Infeasible:
        assume(False)
    in_scope = asked_for.in_scope(cluster)
    closed = set(cluster.brokers.ids[cluster.brokers.cordoned].tolist())
    leaving: set[int] = set()
    if asked_for.strategy is Strategy.REMOVE_BROKERS:
        leaving = set(asked_for.broker_ids)
    pairs = zip(ids(cluster, cluster.replicas), ids(cluster, rows), in_scope.tolist(), strict=True)
    for old, new, may_move in pairs:
        assert len(set(new)) == len(new)
        assert not (set(new) - set(old)) & (closed | leaving)
        if not may_move:
            assert new == old
        else:
            assert not set(new) & leaving
            assert len(new) == (asked_for.replication_factor or len(old))


@settings(max_examples=25)
@given(clusters(), st.data())
def test_the_order_of_the_snapshot_means_nothing(
    cluster: ClusterColumns, data: st.DataObject
) -> None:
    names = [None if r < 0 else cluster.brokers.rack_names[r] for r in cluster.brokers.racks]
    racks = dict(zip(cluster.brokers.ids.tolist(), names, strict=True))
    rows = ids(cluster, cluster.replicas)
    starts = cluster.topic_starts.tolist()
    topics = {
        topic: rows[first:last]
        for topic, first, last in zip(cluster.topics, starts, starts[1:], strict=False)
    }
    shuffled = made(
        {broker: racks[broker] for broker in data.draw(st.permutations(sorted(racks)))},
        {topic: topics[topic] for topic in data.draw(st.permutations(sorted(topics)))},
        cordoned=cluster.brokers.ids[cluster.brokers.cordoned].tolist(),
    )
    asked_for = data.draw(asked(cluster))
    try:
        expected = plan_targets(cluster, asked_for)
    except Infeasible:
        with pytest.raises(Infeasible):
            plan_targets(shuffled, asked_for)
        return
    assert plan_targets(shuffled, asked_for).tolist() == expected.tolist()


def test_no_more_moves_than_allowed() -> None:
    cluster = level_cluster(300, 9, 3, new=3)
    asked_for = options(Strategy.ADD_BROKERS, broker_ids=(9, 10, 11), max_replica_moves=50)
    rows = plan_targets(cluster, asked_for)
    assert count_moves(rows, cluster.replicas) == 50
    found = counts(cluster, rows)
    assert all(5 <= found[broker] <= 30 for broker in (9, 10, 11))
