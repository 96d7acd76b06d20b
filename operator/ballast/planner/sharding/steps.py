"""The steps of planning a block: what runs beside the other blocks, here or on another machine.

Between two steps the surveys of all blocks come together, and each block gets its part of the
whole (`quotas`, `leading`)::

    survey ──► share_out_work ──► place ──► share_out_leaders ──► lead
    each block      once        each block         once         each block

Where blocks leave bytes uneven together, there is another turn before leaders are shared out::

    place ──► share_out_excess ──► even_out
"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Shorts, row_any, row_counts
from ballast.planner.leaders.balance import balance_leaders
from ballast.planner.leaders.shares import LeaderCounts, count_leaders, leader_problem_within
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.kafka_default import kafka_default_targets
from ballast.planner.placement.log_dirs import LogDirTargets, balance_log_dirs, known_log_dirs
from ballast.planner.placement.optimize import optimize, optimize_again
from ballast.planner.problem.balance_bounds import bytes_of
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
    """What a block tells of its replicas when they have places."""

    led: LeaderCounts | None = None
    """Who comes first; None = that is not to be changed."""
    of_bytes: PlacedBytes | None = None
    """None = they are not to be levelled any further."""


def place_block(
    block: ClusterColumns, options: PlanOptions, quota: BlockQuota
) -> tuple[Shorts, PlacementSummary]:
    """Return where a block's replicas are to be, and what it tells of them.

    Of `Strategy.REBALANCE_LOG_DIRS`, which directories they are to be in.
    """
    situation = block_view(block, options)
    within = quota.within(options)
    if quota.log_dirs is not None:
        return _place_in_log_dirs(situation, within, quota.log_dirs), PlacementSummary()
    if options.strategy is Strategy.STOCK:
        everyone = np.ones(block.partitions, np.bool_)
        return apply_move_limits(
            block, kafka_default_targets(situation), everyone, within
        ), PlacementSummary()
    rows = block.replicas.copy()
    if options.strategy is not Strategy.PREFERRED_LEADERS:
        task = unbounded_problem(situation)
        forced = row_any(task.unassigned)
        rows = apply_move_limits(block, optimize(task, quota.aims), forced, within)
    return rows, _placed(situation, quota, rows)


def rebalance_block(
    block: ClusterColumns, options: PlanOptions, quota: BlockQuota, rows: Shorts
) -> tuple[Shorts, PlacementSummary]:
    """Return the same for another turn from ``rows`` on, without limits on what moves."""
    situation = block_view(block, options)
    again = optimize_again(unbounded_problem(situation), rows, quota.aims)
    return again, _placed(situation, quota, again)


def _placed(situation: ClusterView, quota: BlockQuota, rows: Shorts) -> PlacementSummary:
    return PlacementSummary(
        led=count_leaders(situation, rows), of_bytes=_placed_bytes(situation, quota, rows)
    )


def _placed_bytes(situation: ClusterView, quota: BlockQuota, rows: Shorts) -> PlacedBytes | None:
    columns, amounts = situation.columns, situation.amounts
    if quota.byte_target is None or quota.has_limit:
        return None
    if amounts is None:
        # Other blocks may know theirs.
        amounts = np.zeros(columns.partitions, np.int64)
    copies = row_counts(new_replicas(rows, pad_to_width(columns.replicas, rows.shape[1])))
    return PlacedBytes(
        held=bytes_of(rows, amounts, columns.brokers.count),
        copied=int((copies * amounts).sum()),
    )


def assign_leaders(
    block: ClusterColumns, options: PlanOptions, rows: Shorts, band: ReplicaTargets
) -> None:
    """Bring other replicas to the first places of ``rows``, so many that ``band`` is met."""
    balance_leaders(leader_problem_within(block_view(block, options), rows, band))


def _place_in_log_dirs(situation: ClusterView, within: PlanOptions, aims: LogDirTargets) -> Shorts:
    columns = situation.columns
    before, table = known_log_dirs(columns), balance_log_dirs(situation, aims)
    nobody = np.zeros(columns.partitions, np.bool_)
    return limit_changes(columns, before, table, lambda: table != before, nobody, within)
