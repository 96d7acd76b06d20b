from itertools import pairwise

import numpy as np
import pytest

from ballast.planner.errors import Infeasible
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.sharding.block_quotas import BlockQuota, assign_quotas
from ballast.planner.sharding.block_summary import summarize_block
from ballast.planner.snapshot.blocks import extract_block
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.planner.builders import level_cluster, made


def quotas(cluster: ClusterColumns, options: PlanOptions, blocks: int) -> list[BlockQuota]:
    cuts = np.linspace(0, len(cluster.topics), blocks + 1).astype(int).tolist()
    parts = [extract_block(cluster, a, b) for a, b in pairwise(cuts)]
    return assign_quotas(
        cluster.brokers, options, [summarize_block(part, options) for part in parts]
    )


@pytest.mark.parametrize("racks", [1, 3, 6])
def test_what_blocks_end_with_adds_up_to_a_level(racks: int) -> None:
    cluster = level_cluster(1200, 12, racks, skew=True)
    found = quotas(cluster, PlanOptions(strategy=Strategy.REBALANCE), 4)
    targets = np.stack([quota.target for quota in found])
    assert targets.sum(axis=0).tolist() == [300] * 12
    assert targets.sum(axis=1).tolist() == [900] * 4


def test_every_rack_keeps_what_it_has_of_a_block() -> None:
    """With as many racks as replicas, a block has every partition once in each."""
    cluster = level_cluster(1200, 12, 3, new=3)
    options = PlanOptions(strategy=Strategy.ADD_BROKERS, broker_ids=(12, 13, 14))
    for quota in quotas(cluster, options, 4):
        by_rack = np.bincount(cluster.brokers.racks, quota.target)
        assert by_rack.tolist() == [300, 300, 300]


def test_bytes_are_shared_out_too() -> None:
    cluster = made(
        dict.fromkeys(range(2)),
        {"a": [[0]] * 4, "b": [[0], [1]]},
        sizes={"a": [10] * 4, "b": [10, 10]},
    )
    found = quotas(cluster, PlanOptions(strategy=Strategy.REBALANCE), 2)
    targets = np.stack([quota.byte_target for quota in found if quota.byte_target is not None])
    assert targets.sum(axis=0).round(6).tolist() == [30, 30]
    assert targets.sum(axis=1).round(6).tolist() == [40, 20]


def test_a_limit_is_cut_in_parts_and_what_must_move_comes_first() -> None:
    options = PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=(0,), max_replica_moves=3)
    cluster = made(dict.fromkeys(range(3)), {"a": [[0]] * 4, "b": [[0], [1]], "c": [[2]] * 4})
    found = quotas(cluster, options, 3)
    assert [quota.max_replica_moves for quota in found] == [2, 1, 0]
    assert [quota.within(options).max_replica_moves for quota in found] == [2, 1, 0]


def test_no_quota_where_there_is_no_room() -> None:
    cluster = made(dict.fromkeys(range(2)), {"a": [[0, 1]], "b": [[1, 0]]})
    with pytest.raises(Infeasible, match="a-0"):
        quotas(cluster, PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=(1,)), 2)


def test_aims_are_exact() -> None:
    cluster = made(dict.fromkeys(range(2)), {"a": [[0]] * 2, "b": [[0], [1]]})
    targets = quotas(cluster, PlanOptions(strategy=Strategy.REBALANCE), 2)[0].targets
    assert (
        targets.replica_targets.low.tolist()
        == targets.replica_targets.high.tolist()
        == targets.replica_targets.target.tolist()
    )
    assert targets.count_origin.tolist() == targets.replica_targets.target.tolist()
