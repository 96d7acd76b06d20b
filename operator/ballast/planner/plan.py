"""From a snapshot and options to a plan: the replicas of every partition, and their order.

Pure: the same cluster, options and seed give the same plan, whatever the order in which the cluster
was written down. A cluster of one block is planned at once (`plan_whole`). A larger one is planned
block by block; `sharding.steps` has the steps and their order. This module runs them one after the
other; `ballast.spark` runs the same functions in parallel and gets the same plan.

Example, `RemoveBrokers` of broker 3 in a cluster of brokers 1, 2, 3::

    partition 0: brokers 1, 3   ->   brokers 1, 2
    partition 1: brokers 2, 1   ->   brokers 2, 1   (not touched)
    partition 2: brokers 3, 2   ->   brokers 1, 2

"""

import numpy as np

from ballast.planner.arrays import Shorts, row_any
from ballast.planner.leaders.balance import balance_leaders
from ballast.planner.leaders.shares import block_leader_targets, leader_problem
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.kafka_default import kafka_default_targets
from ballast.planner.placement.optimize import optimize
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.move_limits import apply_move_limits
from ballast.planner.problem.strategies import placement_problem
from ballast.planner.sharding.block_quotas import assign_quotas
from ballast.planner.sharding.block_summary import block_view, summarize_block
from ballast.planner.sharding.cross_block_balance import redistribute_excess_bytes
from ballast.planner.sharding.steps import assign_leaders, place_block, rebalance_block
from ballast.planner.snapshot.blocks import (
    PARTITIONS_PER_BLOCK,
    block_boundaries,
    extract_block,
    without_partitions,
)
from ballast.planner.snapshot.columns import NOWHERE, ClusterColumns, pad_to_width


def plan_targets(
    columns: ClusterColumns,
    options: PlanOptions,
    *,
    partitions_per_block: int = PARTITIONS_PER_BLOCK,
) -> Shorts:
    """Return the target replicas of every partition, as `ClusterColumns.replicas`.

    For `Strategy.REBALANCE_LOG_DIRS` their directories, as `ClusterColumns.log_dirs`.
    Raises `OptionsRejected` and `Infeasible`.
    """
    cuts = block_boundaries(np.diff(columns.topic_starts), partitions_per_block)
    if len(cuts) <= 2:
        return plan_whole(columns, options)
    blocks = [
        extract_block(columns, first, last)
        for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    ]
    summaries = [summarize_block(block, options) for block in blocks]
    quotas = assign_quotas(columns.brokers, options, summaries)
    placements = [
        place_block(block, options, quota) for block, quota in zip(blocks, quotas, strict=True)
    ]
    new_quotas = redistribute_excess_bytes(
        quotas, [summary.byte_loads for _, summary in placements]
    )
    if new_quotas is not None:
        placements = [
            rebalance_block(block, options, quota, rows)
            for block, quota, (rows, _) in zip(blocks, new_quotas, placements, strict=True)
        ]
    leaders = [summary.leaders for _, summary in placements if summary.leaders is not None]
    tables = [rows for rows, _ in placements]
    if leaders:
        view = block_view(without_partitions(columns.brokers), options)
        leader_targets = block_leader_targets(view, leaders)
        for block, rows, replica_targets in zip(blocks, tables, leader_targets, strict=True):
            assign_leaders(block, options, rows, replica_targets)
    del placements
    return _joined(tables)


def plan_whole(columns: ClusterColumns, options: PlanOptions) -> Shorts:
    """Return the plan of a cluster that is one block."""
    if options.strategy is Strategy.REBALANCE_LOG_DIRS:
        (quota,) = assign_quotas(columns.brokers, options, [summarize_block(columns, options)])
        return place_block(columns, options, quota)[0]
    view = ClusterView(columns, options)
    if options.strategy is Strategy.STOCK:
        all_partitions = np.ones(columns.partitions, np.bool_)
        return apply_move_limits(columns, kafka_default_targets(view), all_partitions, options)
    rows = columns.replicas.copy()
    if options.strategy is not Strategy.PREFERRED_LEADERS:
        problem = placement_problem(view)
        rows = apply_move_limits(columns, optimize(problem), row_any(problem.unassigned), options)
    balance_leaders(leader_problem(view, rows))
    return rows


def _joined(tables: list[Shorts]) -> Shorts:
    width = max(table.shape[1] for table in tables)
    joined = np.full((sum(map(len, tables)), width), NOWHERE, np.int32)
    first = 0
    while tables:
        table = tables.pop(0)
        joined[first : first + len(table)] = pad_to_width(table, width)
        first += len(table)
    return joined
