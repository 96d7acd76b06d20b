from dataclasses import replace

import numpy as np
import pytest

from ballast.planner.arrays import count_by_index
from ballast.planner.explain.explain import explain
from ballast.planner.leaders.shares import block_leader_targets
from ballast.planner.options import Objective, PlanOptions, Strategy
from ballast.planner.sharding.block_quotas import assign_quotas
from ballast.planner.sharding.block_summary import block_view, summarize_block
from ballast.planner.sharding.steps import assign_leaders, place_block, rebalance_block
from tests.unit.planner.builders import counts, leader_counts, level_cluster, made

CLUSTER = made(dict.fromkeys(range(3)), {"t": [[0, 1]] * 6})


def test_a_block_goes_through_all_steps() -> None:
    options = PlanOptions(strategy=Strategy.REBALANCE)
    (quota,) = assign_quotas(CLUSTER.brokers, options, [summarize_block(CLUSTER, options)])
    rows, summary = place_block(CLUSTER, options, quota)
    assert counts(CLUSTER, rows) == {0: 4, 1: 4, 2: 4}
    assert summary.byte_loads is None
    assert summary.leaders is not None
    (replica_targets,) = block_leader_targets(block_view(CLUSTER, options), [summary.leaders])
    assign_leaders(CLUSTER, options, rows, replica_targets)
    assert leader_counts(CLUSTER, rows) == {0: 2, 1: 2, 2: 2}


def test_a_block_tells_of_its_bytes_and_levels_them_once_more() -> None:
    cluster = level_cluster(300, 6, 3)
    cluster = replace(cluster, sizes=np.arange(1, 301))
    options = PlanOptions(strategy=Strategy.REBALANCE)
    (quota,) = assign_quotas(cluster.brokers, options, [summarize_block(cluster, options)])
    rows, summary = place_block(cluster, options, quota)
    assert summary.byte_loads is not None
    found = explain(cluster, rows)
    assert summary.byte_loads.broker_bytes.tolist() == found.after.size_bytes.tolist()
    assert summary.byte_loads.copied_bytes == found.bytes_to_move > 0
    # The next of a rack is to have what the first one gives.
    targets = summary.byte_loads.broker_bytes + np.array([-6000, 0, 0, 6000, 0, 0])
    again, after = rebalance_block(
        cluster, options, replace(quota, byte_target=targets * 1.0), rows
    )
    assert after.byte_loads is not None
    found = explain(cluster, again)
    assert after.byte_loads.broker_bytes.tolist() == found.after.size_bytes.tolist()
    assert after.byte_loads.copied_bytes == found.bytes_to_move
    assert np.abs(after.byte_loads.broker_bytes - targets).max() < 1000
    assert counts(cluster, again) == counts(cluster, rows)
    assert after.leaders is not None
    assert after.leaders.leader_counts.tolist() == count_by_index(again[:, 0], 6).tolist()


def test_what_is_level_by_load_is_told_in_load() -> None:
    cluster = replace(level_cluster(300, 6, 3), sizes=np.arange(300), rates=np.arange(300, 0, -1))
    options = PlanOptions(strategy=Strategy.REBALANCE, objective=Objective.BYTES_IN_PER_SECOND)
    (quota,) = assign_quotas(cluster.brokers, options, [summarize_block(cluster, options)])
    rows, summary = place_block(cluster, options, quota)
    assert summary.byte_loads is not None
    found = explain(cluster, rows).after.bytes_in_per_second
    assert summary.byte_loads.broker_bytes.tolist() == found.tolist()
    assert summary.byte_loads.broker_bytes.sum() == 3 * 300 * 301 // 2


def test_a_block_that_knows_no_sizes_tells_of_none() -> None:
    cluster = level_cluster(300, 6, 3)
    options = PlanOptions(strategy=Strategy.REBALANCE)
    (quota,) = assign_quotas(cluster.brokers, options, [summarize_block(cluster, options)])
    _, summary = place_block(cluster, options, replace(quota, byte_target=np.full(6, 7.0)))
    assert summary.byte_loads is not None
    assert (summary.byte_loads.broker_bytes.tolist(), summary.byte_loads.copied_bytes) == (
        [0] * 6,
        0,
    )


@pytest.mark.parametrize("limits", [(3, None), (None, 8)])
def test_where_moves_are_limited_bytes_are_levelled_once(
    limits: tuple[int | None, int | None],
) -> None:
    cluster = replace(level_cluster(300, 6, 3), sizes=np.arange(1, 301))
    options = PlanOptions(
        strategy=Strategy.REBALANCE, max_replica_moves=limits[0], max_bytes_to_move=limits[1]
    )
    (quota,) = assign_quotas(cluster.brokers, options, [summarize_block(cluster, options)])
    assert place_block(cluster, options, quota)[1].byte_loads is None


def test_where_only_leaders_change_nothing_is_placed() -> None:
    options = PlanOptions(strategy=Strategy.PREFERRED_LEADERS)
    (quota,) = assign_quotas(CLUSTER.brokers, options, [summarize_block(CLUSTER, options)])
    rows, summary = place_block(CLUSTER, options, quota)
    assert rows.tolist() == CLUSTER.replicas.tolist()
    assert summary.leaders is not None


def test_what_kafka_would_propose_leads_as_it_is() -> None:
    options = PlanOptions(strategy=Strategy.STOCK, start_index=0, max_replica_moves=2)
    (quota,) = assign_quotas(CLUSTER.brokers, options, [summarize_block(CLUSTER, options)])
    rows, summary = place_block(CLUSTER, options, quota)
    assert summary.leaders is None
    assert counts(CLUSTER, rows)[2] == 2
