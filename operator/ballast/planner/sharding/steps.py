"""The steps of planning a block, each of which runs independently of other blocks.

Between two steps the results of all blocks are combined, once::

    summarize_block --> assign_quotas --> place_block --> block_leader_targets --> assign_leaders
    each block          once              each block      once                     each block

If the blocks together leave bytes unbalanced, there is another turn before leaders::

    place_block --> redistribute_excess_bytes --> rebalance_block
    each block      once                          each block

"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Shorts, row_any, row_counts
from ballast.planner.leaders.balance import balance_leaders
from ballast.planner.leaders.shares import LeaderCounts, count_leaders, leader_problem_within
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.kafka_default import kafka_default_targets
from ballast.planner.placement.log_dirs import LogDirTargets, balance_log_dirs, current_log_dirs
from ballast.planner.placement.optimize import optimize, optimize_again
from ballast.planner.problem.balance_bounds import broker_bytes_of
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.move_limits import apply_move_limits, limit_changes, new_replicas
from ballast.planner.problem.replica_targets import ReplicaTargets
from ballast.planner.problem.strategies import unbounded_problem
from ballast.planner.sharding.block_quotas import BlockQuota
from ballast.planner.sharding.block_summary import block_view
from ballast.planner.sharding.cross_block_balance import PlacedBytes
from ballast.planner.snapshot.columns import ClusterColumns, pad_to_width


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacementSummary:
    """The result of a block's placement, for the next step."""

    leaders: LeaderCounts | None = None
    """None = leaders must not change."""
    byte_loads: PlacedBytes | None = None
    """None = bytes are not balanced any further."""


def place_block(
    block: ClusterColumns, options: PlanOptions, quota: BlockQuota
) -> tuple[Shorts, PlacementSummary]:
    """Return the rows of a block after placement, and their summary.

    For `Strategy.REBALANCE_LOG_DIRS` the table holds log directories.
    """
    view = block_view(block, options)
    within = quota.within(options)
    if quota.log_dirs is not None:
        return _place_in_log_dirs(view, within, quota.log_dirs), PlacementSummary()
    if options.strategy is Strategy.STOCK:
        all_partitions = np.ones(block.partitions, np.bool_)
        return apply_move_limits(
            block, kafka_default_targets(view), all_partitions, within
        ), PlacementSummary()
    rows = block.replicas.copy()
    if options.strategy is not Strategy.PREFERRED_LEADERS:
        problem = unbounded_problem(view)
        required = row_any(problem.unassigned)
        rows = apply_move_limits(block, optimize(problem, quota.targets), required, within)
    return rows, _placement_summary(view, quota, rows)


def rebalance_block(
    block: ClusterColumns, options: PlanOptions, quota: BlockQuota, rows: Shorts
) -> tuple[Shorts, PlacementSummary]:
    """Return the same after another turn that begins with ``rows``; no limits apply."""
    view = block_view(block, options)
    rows_again = optimize_again(unbounded_problem(view), rows, quota.targets)
    return rows_again, _placement_summary(view, quota, rows_again)


def _placement_summary(view: ClusterView, quota: BlockQuota, rows: Shorts) -> PlacementSummary:
    return PlacementSummary(
        leaders=count_leaders(view, rows), byte_loads=_byte_loads(view, quota, rows)
    )


def _byte_loads(view: ClusterView, quota: BlockQuota, rows: Shorts) -> PlacedBytes | None:
    columns, amounts = view.columns, view.amounts
    if quota.byte_target is None or quota.has_limit:
        return None
    if amounts is None:
        # Other blocks may know their sizes.
        amounts = np.zeros(columns.partitions, np.int64)
    copies = row_counts(new_replicas(rows, pad_to_width(columns.replicas, rows.shape[1])))
    return PlacedBytes(
        broker_bytes=broker_bytes_of(rows, amounts, columns.brokers.count),
        copied_bytes=int((copies * amounts).sum()),
    )


def assign_leaders(
    block: ClusterColumns, options: PlanOptions, rows: Shorts, replica_targets: ReplicaTargets
) -> None:
    """Reorder ``rows`` so that brokers lead as many partitions as ``replica_targets`` says."""
    balance_leaders(leader_problem_within(block_view(block, options), rows, replica_targets))


def _place_in_log_dirs(view: ClusterView, within: PlanOptions, targets: LogDirTargets) -> Shorts:
    columns = view.columns
    before, table = current_log_dirs(columns), balance_log_dirs(view, targets)
    no_partition = np.zeros(columns.partitions, np.bool_)
    return limit_changes(columns, before, table, lambda: table != before, no_partition, within)
