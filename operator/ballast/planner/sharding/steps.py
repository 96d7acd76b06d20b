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
from ballast.planner.leaders.balance import even_leaders
from ballast.planner.leaders.shares import Led, leading_within, led_by
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.kafka_default import stock_targets
from ballast.planner.placement.log_dirs import LogDirAims, known_log_dirs, level_log_dirs
from ballast.planner.placement.optimize import rearrange, rearrange_again
from ballast.planner.problem.cluster_view import Situation
from ballast.planner.problem.limits import bytes_of
from ballast.planner.problem.move_limits import added, cut, cut_table
from ballast.planner.problem.replica_targets import Bands
from ballast.planner.problem.strategies import shape_of
from ballast.planner.sharding.block_quotas import Quota
from ballast.planner.sharding.block_summary import situation_of
from ballast.planner.sharding.cross_block_balance import PlacedBytes
from ballast.planner.snapshot.columns import ClusterColumns, widened


@dataclass(frozen=True, kw_only=True, eq=False)
class Placed:
    """What a block tells of its replicas when they have places."""

    led: Led | None = None
    """Who comes first; None = that is not to be changed."""
    of_bytes: PlacedBytes | None = None
    """None = they are not to be levelled any further."""


def place(block: ClusterColumns, options: PlanOptions, quota: Quota) -> tuple[Shorts, Placed]:
    """Return where a block's replicas are to be, and what it tells of them.

    Of `Strategy.REBALANCE_LOG_DIRS`, which directories they are to be in.
    """
    situation = situation_of(block, options)
    within = quota.within(options)
    if quota.log_dirs is not None:
        return _place_in_log_dirs(situation, within, quota.log_dirs), Placed()
    if options.strategy is Strategy.STOCK:
        everyone = np.ones(block.partitions, np.bool_)
        return cut(block, stock_targets(situation), everyone, within), Placed()
    rows = block.replicas.copy()
    if options.strategy is not Strategy.PREFERRED_LEADERS:
        task = shape_of(situation)
        forced = row_any(task.vacant)
        rows = cut(block, rearrange(task, quota.aims), forced, within)
    return rows, _placed(situation, quota, rows)


def even_out(
    block: ClusterColumns, options: PlanOptions, quota: Quota, rows: Shorts
) -> tuple[Shorts, Placed]:
    """Return the same for another turn from ``rows`` on, without limits on what moves."""
    situation = situation_of(block, options)
    again = rearrange_again(shape_of(situation), rows, quota.aims)
    return again, _placed(situation, quota, again)


def _placed(situation: Situation, quota: Quota, rows: Shorts) -> Placed:
    return Placed(led=led_by(situation, rows), of_bytes=_placed_bytes(situation, quota, rows))


def _placed_bytes(situation: Situation, quota: Quota, rows: Shorts) -> PlacedBytes | None:
    columns, amounts = situation.columns, situation.amounts
    if quota.byte_target is None or quota.has_limit:
        return None
    if amounts is None:
        # Other blocks may know theirs.
        amounts = np.zeros(columns.partitions, np.int64)
    copies = row_counts(added(rows, widened(columns.replicas, rows.shape[1])))
    return PlacedBytes(
        held=bytes_of(rows, amounts, columns.brokers.count),
        copied=int((copies * amounts).sum()),
    )


def lead(block: ClusterColumns, options: PlanOptions, rows: Shorts, band: Bands) -> None:
    """Bring other replicas to the first places of ``rows``, so many that ``band`` is met."""
    even_leaders(leading_within(situation_of(block, options), rows, band))


def _place_in_log_dirs(situation: Situation, within: PlanOptions, aims: LogDirAims) -> Shorts:
    columns = situation.columns
    before, table = known_log_dirs(columns), level_log_dirs(situation, aims)
    nobody = np.zeros(columns.partitions, np.bool_)
    return cut_table(columns, before, table, lambda: table != before, nobody, within)
