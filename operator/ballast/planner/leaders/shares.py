"""How many partitions each broker is to come first in, and in which partitions that may change.

For a cluster that is planned whole, and for blocks: a block tells how much it leads (`Led`), and
what brokers lead too much or too little in all is shared out to the blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Ints, Shorts, counted, row_any
from ballast.planner.integer_tables import apportioned_columns, dealt
from ballast.planner.leaders.balance import Leading
from ballast.planner.options import Strategy
from ballast.planner.problem.cluster_view import Situation
from ballast.planner.problem.replica_targets import Bands, Limits, bands
from ballast.planner.snapshot.columns import widened


@dataclass(frozen=True, kw_only=True, eq=False)
class Led:
    """Who comes first in some partitions; those of others may be added."""

    partitions: int
    led: Ints
    """By broker: partitions in which it is first …"""
    open: Ints
    """… of those, in which another replica may be first instead …"""
    shared: Ints
    """… and partitions in which it might be first."""


def led_by(situation: Situation, rows: Shorts) -> Led:
    """Return who comes first in the rows of a situation."""
    count = situation.columns.brokers.count
    open_rows = rows[_changeable(situation, rows)]
    return Led(
        partitions=len(rows),
        led=counted(rows[:, 0], count),
        open=counted(open_rows[:, 0], count),
        shared=counted(open_rows, count),
    )


def leading_of(situation: Situation, rows: Shorts) -> Leading:
    """Return who may come first where, for a cluster that is planned whole."""
    return leading_within(situation, rows, leader_bands(situation, led_by(situation, rows)))


def leading_within(situation: Situation, rows: Shorts, band: Bands) -> Leading:
    """Return who may come first where, and how many each broker is to lead."""
    return Leading(
        rows=rows,
        changeable=_changeable(situation, rows),
        takers=_takers(situation),
        target=band.target,
        low=band.low,
        high=band.high,
        seed=situation.options.seed,
    )


def leader_bands(situation: Situation, all_led: Led) -> Bands:
    """Return how many partitions each broker is to lead, of all.

    Of the situation only brokers and options count.
    """
    led = all_led.led
    count = len(led)
    led_anyway = led - all_led.open
    limits = Limits(
        weights=situation.weights,
        low=led_anyway,
        high=np.where(_takers(situation), led_anyway + all_led.shared, led),
        racks=np.zeros(count, np.int64),
        rack_low=np.zeros(1, np.int64),
        rack_high=np.full(1, all_led.partitions),
    )
    return bands(limits, led, all_led.partitions)


def share_out_leaders(situation: Situation, blocks: Sequence[Led]) -> list[Bands]:
    """Return how many partitions each broker is to lead in each block.

    Of the situation only brokers and options count.
    """
    led = np.stack([one.led for one in blocks])
    can_give = np.stack([one.open for one in blocks])
    everything = Led(
        partitions=sum(one.partitions for one in blocks),
        led=led.sum(axis=0),
        open=can_give.sum(axis=0),
        shared=np.sum([one.shared for one in blocks], axis=0),
    )
    target = leader_bands(situation, everything).target
    surplus = np.minimum(np.maximum(everything.led - target, 0), everything.open)
    gives = apportioned_columns(can_give, surplus)
    want = np.where(_takers(situation), np.maximum(target - everything.led, 0), 0)
    one_group = np.zeros(len(want), np.int64)
    targets = led - gives + dealt(want, one_group, gives.sum(axis=1)[:, None])
    return [Bands(target=one, low=one, high=one) for one in targets]


def _takers(situation: Situation) -> Bools:
    taking = situation.in_service.copy()
    levels_all = situation.options.strategy in (Strategy.REBALANCE, Strategy.PREFERRED_LEADERS)
    if levels_all and situation.options.broker_ids:
        taking &= situation.chosen
    return taking


def _changeable(situation: Situation, rows: Shorts) -> Bools:
    """Return in which partitions another replica may come first."""
    strategy = situation.options.strategy
    origins = widened(situation.columns.replicas, rows.shape[1])
    if strategy is Strategy.ADD_BROKERS:
        # Whatever changes anyway may get another first replica, so that all are level.
        return row_any(rows != origins)
    if strategy in (Strategy.REBALANCE, Strategy.PREFERRED_LEADERS):
        return situation.movable
    # A leader that stays, stays; where it goes, whoever leads least of those that are there.
    return np.asarray(rows[:, 0] != origins[:, 0])
