"""From a snapshot and options to a plan: where every replica is to be, and who comes first.

Pure: the same cluster, options and seed give the same plan, in whatever order the cluster was
written down. A large cluster is planned block by block (`planner.sharding.steps`); here one after
the other, and what else does it at the same time comes to the same plan.
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
    """Return the replicas that every partition shall have, as `ClusterColumns.replicas`.

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
    surveys = [summarize_block(block, options) for block in blocks]
    quotas = assign_quotas(columns.brokers, options, surveys)
    placed = [
        place_block(block, options, quota) for block, quota in zip(blocks, quotas, strict=True)
    ]
    again = redistribute_excess_bytes(quotas, [told.of_bytes for _, told in placed])
    if again is not None:
        placed = [
            rebalance_block(block, options, quota, rows)
            for block, quota, (rows, _) in zip(blocks, again, placed, strict=True)
        ]
    led = [told.led for _, told in placed if told.led is not None]
    tables = [rows for rows, _ in placed]
    if led:
        situation = block_view(without_partitions(columns.brokers), options)
        leader_targets = block_leader_targets(situation, led)
        for block, rows, band in zip(blocks, tables, leader_targets, strict=True):
            assign_leaders(block, options, rows, band)
    del placed
    return _joined(tables)


def plan_whole(columns: ClusterColumns, options: PlanOptions) -> Shorts:
    """Return the plan of a cluster that is one block."""
    if options.strategy is Strategy.REBALANCE_LOG_DIRS:
        (quota,) = assign_quotas(columns.brokers, options, [summarize_block(columns, options)])
        return place_block(columns, options, quota)[0]
    situation = ClusterView(columns, options)
    if options.strategy is Strategy.STOCK:
        everyone = np.ones(columns.partitions, np.bool_)
        return apply_move_limits(columns, kafka_default_targets(situation), everyone, options)
    rows = columns.replicas.copy()
    if options.strategy is not Strategy.PREFERRED_LEADERS:
        task = placement_problem(situation)
        rows = apply_move_limits(columns, optimize(task), row_any(task.unassigned), options)
    balance_leaders(leader_problem(situation, rows))
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
