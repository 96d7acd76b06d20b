"""From a snapshot and options to a plan: where every replica is to be, and who comes first.

Pure: the same cluster, options and seed give the same plan, in whatever order the cluster was
written down. A large cluster is planned block by block (`planner.sharding.steps`); here one after
the other, and what else does it at the same time comes to the same plan.
"""

import numpy as np

from ballast.planner.arrays import Shorts, row_any
from ballast.planner.leaders.balance import even_leaders
from ballast.planner.leaders.shares import leading_of, share_out_leaders
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.kafka_default import stock_targets
from ballast.planner.placement.optimize import rearrange
from ballast.planner.problem.cluster_view import Situation
from ballast.planner.problem.move_limits import cut
from ballast.planner.problem.strategies import task_of
from ballast.planner.sharding.block_quotas import share_out_work
from ballast.planner.sharding.block_summary import situation_of, survey
from ballast.planner.sharding.cross_block_balance import share_out_excess
from ballast.planner.sharding.steps import even_out, lead, place
from ballast.planner.snapshot.blocks import (
    PARTITIONS_PER_BLOCK,
    block_of,
    cut_topics,
    without_partitions,
)
from ballast.planner.snapshot.columns import NOWHERE, ClusterColumns, widened


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
    cuts = cut_topics(np.diff(columns.topic_starts), partitions_per_block)
    if len(cuts) <= 2:
        return plan_whole(columns, options)
    blocks = [
        block_of(columns, first, last)
        for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    ]
    surveys = [survey(block, options) for block in blocks]
    quotas = share_out_work(columns.brokers, options, surveys)
    placed = [place(block, options, quota) for block, quota in zip(blocks, quotas, strict=True)]
    again = share_out_excess(quotas, [told.of_bytes for _, told in placed])
    if again is not None:
        placed = [
            even_out(block, options, quota, rows)
            for block, quota, (rows, _) in zip(blocks, again, placed, strict=True)
        ]
    led = [told.led for _, told in placed if told.led is not None]
    tables = [rows for rows, _ in placed]
    if led:
        situation = situation_of(without_partitions(columns.brokers), options)
        bands = share_out_leaders(situation, led)
        for block, rows, band in zip(blocks, tables, bands, strict=True):
            lead(block, options, rows, band)
    del placed
    return _joined(tables)


def plan_whole(columns: ClusterColumns, options: PlanOptions) -> Shorts:
    """Return the plan of a cluster that is one block."""
    if options.strategy is Strategy.REBALANCE_LOG_DIRS:
        (quota,) = share_out_work(columns.brokers, options, [survey(columns, options)])
        return place(columns, options, quota)[0]
    situation = Situation(columns, options)
    if options.strategy is Strategy.STOCK:
        everyone = np.ones(columns.partitions, np.bool_)
        return cut(columns, stock_targets(situation), everyone, options)
    rows = columns.replicas.copy()
    if options.strategy is not Strategy.PREFERRED_LEADERS:
        task = task_of(situation)
        rows = cut(columns, rearrange(task), row_any(task.vacant), options)
    even_leaders(leading_of(situation, rows))
    return rows


def _joined(tables: list[Shorts]) -> Shorts:
    width = max(table.shape[1] for table in tables)
    joined = np.full((sum(map(len, tables)), width), NOWHERE, np.int32)
    first = 0
    while tables:
        table = tables.pop(0)
        joined[first : first + len(table)] = widened(table, width)
        first += len(table)
    return joined
