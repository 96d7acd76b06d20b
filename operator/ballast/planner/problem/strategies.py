"""What each strategy asks of `placement.optimize`, as a `PlacementProblem`.

| strategy | replicas that move | receivers | balance |
|---|---|---|---|
| AddBrokers | surplus of the other brokers | the new brokers | up to a fair share of all |
| RemoveBrokers | those on the removed brokers | the others, the emptiest first | counts only rise |
| Rebalance | surplus, and rack violations | all that may be used | all to one level |
| SetReplicationFactor | added replicas | all, the emptiest first | counts only rise |
| RepairRacks | rack violations | all, the emptiest first | counts only rise |

Example, brokers 1, 2 with 3 replicas each and a new broker 3. `AddBrokers` of 3: the fair share is
2, so broker 3 holds at most 2 replicas, brokers 1 and 2 hold 0 to 3 each. `RemoveBrokers` of 2 with
brokers 1 and 3 left: the 3 replicas of broker 2 are unassigned, broker 1 holds at least its 3.

A problem has two parts, since a block knows only its own partitions: `unbounded_problem` depends on
the partitions, `replica_bounds` only on totals, which may be sums over blocks.

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
from ballast.planner.problem.replica_targets import BalanceBounds, fair_shares
from ballast.planner.snapshot.columns import NOWHERE, pad_to_width

_SLICES = 64
"""Replicas are dropped in this number of rounds; each round uses the counts left by the others."""


def placement_problem(view: ClusterView) -> PlacementProblem:
    """Return the problem of a strategy that moves replicas, for a cluster that is one block."""
    problem = unbounded_problem(view)
    low, high = replica_bounds(view, replica_totals(view, problem))
    return replace(problem, low=low, high=high)


def unbounded_problem(view: ClusterView) -> PlacementProblem:
    """Return the problem without its bounds: the part that depends on the partitions alone."""
    return _PROBLEMS[view.options.strategy](view)


def replica_bounds(view: ClusterView, totals: ReplicaTotals) -> tuple[Ints, Ints]:
    """Return the least and the largest number of replicas of each broker.

    Of the view only brokers and options count; ``totals`` is that of all partitions.
    """
    return _BOUNDS[view.options.strategy](view, totals)


def replica_totals(view: ClusterView, problem: PlacementProblem) -> ReplicaTotals:
    """Return the totals of the partitions of a view."""
    columns = view.columns
    brokers = columns.brokers.count
    return ReplicaTotals(
        partitions=columns.partitions,
        partitions_by_factor=count_by_index(view.factors, view.factor_max + 1),
        replica_counts=columns.replica_counts,
        movable_counts=count_by_index(
            columns.replicas[view.replicas_on(_source_brokers(view))], brokers
        ),
        assigned_counts=count_by_index(problem.rows, brokers),
    )


def _source_brokers(view: ClusterView) -> Bools:
    """Return the brokers that may give replicas for the sake of balance."""
    if view.options.strategy is Strategy.ADD_BROKERS:
        return view.in_service & ~view.named
    return view.usable


def _add_brokers(view: ClusterView) -> PlacementProblem:
    columns, new = view.columns, view.named
    cordoned = np.flatnonzero(new & columns.brokers.cordoned)
    if len(cordoned):
        broker_id = int(columns.brokers.ids[cordoned[0]])
        raise OptionsRejected("brokerIds", f"broker {broker_id} is cordoned: it can get nothing")
    return replace(
        _static_problem(view, view.rules(view.in_service)),
        movable=view.replicas_on(_source_brokers(view)),
        receivers=new,
    )


def _add_brokers_bounds(view: ClusterView, totals: ReplicaTotals) -> tuple[Ints, Ints]:
    sources = _source_brokers(view)
    replica_counts = totals.replica_counts
    immovable = replica_counts - totals.movable_counts
    bounds = _service_bounds(view, np.where(sources, immovable, replica_counts), totals)
    fair = np.ceil(fair_shares(bounds, int(replica_counts.sum())) - 1e-9).astype(np.int64)
    high = np.where(view.named, np.maximum(replica_counts, fair), replica_counts)
    return np.where(sources, immovable, replica_counts), high


def _remove_brokers(view: ClusterView) -> PlacementProblem:
    leaving = view.named
    receivers = view.in_service & ~leaving
    return _fill_problem(view, view.replicas_on(leaving), leaving, receivers)


def _remove_brokers_bounds(view: ClusterView, totals: ReplicaTotals) -> tuple[Ints, Ints]:
    return _fill_bounds(view.in_service & ~view.named, totals)


def _repair_racks(view: ClusterView) -> PlacementProblem:
    no_broker = np.zeros(view.columns.brokers.count, np.bool_)
    return _fill_problem(view, _rack_violations(view), no_broker, view.usable)


def _usable_bounds(view: ClusterView, totals: ReplicaTotals) -> tuple[Ints, Ints]:
    return _fill_bounds(view.usable, totals)


def _rebalance(view: ClusterView) -> PlacementProblem:
    columns = view.columns
    usable = view.usable
    unassigned = _rack_violations(view)
    return replace(
        _static_problem(view, view.rules(view.in_service)),
        rows=_cleared(columns.replicas, unassigned),
        unassigned=unassigned,
        movable=view.replicas_on(usable) & ~unassigned,
        receivers=usable,
    )


def _rebalance_bounds(view: ClusterView, totals: ReplicaTotals) -> tuple[Ints, Ints]:
    replica_counts, usable = totals.replica_counts, view.usable
    bounds = _service_bounds(view, replica_counts - totals.movable_counts, totals)
    return np.where(usable, bounds.low, replica_counts), np.where(
        usable, bounds.high, replica_counts
    )


def _set_replication_factor(view: ClusterView) -> PlacementProblem:
    factor = view.options.replication_factor
    assert factor is not None, "the options demand it for this strategy"
    rules = view.rules(view.in_service)
    rows = pad_to_width(view.columns.replicas, factor).copy()
    factors = np.where(view.in_scope, factor, view.factors).astype(np.int32)
    _drop_surplus(view, rows, factors, rules)
    missing = factors - row_counts(rows >= 0)
    empty = rows < 0
    unassigned = empty & (np.cumsum(empty, axis=1) <= missing[:, None])
    return replace(
        _static_problem(view, rules),
        origins=pad_to_width(view.columns.replicas, rows.shape[1]),
        rows=rows,
        factors=factors,
        unassigned=unassigned,
        movable=np.zeros(rows.shape, np.bool_),
        receivers=view.usable,
    )


_PROBLEMS: Mapping[Strategy, Callable[[ClusterView], PlacementProblem]] = {
    Strategy.ADD_BROKERS: _add_brokers,
    Strategy.REMOVE_BROKERS: _remove_brokers,
    Strategy.REBALANCE: _rebalance,
    Strategy.SET_REPLICATION_FACTOR: _set_replication_factor,
    Strategy.REPAIR_RACKS: _repair_racks,
}
_BOUNDS: Mapping[Strategy, Callable[[ClusterView, ReplicaTotals], tuple[Ints, Ints]]] = {
    Strategy.ADD_BROKERS: _add_brokers_bounds,
    Strategy.REMOVE_BROKERS: _remove_brokers_bounds,
    Strategy.REBALANCE: _rebalance_bounds,
    Strategy.SET_REPLICATION_FACTOR: _usable_bounds,
    Strategy.REPAIR_RACKS: _usable_bounds,
}


def _fill_problem(
    view: ClusterView, unassigned: Bools, leaving: Bools, receivers: Bools
) -> PlacementProblem:
    """Return the problem that places unassigned replicas while no other replica moves."""
    return replace(
        _static_problem(view, view.rules(view.in_service & ~leaving)),
        rows=_cleared(view.columns.replicas, unassigned),
        unassigned=unassigned,
        receivers=receivers,
        retainers=~leaving,
    )


def _fill_bounds(receivers: Bools, totals: ReplicaTotals) -> tuple[Ints, Ints]:
    return totals.assigned_counts, np.where(receivers, totals.partitions, totals.assigned_counts)


def _static_problem(view: ClusterView, rules: RackRules) -> PlacementProblem:
    """Return the problem in which no replica moves."""
    columns, amounts = view.columns, view.amounts
    nothing = np.zeros(columns.replicas.shape, np.bool_)
    return PlacementProblem(
        columns=columns,
        origins=columns.replicas,
        rows=columns.replicas,
        unassigned=nothing,
        factors=view.factors,
        movable=nothing,
        receivers=np.zeros(columns.brokers.count, np.bool_),
        retainers=np.ones(columns.brokers.count, np.bool_),
        low=columns.replica_counts,
        high=columns.replica_counts,
        weights=view.weights,
        rules=rules,
        repairs_racks=view.options.strategy in (Strategy.REBALANCE, Strategy.REPAIR_RACKS),
        seed=view.options.seed,
        sizes=amounts if amounts is not None and bool(amounts.any()) else None,
    )


def _cleared(rows: Shorts, unassigned: Bools) -> Shorts:
    return np.where(unassigned, NOWHERE, rows).astype(np.int32)


def _service_bounds(view: ClusterView, low: Ints, totals: ReplicaTotals) -> BalanceBounds:
    """Return the bounds if all brokers in service may be balanced."""
    in_service, replica_counts = view.in_service, totals.replica_counts
    has_racks = view.has_racks
    rules = view.rules(in_service)
    high = np.where(in_service, np.maximum(totals.partitions, low), replica_counts)
    none = np.zeros(1, np.int64)
    racks = rules.racks if has_racks else np.zeros(len(replica_counts), np.int64)

    def by_rack(amounts: Ints) -> Ints:
        return np.bincount(racks, amounts, minlength=rules.count).astype(np.int64)

    low = np.where(in_service, low, replica_counts)
    rack_low, rack_high = (
        totals.partitions_by_factor @ rules.floors,
        totals.partitions_by_factor @ rules.ceilings,
    )
    return BalanceBounds(
        weights=view.weights,
        low=low,
        high=high,
        racks=racks,
        rack_low=np.minimum(rack_low, by_rack(high)) if has_racks else none,
        rack_high=np.maximum(rack_high, by_rack(low)) if has_racks else none + 2**62,
    )


def _rack_violations(view: ClusterView) -> Bools:
    """Return which replicas have to move so that every partition satisfies the rack rules."""
    columns = view.columns
    movable = view.replicas_on(view.usable)
    excess = view.rules(view.in_service).excess(
        columns.replicas,
        view.factors,
        _relative_load(view, columns.replica_counts),
        view.is_replica & ~movable,
    )
    return excess & movable


def _drop_surplus(view: ClusterView, rows: Shorts, factors: Shorts, rules: RackRules) -> None:
    """Remove replicas beyond the replication factor: from the fullest brokers, never the first."""
    row_ids = np.flatnonzero(row_counts(rows >= 0) > factors)
    replica_counts = count_by_index(rows, view.columns.brokers.count)
    for first in range(_SLICES):
        part = row_ids[first::_SLICES]
        fixed = np.zeros((len(part), rows.shape[1]), np.bool_)
        fixed[:, 0] = True
        surplus = rules.excess(
            rows[part], factors[part], _relative_load(view, replica_counts), fixed
        )
        replica_counts -= count_by_index(rows[part][surplus], len(replica_counts))
        assigned_counts = np.where(surplus, -1, rows[part])
        order = np.argsort(assigned_counts < 0, axis=1, kind="stable")
        rows[part] = np.take_along_axis(assigned_counts, order, axis=1)


def _relative_load(view: ClusterView, replica_counts: Ints) -> Floats:
    return replica_counts / np.maximum(view.weights, 1e-9)
