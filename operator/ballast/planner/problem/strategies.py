"""What each strategy asks of `optimize`.

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

from ballast.planner.arrays import Bools, Floats, Ints, Shorts, count_by_index, row_counts
from ballast.planner.errors import OptionsRejected
from ballast.planner.options import Strategy
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.problem import PlacementProblem, ReplicaTotals
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.problem.replica_targets import BalanceBounds, level
from ballast.planner.snapshot.columns import NOWHERE, pad_to_width

_SLICES = 64
"""Replicas are dropped in so many goes, so that each sees what the others have left."""


def placement_problem(situation: ClusterView) -> PlacementProblem:
    """Return the task of a strategy that moves replicas, for a cluster that is planned whole."""
    task = unbounded_problem(situation)
    low, high = replica_bounds(situation, replica_totals(situation, task))
    return replace(task, low=low, high=high)


def unbounded_problem(situation: ClusterView) -> PlacementProblem:
    """Return the task without its ends: what of it some partitions tell without the others."""
    return _SHAPES[situation.options.strategy](situation)


def replica_bounds(situation: ClusterView, tally: ReplicaTotals) -> tuple[Ints, Ints]:
    """Return how many replicas each broker holds at least and at most.

    Of the situation only brokers and options count; ``tally`` is that of all partitions.
    """
    return _ENDS[situation.options.strategy](situation, tally)


def replica_totals(situation: ClusterView, shape: PlacementProblem) -> ReplicaTotals:
    """Return the tally of the partitions of a situation."""
    columns = situation.columns
    brokers = columns.brokers.count
    return ReplicaTotals(
        partitions=columns.partitions,
        by_factor=count_by_index(situation.factors, situation.max_factor + 1),
        held=columns.replica_counts,
        open=count_by_index(columns.replicas[situation.on(_givers(situation))], brokers),
        kept=count_by_index(shape.rows, brokers),
    )


def _givers(situation: ClusterView) -> Bools:
    """Return the brokers that a level may be sought for by taking from them."""
    if situation.options.strategy is Strategy.ADD_BROKERS:
        return situation.in_service & ~situation.chosen
    return situation.usable


def _add_brokers(situation: ClusterView) -> PlacementProblem:
    columns, new = situation.columns, situation.chosen
    closed = np.flatnonzero(new & columns.brokers.cordoned)
    if len(closed):
        broker_id = int(columns.brokers.ids[closed[0]])
        raise OptionsRejected("brokerIds", f"broker {broker_id} is cordoned: it can get nothing")
    return replace(
        _unchanged(situation, situation.rules(situation.in_service)),
        pickable=situation.on(_givers(situation)),
        receivers=new,
    )


def _add_brokers_ends(situation: ClusterView, tally: ReplicaTotals) -> tuple[Ints, Ints]:
    giving = _givers(situation)
    have = tally.held
    stuck = have - tally.open
    everyone = _free_limits(situation, np.where(giving, stuck, have), tally)
    fair = np.ceil(level(everyone, int(have.sum())) - 1e-9).astype(np.int64)
    high = np.where(situation.chosen, np.maximum(have, fair), have)
    return np.where(giving, stuck, have), high


def _remove_brokers(situation: ClusterView) -> PlacementProblem:
    leaving = situation.chosen
    receivers = situation.in_service & ~leaving
    return _rising(situation, situation.on(leaving), leaving, receivers)


def _remove_brokers_ends(situation: ClusterView, tally: ReplicaTotals) -> tuple[Ints, Ints]:
    return _rising_ends(situation.in_service & ~situation.chosen, tally)


def _repair_racks(situation: ClusterView) -> PlacementProblem:
    nobody = np.zeros(situation.columns.brokers.count, np.bool_)
    return _rising(situation, _against_the_rules(situation), nobody, situation.usable)


def _usable_ends(situation: ClusterView, tally: ReplicaTotals) -> tuple[Ints, Ints]:
    return _rising_ends(situation.usable, tally)


def _rebalance(situation: ClusterView) -> PlacementProblem:
    columns = situation.columns
    used = situation.usable
    unassigned = _against_the_rules(situation)
    return replace(
        _unchanged(situation, situation.rules(situation.in_service)),
        rows=_without(columns.replicas, unassigned),
        unassigned=unassigned,
        pickable=situation.on(used) & ~unassigned,
        receivers=used,
    )


def _rebalance_ends(situation: ClusterView, tally: ReplicaTotals) -> tuple[Ints, Ints]:
    have, used = tally.held, situation.usable
    limits = _free_limits(situation, have - tally.open, tally)
    return np.where(used, limits.low, have), np.where(used, limits.high, have)


def _set_replication_factor(situation: ClusterView) -> PlacementProblem:
    factor = situation.options.replication_factor
    assert factor is not None, "the options demand it for this strategy"
    rules = situation.rules(situation.in_service)
    rows = pad_to_width(situation.columns.replicas, factor).copy()
    factors = np.where(situation.movable, factor, situation.factors).astype(np.int32)
    _drop(situation, rows, factors, rules)
    lacking = factors - row_counts(rows >= 0)
    empty = rows < 0
    unassigned = empty & (np.cumsum(empty, axis=1) <= lacking[:, None])
    return replace(
        _unchanged(situation, rules),
        origins=pad_to_width(situation.columns.replicas, rows.shape[1]),
        rows=rows,
        factors=factors,
        unassigned=unassigned,
        pickable=np.zeros(rows.shape, np.bool_),
        receivers=situation.usable,
    )


_SHAPES: Mapping[Strategy, Callable[[ClusterView], PlacementProblem]] = {
    Strategy.ADD_BROKERS: _add_brokers,
    Strategy.REMOVE_BROKERS: _remove_brokers,
    Strategy.REBALANCE: _rebalance,
    Strategy.SET_REPLICATION_FACTOR: _set_replication_factor,
    Strategy.REPAIR_RACKS: _repair_racks,
}
_ENDS: Mapping[Strategy, Callable[[ClusterView, ReplicaTotals], tuple[Ints, Ints]]] = {
    Strategy.ADD_BROKERS: _add_brokers_ends,
    Strategy.REMOVE_BROKERS: _remove_brokers_ends,
    Strategy.REBALANCE: _rebalance_ends,
    Strategy.SET_REPLICATION_FACTOR: _usable_ends,
    Strategy.REPAIR_RACKS: _usable_ends,
}


def _rising(
    situation: ClusterView, unassigned: Bools, leaving: Bools, receivers: Bools
) -> PlacementProblem:
    """Return the task to place what is vacant, while nothing else moves."""
    return replace(
        _unchanged(situation, situation.rules(situation.in_service & ~leaving)),
        rows=_without(situation.columns.replicas, unassigned),
        unassigned=unassigned,
        receivers=receivers,
        retainers=~leaving,
    )


def _rising_ends(receivers: Bools, tally: ReplicaTotals) -> tuple[Ints, Ints]:
    return tally.kept, np.where(receivers, tally.partitions, tally.kept)


def _unchanged(situation: ClusterView, rules: RackRules) -> PlacementProblem:
    """Return the task in which nothing may move."""
    columns, amounts = situation.columns, situation.amounts
    nothing = np.zeros(columns.replicas.shape, np.bool_)
    return PlacementProblem(
        columns=columns,
        origins=columns.replicas,
        rows=columns.replicas,
        unassigned=nothing,
        factors=situation.factors,
        pickable=nothing,
        receivers=np.zeros(columns.brokers.count, np.bool_),
        retainers=np.ones(columns.brokers.count, np.bool_),
        low=columns.replica_counts,
        high=columns.replica_counts,
        weights=situation.weights,
        rules=rules,
        repairs=situation.options.strategy in (Strategy.REBALANCE, Strategy.REPAIR_RACKS),
        seed=situation.options.seed,
        sizes=amounts if amounts is not None and bool(amounts.any()) else None,
    )


def _without(rows: Shorts, unassigned: Bools) -> Shorts:
    return np.where(unassigned, NOWHERE, rows).astype(np.int32)


def _free_limits(situation: ClusterView, low: Ints, tally: ReplicaTotals) -> BalanceBounds:
    """Return the limits of a level that all brokers in service may be brought to."""
    in_service, have = situation.in_service, tally.held
    has_racks = situation.has_racks
    rules = situation.rules(in_service)
    high = np.where(in_service, np.maximum(tally.partitions, low), have)
    none = np.zeros(1, np.int64)
    racks = rules.racks if has_racks else np.zeros(len(have), np.int64)

    def by_rack(amounts: Ints) -> Ints:
        return np.bincount(racks, amounts, minlength=rules.count).astype(np.int64)

    low = np.where(in_service, low, have)
    rack_low, rack_high = tally.by_factor @ rules.floors, tally.by_factor @ rules.tops
    return BalanceBounds(
        weights=situation.weights,
        low=low,
        high=high,
        racks=racks,
        rack_low=np.minimum(rack_low, by_rack(high)) if has_racks else none,
        rack_high=np.maximum(rack_high, by_rack(low)) if has_racks else none + 2**62,
    )


def _against_the_rules(situation: ClusterView) -> Bools:
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


def _drop(situation: ClusterView, rows: Shorts, factors: Shorts, rules: RackRules) -> None:
    """Take out replicas of partitions that have too many: from the fullest, never the leader."""
    lines = np.flatnonzero(row_counts(rows >= 0) > factors)
    held = count_by_index(rows, situation.columns.brokers.count)
    for first in range(_SLICES):
        some = lines[first::_SLICES]
        fixed = np.zeros((len(some), rows.shape[1]), np.bool_)
        fixed[:, 0] = True
        surplus = rules.excess(rows[some], factors[some], _load(situation, held), fixed)
        held -= count_by_index(rows[some][surplus], len(held))
        kept = np.where(surplus, -1, rows[some])
        order = np.argsort(kept < 0, axis=1, kind="stable")
        rows[some] = np.take_along_axis(kept, order, axis=1)


def _load(situation: ClusterView, held: Ints) -> Floats:
    return held / np.maximum(situation.weights, 1e-9)
