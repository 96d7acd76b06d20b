"""What each strategy asks of `rearrange`.

| strategy | replicas that move | who gains | levels |
|---|---|---|---|
| AddBrokers | surplus of the others | the new brokers | up to a fair share of all |
| RemoveBrokers | those on the leaving | all others, the emptiest first | rise only |
| Rebalance | surplus, and what shares a rack | all that may be used | to one level |
| SetReplicationFactor | what is added | all, the emptiest first | rise only |
| RepairRacks | what shares a rack | all, the emptiest first | rise only |
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints, Shorts, counted
from ballast.planner.bands import Limits, level
from ballast.planner.columns import NOWHERE, widened
from ballast.planner.errors import OptionsRejected
from ballast.planner.options import Strategy
from ballast.planner.rack_rules import RackRules
from ballast.planner.situation import Situation
from ballast.planner.task import Task

_SLICES = 64
"""Replicas are dropped in so many goes, so that each sees what the others have left."""


def task_of(situation: Situation) -> Task:
    """Return the task of a strategy that moves replicas."""
    return _TASKS[situation.options.strategy](situation)


def _add_brokers(situation: Situation) -> Task:
    columns, new = situation.columns, situation.chosen
    closed = np.flatnonzero(new & columns.brokers.cordoned)
    if len(closed):
        broker_id = int(columns.brokers.ids[closed[0]])
        raise OptionsRejected("brokerIds", f"broker {broker_id} is cordoned: it can get nothing")
    giving = situation.in_service & ~new
    rules = situation.rules(situation.in_service)
    have = columns.replica_counts
    stuck = have - counted(columns.replicas[situation.on(giving)], len(have))
    everyone = _free_limits(situation, rules, np.where(giving, stuck, have), have)
    fair = np.ceil(level(everyone, int(have.sum())) - 1e-9).astype(np.int64)
    return replace(
        _unchanged(situation, rules),
        pickable=situation.on(giving),
        takers=new,
        low=np.where(giving, stuck, have),
        high=np.where(new, np.maximum(have, fair), have),
    )


def _remove_brokers(situation: Situation) -> Task:
    leaving = situation.chosen
    takers = situation.in_service & ~leaving
    return _rising(situation, situation.on(leaving), leaving, takers)


def _repair_racks(situation: Situation) -> Task:
    nobody = np.zeros(situation.columns.brokers.count, np.bool_)
    return _rising(situation, _against_the_rules(situation), nobody, situation.usable)


def _rebalance(situation: Situation) -> Task:
    columns = situation.columns
    used = situation.usable
    rules = situation.rules(situation.in_service)
    have = columns.replica_counts
    pickable = situation.on(used)
    stuck = have - counted(columns.replicas[pickable], len(have))
    vacant = _against_the_rules(situation)
    limits = _free_limits(situation, rules, stuck, have)
    return replace(
        _unchanged(situation, rules),
        rows=_without(columns.replicas, vacant),
        vacant=vacant,
        pickable=pickable & ~vacant,
        takers=used,
        low=np.where(used, limits.low, have),
        high=np.where(used, limits.high, have),
    )


def _set_replication_factor(situation: Situation) -> Task:
    factor = situation.options.replication_factor
    assert factor is not None, "the options demand it for this strategy"
    rules = situation.rules(
        situation.in_service, max(factor, int(situation.factors.max(initial=1)))
    )
    rows = widened(situation.columns.replicas, factor).copy()
    factors = np.where(situation.movable, factor, situation.factors).astype(np.int32)
    _drop(situation, rows, factors, rules)
    lacking = factors - (rows >= 0).sum(axis=1)
    empty = rows < 0
    vacant = empty & (np.cumsum(empty, axis=1) <= lacking[:, None])
    have = counted(rows, situation.columns.brokers.count)
    used = situation.usable
    return replace(
        _unchanged(situation, rules),
        origins=widened(situation.columns.replicas, rows.shape[1]),
        rows=rows,
        factors=factors,
        vacant=vacant,
        pickable=np.zeros(rows.shape, np.bool_),
        takers=used,
        low=have,
        high=np.where(used, len(rows), have),
    )


_TASKS: Mapping[Strategy, Callable[[Situation], Task]] = {
    Strategy.ADD_BROKERS: _add_brokers,
    Strategy.REMOVE_BROKERS: _remove_brokers,
    Strategy.REBALANCE: _rebalance,
    Strategy.SET_REPLICATION_FACTOR: _set_replication_factor,
    Strategy.REPAIR_RACKS: _repair_racks,
}


def _rising(situation: Situation, vacant: Bools, leaving: Bools, takers: Bools) -> Task:
    """Return the task to place what is vacant, while nothing else moves."""
    columns = situation.columns
    have = columns.replica_counts - counted(columns.replicas[vacant], len(leaving))
    return replace(
        _unchanged(situation, situation.rules(situation.in_service & ~leaving)),
        rows=_without(columns.replicas, vacant),
        vacant=vacant,
        takers=takers,
        keepers=~leaving,
        low=have,
        high=np.where(takers, columns.partitions, have),
    )


def _unchanged(situation: Situation, rules: RackRules) -> Task:
    """Return the task in which nothing may move."""
    columns = situation.columns
    nothing = np.zeros(columns.replicas.shape, np.bool_)
    return Task(
        columns=columns,
        origins=columns.replicas,
        rows=columns.replicas,
        vacant=nothing,
        factors=situation.factors,
        pickable=nothing,
        takers=np.zeros(columns.brokers.count, np.bool_),
        keepers=np.ones(columns.brokers.count, np.bool_),
        low=columns.replica_counts,
        high=columns.replica_counts,
        weights=situation.weights,
        rules=rules,
        repairs=situation.options.strategy in (Strategy.REBALANCE, Strategy.REPAIR_RACKS),
        seed=situation.options.seed,
    )


def _without(rows: Shorts, vacant: Bools) -> Shorts:
    return np.where(vacant, NOWHERE, rows).astype(np.int32)


def _free_limits(situation: Situation, rules: RackRules, low: Ints, have: Ints) -> Limits:
    """Return the limits of a level that all brokers in service may be brought to."""
    in_service = situation.in_service
    has_racks = situation.has_racks
    high = np.where(in_service, np.maximum(situation.columns.partitions, low), have)
    by_factor = counted(situation.factors, len(rules.floors))
    none = np.zeros(1, np.int64)
    racks = rules.racks if has_racks else np.zeros(len(have), np.int64)

    def by_rack(amounts: Ints) -> Ints:
        return np.bincount(racks, amounts, minlength=rules.count).astype(np.int64)

    low = np.where(in_service, low, have)
    return Limits(
        weights=situation.weights,
        low=low,
        high=high,
        racks=racks,
        rack_low=np.minimum(by_factor @ rules.floors, by_rack(high)) if has_racks else none,
        rack_high=np.maximum(by_factor @ rules.tops, by_rack(low)) if has_racks else none + 2**62,
    )


def _against_the_rules(situation: Situation) -> Bools:
    """Return which replicas have to move so that every partition is in order by racks."""
    columns = situation.columns
    pickable = situation.on(situation.usable)
    excess = situation.rules(situation.in_service).excess(
        columns.replicas,
        situation.factors,
        _load(situation, columns.replica_counts),
        situation.held & ~pickable,
    )
    return excess & pickable


def _drop(situation: Situation, rows: Shorts, factors: Shorts, rules: RackRules) -> None:
    """Take out replicas of partitions that have too many: from the fullest, never the leader."""
    lines = np.flatnonzero((rows >= 0).sum(axis=1) > factors)
    held = counted(rows, situation.columns.brokers.count)
    for first in range(_SLICES):
        some = lines[first::_SLICES]
        fixed = np.zeros((len(some), rows.shape[1]), np.bool_)
        fixed[:, 0] = True
        surplus = rules.excess(rows[some], factors[some], _load(situation, held), fixed)
        held -= counted(rows[some][surplus], len(held))
        kept = np.where(surplus, -1, rows[some])
        order = np.argsort(kept < 0, axis=1, kind="stable")
        rows[some] = np.take_along_axis(kept, order, axis=1)


def _load(situation: Situation, held: Ints) -> Floats:
    return held / np.maximum(situation.weights, 1e-9)
