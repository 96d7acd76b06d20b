"""From a snapshot and options to a plan: where every replica is to be, and who comes first.

Pure: the same cluster, options and seed give the same plan, in whatever order the cluster was
written down.
"""

import numpy as np

from ballast.planner.arrays import Bools, Ints, Shorts, counted
from ballast.planner.bands import Bands, Limits, bands
from ballast.planner.columns import ClusterColumns, widened
from ballast.planner.cutting import cut
from ballast.planner.leaders import Leading, even_leaders
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.rearrange import rearrange
from ballast.planner.situation import Situation
from ballast.planner.stock import stock_targets
from ballast.planner.tasks import task_of


def plan_targets(columns: ClusterColumns, options: PlanOptions) -> Shorts:
    """Return the replicas that every partition shall have, as `ClusterColumns.replicas`.

    Raises `OptionsRejected` and `Infeasible`.
    """
    situation = Situation(columns, options)
    if options.strategy is Strategy.STOCK:
        everyone = np.ones(columns.partitions, np.bool_)
        return cut(columns, stock_targets(situation), everyone, options)
    rows = columns.replicas.copy()
    if options.strategy is not Strategy.PREFERRED_LEADERS:
        task = task_of(situation)
        rows = cut(columns, rearrange(task), np.asarray(task.vacant.any(axis=1)), options)
    even_leaders(_leading(situation, rows))
    return rows


def _leading(situation: Situation, rows: Shorts) -> Leading:
    """Return who may come first where, and how many each broker is to lead."""
    columns, strategy = situation.columns, situation.options.strategy
    origins = widened(columns.replicas, rows.shape[1])
    taking = situation.in_service.copy()
    if strategy is Strategy.ADD_BROKERS:
        # Whatever changes anyway may get another first replica, so that all are level.
        changeable = (rows != origins).any(axis=1)
    elif strategy in (Strategy.REBALANCE, Strategy.PREFERRED_LEADERS):
        if situation.options.broker_ids:
            taking &= situation.chosen
        changeable = situation.movable
    else:
        # A leader that stays, stays; where it goes, whoever leads least of those that are there.
        changeable = rows[:, 0] != origins[:, 0]
    led = counted(rows[:, 0], columns.brokers.count)
    band = _leader_bands(situation, rows, changeable, taking, led)
    return Leading(
        rows=rows,
        changeable=changeable,
        takers=taking,
        target=band.target,
        low=band.low,
        high=band.high,
        seed=situation.options.seed,
    )


def _leader_bands(
    situation: Situation, rows: Shorts, changeable: Bools, taking: Bools, led: Ints
) -> Bands:
    count = len(led)
    open_rows = rows[changeable]
    led_anyway = led - counted(open_rows[:, 0], count)
    most = led_anyway + counted(open_rows, count)
    limits = Limits(
        weights=situation.weights,
        low=led_anyway,
        high=np.where(taking, most, led),
        racks=np.zeros(count, np.int64),
        rack_low=np.zeros(1, np.int64),
        rack_high=np.full(1, len(rows)),
    )
    return bands(limits, led, len(rows))
