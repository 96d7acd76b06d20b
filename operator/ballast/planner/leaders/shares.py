"""How many partitions each broker is to come first in, and in which partitions that may change.

For a cluster that is planned whole, and for blocks: each block reports its `LeaderCounts`. The sum
shows which brokers lead too many or too few, and each block gets a part of the difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Ints, Shorts, count_by_index, row_any
from ballast.planner.integer_tables import apportion_columns, distribute_slots
from ballast.planner.leaders.balance import LeaderProblem
from ballast.planner.options import Strategy
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.replica_targets import BalanceBounds, ReplicaTargets, balanced_targets
from ballast.planner.snapshot.columns import pad_to_width


@dataclass(frozen=True, kw_only=True, eq=False)
class LeaderCounts:
    """Who comes first in some partitions; those of others may be added."""

    partitions: int
    led: Ints
    """By broker: partitions in which it is first …"""
    open: Ints
    """… of those, in which another replica may be first instead …"""
    shared: Ints
    """… and partitions in which it might be first."""


def count_leaders(situation: ClusterView, rows: Shorts) -> LeaderCounts:
    """Return who comes first in the rows of a situation."""
    count = situation.columns.brokers.count
    open_rows = rows[_changeable(situation, rows)]
    return LeaderCounts(
        partitions=len(rows),
        led=count_by_index(rows[:, 0], count),
        open=count_by_index(open_rows[:, 0], count),
        shared=count_by_index(open_rows, count),
    )


def leader_problem(situation: ClusterView, rows: Shorts) -> LeaderProblem:
    """Return who may come first where, for a cluster that is planned whole."""
    return leader_problem_within(
        situation, rows, leader_targets(situation, count_leaders(situation, rows))
    )


def leader_problem_within(
    situation: ClusterView, rows: Shorts, band: ReplicaTargets
) -> LeaderProblem:
    """Return who may come first where, and how many each broker is to lead."""
    return LeaderProblem(
        rows=rows,
        changeable=_changeable(situation, rows),
        receivers=_receivers(situation),
        target=band.target,
        low=band.low,
        high=band.high,
        seed=situation.options.seed,
    )


def leader_targets(situation: ClusterView, all_led: LeaderCounts) -> ReplicaTargets:
    """Return how many partitions each broker is to lead, of all.

    Of the situation only brokers and options count.
    """
    led = all_led.led
    count = len(led)
    led_anyway = led - all_led.open
    limits = BalanceBounds(
        weights=situation.weights,
        low=led_anyway,
        high=np.where(_receivers(situation), led_anyway + all_led.shared, led),
        racks=np.zeros(count, np.int64),
        rack_low=np.zeros(1, np.int64),
        rack_high=np.full(1, all_led.partitions),
    )
    return balanced_targets(limits, led, all_led.partitions)


def block_leader_targets(
    situation: ClusterView, blocks: Sequence[LeaderCounts]
) -> list[ReplicaTargets]:
    """Return how many partitions each broker is to lead in each block.

    Of the situation only brokers and options count.
    """
    led = np.stack([one.led for one in blocks])
    can_give = np.stack([one.open for one in blocks])
    everything = LeaderCounts(
        partitions=sum(one.partitions for one in blocks),
        led=led.sum(axis=0),
        open=can_give.sum(axis=0),
        shared=np.sum([one.shared for one in blocks], axis=0),
    )
    target = leader_targets(situation, everything).target
    surplus = np.minimum(np.maximum(everything.led - target, 0), everything.open)
    gives = apportion_columns(can_give, surplus)
    want = np.where(_receivers(situation), np.maximum(target - everything.led, 0), 0)
    one_group = np.zeros(len(want), np.int64)
    targets = led - gives + distribute_slots(want, one_group, gives.sum(axis=1)[:, None])
    return [ReplicaTargets(target=one, low=one, high=one) for one in targets]


def _receivers(situation: ClusterView) -> Bools:
    taking = situation.in_service.copy()
    levels_all = situation.options.strategy in (Strategy.REBALANCE, Strategy.PREFERRED_LEADERS)
    if levels_all and situation.options.broker_ids:
        taking &= situation.chosen
    return taking


def _changeable(situation: ClusterView, rows: Shorts) -> Bools:
    """Return in which partitions another replica may come first."""
    strategy = situation.options.strategy
    origins = pad_to_width(situation.columns.replicas, rows.shape[1])
    if strategy is Strategy.ADD_BROKERS:
        # Whatever changes anyway may get another first replica, so that all are level.
        return row_any(rows != origins)
    if strategy in (Strategy.REBALANCE, Strategy.PREFERRED_LEADERS):
        return situation.movable
    # A leader that stays, stays; where it goes, whoever leads least of those that are there.
    return np.asarray(rows[:, 0] != origins[:, 0])
