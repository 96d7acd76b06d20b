"""The steps of planning a block: what runs beside the other blocks, here or on another machine.

Between two steps the surveys of all blocks come together, and each block gets its part of the
whole (`quotas`, `leading`)::

    survey ──► share_out_work ──► place ──► share_out_leaders ──► lead
    each block      once        each block         once         each block
"""

import numpy as np

from ballast.planner.arrays import Shorts, row_any
from ballast.planner.bands import Bands
from ballast.planner.columns import ClusterColumns
from ballast.planner.cutting import cut, cut_table
from ballast.planner.leaders import even_leaders
from ballast.planner.leading import Led, leading_within, led_by
from ballast.planner.log_dirs import LogDirAims, known_log_dirs, level_log_dirs
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.quotas import Quota
from ballast.planner.rearrange import rearrange
from ballast.planner.situation import Situation
from ballast.planner.stock import stock_targets
from ballast.planner.survey import situation_of
from ballast.planner.tasks import shape_of


def place(block: ClusterColumns, options: PlanOptions, quota: Quota) -> tuple[Shorts, Led | None]:
    """Return where a block's replicas are to be, and who comes first in it.

    None = that is not to be changed. Of `Strategy.REBALANCE_LOG_DIRS`, which directories they are
    to be in.
    """
    situation = situation_of(block, options)
    within = quota.within(options)
    if quota.log_dirs is not None:
        return _place_in_log_dirs(situation, within, quota.log_dirs), None
    if options.strategy is Strategy.STOCK:
        everyone = np.ones(block.partitions, np.bool_)
        return cut(block, stock_targets(situation), everyone, within), None
    rows = block.replicas.copy()
    if options.strategy is not Strategy.PREFERRED_LEADERS:
        task = shape_of(situation)
        forced = row_any(task.vacant)
        rows = cut(block, rearrange(task, quota.aims), forced, within)
    return rows, led_by(situation, rows)


def lead(block: ClusterColumns, options: PlanOptions, rows: Shorts, band: Bands) -> None:
    """Bring other replicas to the first places of ``rows``, so many that ``band`` is met."""
    even_leaders(leading_within(situation_of(block, options), rows, band))


def _place_in_log_dirs(situation: Situation, within: PlanOptions, aims: LogDirAims) -> Shorts:
    columns = situation.columns
    before, table = known_log_dirs(columns), level_log_dirs(situation, aims)
    nobody = np.zeros(columns.partitions, np.bool_)
    return cut_table(columns, before, table, lambda: table != before, nobody, within)
