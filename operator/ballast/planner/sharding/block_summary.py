"""Per-block summary: a few numbers per broker, from which the block's quota is computed.

A summary depends on nothing outside its block. Summaries are additive: their sum is the cluster's
(`sum_summaries`).

Example: in block A broker 1 holds 4 replicas, in block B 2. The sum says that it holds 6, which is
all that `block_quotas` needs to know.

"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ballast.model.ids import TopicPartition
from ballast.planner.arrays import Ints, Shorts, count_by_index, row_counts
from ballast.planner.options import MAX_REPLICATION_FACTOR, PlanOptions, Strategy
from ballast.planner.placement.kafka_default import kafka_default_targets
from ballast.planner.placement.log_dirs import LogDirLoads, log_dir_loads
from ballast.planner.placement.optimize import infeasibility
from ballast.planner.problem.balance_bounds import RackUsage, broker_bytes_of, rack_usage
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.move_limits import new_replicas
from ballast.planner.problem.problem import ReplicaTotals
from ballast.planner.problem.strategies import replica_totals, unbounded_problem
from ballast.planner.snapshot.columns import ClusterColumns, pad_to_width


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockSummary:
    """Of one block, or the sum of several."""

    totals: ReplicaTotals
    movable_counts: Ints
    """By broker: replicas that may move."""
    unassigned_count: int
    """Replicas without a broker."""
    unassigned_bytes: int
    assigned_bytes: Ints
    """By broker: bytes of replicas that have one."""
    movable_bytes: Ints
    rack_usage: RackUsage
    rack_bytes: RackUsage
    log_dirs: LogDirLoads | None = None
    """For log directories only."""
    shortage: tuple[TopicPartition, str, int] | None = None
    """Partitions with too few brokers: the first, the reason, and their number; None = no such one.
    """


def block_view(block: ClusterColumns, options: PlanOptions) -> ClusterView:
    """Return the view of a block; the rack rules cover all possible replication factors."""
    return ClusterView(block, options, MAX_REPLICATION_FACTOR)


def summarize_block(block: ClusterColumns, options: PlanOptions) -> BlockSummary:
    """Return the summary of a block. Raises `OptionsRejected`, and `Infeasible` for `Stock`."""
    view = block_view(block, options)
    if options.strategy is Strategy.STOCK:
        return _copy_summary(block, kafka_default_targets(view))
    if options.strategy is Strategy.PREFERRED_LEADERS:
        return _copy_summary(block, block.replicas)
    if options.strategy is Strategy.REBALANCE_LOG_DIRS:
        return replace(_copy_summary(block, block.replicas), log_dirs=log_dir_loads(view))
    problem = unbounded_problem(view)
    sizes = np.zeros(len(problem.rows), np.int64) if problem.sizes is None else problem.sizes
    brokers = block.brokers.count
    movable = np.where(problem.movable, problem.rows, -1).astype(np.int32)
    missing = row_counts(problem.unassigned)
    return BlockSummary(
        totals=replica_totals(view, problem),
        movable_counts=count_by_index(movable, brokers),
        unassigned_count=int(missing.sum()),
        unassigned_bytes=int((missing * sizes).sum()),
        assigned_bytes=broker_bytes_of(problem.rows, sizes, brokers),
        movable_bytes=broker_bytes_of(movable, sizes, brokers),
        rack_usage=rack_usage(problem, np.ones(len(problem.rows), np.int64)),
        rack_bytes=rack_usage(problem, sizes),
        shortage=infeasibility(problem),
    )


def sum_summaries(summaries: Sequence[BlockSummary]) -> BlockSummary:
    shortages = [block.shortage for block in summaries if block.shortage]
    all_totals = [block.totals for block in summaries]
    return BlockSummary(
        totals=ReplicaTotals(
            partitions=sum(block.partitions for block in all_totals),
            partitions_by_factor=_sum([block.partitions_by_factor for block in all_totals]),
            replica_counts=_sum([block.replica_counts for block in all_totals]),
            movable_counts=_sum([block.movable_counts for block in all_totals]),
            assigned_counts=_sum([block.assigned_counts for block in all_totals]),
        ),
        movable_counts=_sum([block.movable_counts for block in summaries]),
        unassigned_count=sum(block.unassigned_count for block in summaries),
        unassigned_bytes=sum(block.unassigned_bytes for block in summaries),
        assigned_bytes=_sum([block.assigned_bytes for block in summaries]),
        movable_bytes=_sum([block.movable_bytes for block in summaries]),
        rack_usage=_sum_usages([block.rack_usage for block in summaries]),
        rack_bytes=_sum_usages([block.rack_bytes for block in summaries]),
        shortage=(*shortages[0][:2], sum(shortage[2] for shortage in shortages))
        if shortages
        else None,
    )


def _sum_usages(usages: Sequence[RackUsage]) -> RackUsage:
    return RackUsage(
        by_factor=_sum([block.by_factor for block in usages]),
        movable=_sum([block.movable for block in usages]),
        fixed=_sum([block.fixed for block in usages]),
        missing_low=_sum([block.missing_low for block in usages]),
        missing_high=_sum([block.missing_high for block in usages]),
        total=sum(block.total for block in usages),
    )


def _sum(columns: Sequence[Ints]) -> Ints:
    return np.asarray(np.sum(columns, axis=0), np.int64)


def _copy_summary(columns: ClusterColumns, rows: Shorts) -> BlockSummary:
    """Return the summary for a strategy without balance: every copy is required."""
    copies = row_counts(new_replicas(rows, pad_to_width(columns.replicas, rows.shape[1])))
    sizes = np.zeros(len(rows), np.int64) if columns.sizes is None else columns.sizes
    zeros = np.zeros(columns.brokers.count, np.int64)
    no_usage = RackUsage(
        by_factor=zeros,
        movable=zeros,
        fixed=zeros,
        missing_low=zeros,
        missing_high=zeros,
        total=0,
    )
    return BlockSummary(
        totals=ReplicaTotals(
            partitions=len(rows),
            partitions_by_factor=zeros,
            replica_counts=zeros,
            movable_counts=zeros,
            assigned_counts=zeros,
        ),
        movable_counts=zeros,
        unassigned_count=int(copies.sum()),
        unassigned_bytes=int((copies * sizes).sum()),
        assigned_bytes=zeros,
        movable_bytes=zeros,
        rack_usage=no_usage,
        rack_bytes=no_usage,
    )
