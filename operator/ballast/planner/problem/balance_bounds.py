"""Lower and upper bounds per broker and rack, for replica counts and for bytes.

Both are the same question with other weights: a replica counts 1, or its size. `RackUsage` holds
what the partitions contribute. It is additive, so that the bounds of a cluster follow from the sum
over its blocks.

Example: 6 partitions with replication factor 2; rack a has brokers 1 and 2, rack b has broker 3.
The rack rules want one replica of each partition in either rack. So either rack holds exactly 6
replicas, and although a share of the 12 replicas is 4, the targets are 3, 3, 6.

"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import (
    Bools,
    Floats,
    Ints,
    Shorts,
    count_by_index,
    row_any,
    row_counts,
    sum_by_index,
)
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.problem.replica_targets import BalanceBounds

_SLICE = 65536
"""Partitions whose rack table is computed at a time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RackUsage:
    """Amounts of some partitions by rack."""

    by_factor: Ints
    """Of partitions with movable replicas, by replication factor."""
    movable: Ints
    """By rack: amounts of those partitions."""
    fixed: Ints
    """By rack: amounts of the other partitions."""
    missing_low: Ints
    """By rack: the least amount of missing replicas that the rack rules allow there."""
    missing_high: Ints
    """By rack: the largest amount of missing replicas that the rack rules allow there."""
    total: int
    """Of all replicas, once each partition has its replication factor."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RackConstraints:
    """What bounds depend on besides the partitions."""

    weights: Floats
    rules: RackRules
    repairs_racks: bool

    @classmethod
    def of(cls, problem: PlacementProblem) -> "RackConstraints":
        return cls(
            weights=problem.weights, rules=problem.rules, repairs_racks=problem.repairs_racks
        )

    @property
    def is_binding(self) -> bool:
        """Whether the rack rules say more than that replicas are on different brokers."""
        rules = self.rules
        return rules.count != len(self.weights) or int(rules.ceilings.max(initial=0)) > 1


def count_bounds(problem: PlacementProblem) -> BalanceBounds:
    """Return the bounds of replica counts."""
    usage = rack_usage(problem, np.ones(len(problem.rows), np.int64))
    return with_rack_bounds(RackConstraints.of(problem), problem.low, problem.high, usage)


def byte_bounds(problem: PlacementProblem, sizes: Ints) -> BalanceBounds:
    """Return the bounds of bytes.

    A broker with movable replicas may give all of them; a receiver may get its share.
    """
    broker_bytes = broker_bytes_of(problem.rows, sizes, len(problem.low))
    can_give = count_by_index(np.where(problem.movable, problem.rows, -1), len(broker_bytes)) > 0
    usage = rack_usage(problem, sizes)
    low, high = broker_byte_bounds(
        problem.weights, problem.receivers, broker_bytes, can_give, usage.total
    )
    return with_rack_bounds(RackConstraints.of(problem), low, high, usage)


def broker_byte_bounds(
    weights: Floats, receivers: Bools, broker_bytes: Ints, can_give: Bools, total: int
) -> tuple[Ints, Ints]:
    """Return the least and the largest number of bytes of each broker."""
    weights = np.where(receivers | (broker_bytes > 0), weights, 0.0)
    share = np.ceil(total * weights / max(float(weights.sum()), 1e-9)).astype(np.int64)
    most = np.where(can_give, total, np.maximum(broker_bytes, share))
    return np.where(can_give, 0, broker_bytes), np.where(receivers, most, broker_bytes)


def broker_bytes_of(rows: Shorts, sizes: Ints, brokers: int) -> Ints:
    """Return the bytes on each broker."""
    broker_bytes = np.zeros(brokers, np.int64)
    for column in rows.T:
        there = column >= 0
        broker_bytes += sum_by_index(column[there], sizes[there], brokers)
    return broker_bytes


def with_rack_bounds(
    scope: RackConstraints, low: Ints, high: Ints, usage: RackUsage
) -> BalanceBounds:
    """Return the bounds for brokers between ``low`` and ``high``, with those of their racks."""
    if not scope.is_binding:
        # Every broker is a rack by itself: replicas only have to be on different brokers.
        return BalanceBounds(
            weights=scope.weights,
            low=low,
            high=high,
            racks=np.zeros(len(low), np.int64),
            rack_low=np.zeros(1, np.int64),
            rack_high=np.full(1, usage.total),
        )
    rack_low, rack_high = rack_bounds(scope, usage)
    return BalanceBounds(
        weights=scope.weights,
        low=low,
        high=high,
        racks=scope.rules.racks,
        rack_low=np.minimum(rack_low, _by_rack(scope.rules, high)),
        rack_high=np.maximum(rack_high, _by_rack(scope.rules, low)),
    )


def rack_bounds(scope: RackConstraints, usage: RackUsage) -> tuple[Ints, Ints]:
    """Return the least and the largest amount in each rack under the rack rules."""
    low, high = usage.by_factor @ scope.rules.floors, usage.by_factor @ scope.rules.ceilings
    if not scope.repairs_racks:
        # Replicas that violate the rules may stay.
        low, high = np.minimum(low, usage.movable), np.maximum(high, usage.movable)
    return low + usage.fixed + usage.missing_low, high + usage.fixed + usage.missing_high


def rack_usage(problem: PlacementProblem, amounts: Ints) -> RackUsage:
    """Return the rack usage of the partitions of a problem."""
    rules, rows = problem.rules, problem.rows
    total = int((problem.factors * amounts).sum())
    if not RackConstraints.of(problem).is_binding:
        nothing = np.zeros(0, np.int64)
        return RackUsage(
            by_factor=nothing,
            movable=nothing,
            fixed=nothing,
            missing_low=nothing,
            missing_high=nothing,
            total=total,
        )
    movable = row_any(problem.movable)
    missing_low, missing_high = _missing_bounds(
        problem, amounts, np.flatnonzero(row_any(problem.unassigned) & ~movable)
    )
    brokers = len(problem.weights)
    return RackUsage(
        by_factor=sum_by_index(problem.factors[movable], amounts[movable], len(rules.floors)),
        movable=_by_rack(rules, broker_bytes_of(rows[movable], amounts[movable], brokers)),
        fixed=_by_rack(rules, broker_bytes_of(rows[~movable], amounts[~movable], brokers)),
        missing_low=missing_low,
        missing_high=missing_high,
        total=total,
    )


def _missing_bounds(problem: PlacementProblem, amounts: Ints, row_ids: Ints) -> tuple[Ints, Ints]:
    rules = problem.rules
    low, high = np.zeros(rules.count, np.int64), np.zeros(rules.count, np.int64)
    if not rules.is_tabled:
        return low, high + int(amounts[row_ids].sum())
    for first in range(0, len(row_ids), _SLICE):
        part = row_ids[first : first + _SLICE]
        amount = amounts[part][:, None]
        missing = row_counts(problem.unassigned[part])[:, None]
        used = rules.usage(problem.rows[part])
        room = np.minimum(rules.room(used, problem.factors[part]), missing)
        others = room.sum(axis=1)[:, None] - room
        low += (np.maximum(missing - others, 0) * amount).sum(axis=0)
        high += (room * amount).sum(axis=0)
    return low, high


def _by_rack(rules: RackRules, amounts: Ints) -> Ints:
    return sum_by_index(rules.racks, amounts, rules.count)
