"""Within what the level of replicas, and that of bytes, is sought: brokers and racks.

Both are the same question, asked of ones or of sizes: what each broker and each rack holds at least
and at most, whatever a plan does. What partitions say to it (`RackUsage`) may be added up, so that
it can be asked of parts of a cluster; the answer is for the sum.
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
"""Partitions whose racks are laid out as a table at a time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RackUsage:
    """Amounts of some partitions, as far as racks are concerned."""

    by_factor: Ints
    """Of partitions that may give replicas, by how many replicas they have."""
    free: Ints
    """By rack: what those have there."""
    fixed: Ints
    """By rack: what the others have there …"""
    room_low: Ints
    """… and what comes to it at least, as they lack replicas …"""
    room_high: Ints
    """… and at most."""
    total: int
    """Of all replicas, once each partition has as many as it shall."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RackConstraints:
    """What limits depend on beside the partitions."""

    weights: Floats
    rules: RackRules
    repairs: bool

    @classmethod
    def of(cls, task: PlacementProblem) -> "RackConstraints":
        """Return that of a task."""
        return cls(weights=task.weights, rules=task.rules, repairs=task.repairs)

    @property
    def is_binding(self) -> bool:
        """Whether racks hold several brokers, or partitions several replicas in a rack."""
        rules = self.rules
        return rules.count != len(self.weights) or int(rules.tops.max(initial=0)) > 1


def count_bounds(task: PlacementProblem) -> BalanceBounds:
    """Return the limits for numbers of replicas."""
    use = rack_use(task, np.ones(len(task.rows), np.int64))
    return with_rack_bounds(RackConstraints.of(task), task.low, task.high, use)


def byte_bounds(task: PlacementProblem, sizes: Ints) -> BalanceBounds:
    """Return the limits for bytes: who gives may give all, who takes may come to its share."""
    held = bytes_of(task.rows, sizes, len(task.low))
    gives = count_by_index(np.where(task.pickable, task.rows, -1), len(held)) > 0
    use = rack_use(task, sizes)
    low, high = broker_byte_bounds(task.weights, task.receivers, held, gives, use.total)
    return with_rack_bounds(RackConstraints.of(task), low, high, use)


def broker_byte_bounds(
    weights: Floats, receivers: Bools, held: Ints, gives: Bools, total: int
) -> tuple[Ints, Ints]:
    """Return the bytes that each broker holds at least and at most."""
    weights = np.where(receivers | (held > 0), weights, 0.0)
    share = np.ceil(total * weights / max(float(weights.sum()), 1e-9)).astype(np.int64)
    most = np.where(gives, total, np.maximum(held, share))
    return np.where(gives, 0, held), np.where(receivers, most, held)


def bytes_of(rows: Shorts, sizes: Ints, brokers: int) -> Ints:
    """Return the bytes on each broker."""
    held = np.zeros(brokers, np.int64)
    for column in rows.T:
        there = column >= 0
        held += sum_by_index(column[there], sizes[there], brokers)
    return held


def with_rack_bounds(
    scope: RackConstraints, low: Ints, high: Ints, use: RackUsage
) -> BalanceBounds:
    """Return the limits for brokers between these ends, and what partitions say of racks."""
    if not scope.is_binding:
        # Every broker is a rack by itself: no more is asked than that brokers are different.
        return BalanceBounds(
            weights=scope.weights,
            low=low,
            high=high,
            racks=np.zeros(len(low), np.int64),
            rack_low=np.zeros(1, np.int64),
            rack_high=np.full(1, use.total),
        )
    rack_low, rack_high = rack_bounds(scope, use)
    return BalanceBounds(
        weights=scope.weights,
        low=low,
        high=high,
        racks=scope.rules.racks,
        rack_low=np.minimum(rack_low, _by_rack(scope.rules, high)),
        rack_high=np.maximum(rack_high, _by_rack(scope.rules, low)),
    )


def rack_bounds(scope: RackConstraints, use: RackUsage) -> tuple[Ints, Ints]:
    """Return what each rack holds at least and at most when the rules are kept."""
    low, high = use.by_factor @ scope.rules.floors, use.by_factor @ scope.rules.tops
    if not scope.repairs:
        # What is against the rules may stay so.
        low, high = np.minimum(low, use.free), np.maximum(high, use.free)
    return low + use.fixed + use.room_low, high + use.fixed + use.room_high


def rack_use(task: PlacementProblem, amounts: Ints) -> RackUsage:
    """Return what the partitions of a task say of racks."""
    rules, rows = task.rules, task.rows
    total = int((task.factors * amounts).sum())
    if not RackConstraints.of(task).is_binding:
        nothing = np.zeros(0, np.int64)
        return RackUsage(
            by_factor=nothing,
            free=nothing,
            fixed=nothing,
            room_low=nothing,
            room_high=nothing,
            total=total,
        )
    free = row_any(task.pickable)
    room_low, room_high = _room(task, amounts, np.flatnonzero(row_any(task.unassigned) & ~free))
    brokers = len(task.weights)
    return RackUsage(
        by_factor=sum_by_index(task.factors[free], amounts[free], len(rules.floors)),
        free=_by_rack(rules, bytes_of(rows[free], amounts[free], brokers)),
        fixed=_by_rack(rules, bytes_of(rows[~free], amounts[~free], brokers)),
        room_low=room_low,
        room_high=room_high,
        total=total,
    )


def _room(task: PlacementProblem, amounts: Ints, lines: Ints) -> tuple[Ints, Ints]:
    rules = task.rules
    low, high = np.zeros(rules.count, np.int64), np.zeros(rules.count, np.int64)
    if not rules.is_tabled:
        return low, high + int(amounts[lines].sum())
    for first in range(0, len(lines), _SLICE):
        some = lines[first : first + _SLICE]
        amount = amounts[some][:, None]
        lacking = row_counts(task.unassigned[some])[:, None]
        used = rules.usage(task.rows[some])
        room = np.minimum(rules.room(used, task.factors[some]), lacking)
        others = room.sum(axis=1)[:, None] - room
        low += (np.maximum(lacking - others, 0) * amount).sum(axis=0)
        high += (room * amount).sum(axis=0)
    return low, high


def _by_rack(rules: RackRules, amounts: Ints) -> Ints:
    return sum_by_index(rules.racks, amounts, rules.count)
