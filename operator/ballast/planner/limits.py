"""Within what the level of replicas, and that of bytes, is sought: brokers and racks.

Both are the same question, asked of ones or of sizes: what each broker and each rack holds at least
and at most, whatever a plan does.
"""

import numpy as np

from ballast.planner.arrays import Ints, Shorts, counted, summed
from ballast.planner.bands import Limits
from ballast.planner.task import Task

_SLICE = 65536
"""Partitions whose racks are laid out as a table at a time."""


def count_limits(task: Task) -> Limits:
    """Return the limits for numbers of replicas."""
    ones = np.ones(len(task.rows), np.int64)
    return _limits(task, task.low, task.high, ones)


def byte_limits(task: Task, sizes: Ints) -> Limits:
    """Return the limits for bytes: who gives may give all, who takes may come to its share."""
    held = bytes_of(task.rows, sizes, len(task.low))
    gives = counted(np.where(task.pickable, task.rows, -1), len(held)) > 0
    all_bytes = int((sizes * task.factors).sum())
    weights = np.where(task.takers | (held > 0), task.weights, 0.0)
    share = np.ceil(all_bytes * weights / max(float(weights.sum()), 1e-9)).astype(np.int64)
    most = np.where(gives, all_bytes, np.maximum(held, share))
    return _limits(task, np.where(gives, 0, held), np.where(task.takers, most, held), sizes)


def bytes_of(rows: Shorts, sizes: Ints, brokers: int) -> Ints:
    """Return the bytes on each broker."""
    held = np.zeros(brokers, np.int64)
    for column in rows.T:
        there = column >= 0
        held += summed(column[there], sizes[there], brokers)
    return held


def _limits(task: Task, low: Ints, high: Ints, amounts: Ints) -> Limits:
    rules = task.rules
    if rules.count == len(low) and int(rules.tops.max(initial=0)) <= 1:
        # Every broker is a rack by itself: no more is asked than that brokers are different.
        return Limits(
            weights=task.weights,
            low=low,
            high=high,
            racks=np.zeros(len(low), np.int64),
            rack_low=np.zeros(1, np.int64),
            rack_high=np.full(1, int((task.factors * amounts).sum())),
        )
    rack_low, rack_high = _rack_bounds(task, amounts)
    return Limits(
        weights=task.weights,
        low=low,
        high=high,
        racks=rules.racks,
        rack_low=np.minimum(rack_low, _by_rack(task, high)),
        rack_high=np.maximum(rack_high, _by_rack(task, low)),
    )


def _rack_bounds(task: Task, amounts: Ints) -> tuple[Ints, Ints]:
    """Return what each rack holds at least and at most when the rules are kept."""
    rules, rows = task.rules, task.rows
    free = task.pickable.any(axis=1)
    by_factor = summed(task.factors[free], amounts[free], len(rules.floors))
    low, high = by_factor @ rules.floors, by_factor @ rules.tops
    if not task.repairs:
        # What is against the rules may stay so.
        used = _by_rack(task, bytes_of(rows[free], amounts[free], len(task.low)))
        low, high = np.minimum(low, used), np.maximum(high, used)
    used = _by_rack(task, bytes_of(rows[~free], amounts[~free], len(task.low)))
    low, high = low + used, high + used
    lines = np.flatnonzero(task.vacant.any(axis=1) & ~free)
    if not rules.is_tabled:
        return low, high + int(amounts[lines].sum())
    for first in range(0, len(lines), _SLICE):
        some = lines[first : first + _SLICE]
        amount = amounts[some][:, None]
        lacking = task.vacant[some].sum(axis=1)[:, None]
        room = np.minimum(rules.room(rules.usage(rows[some]), task.factors[some]), lacking)
        others = room.sum(axis=1)[:, None] - room
        low += (np.maximum(lacking - others, 0) * amount).sum(axis=0)
        high += (room * amount).sum(axis=0)
    return low, high


def _by_rack(task: Task, amounts: Ints) -> Ints:
    return summed(task.rules.racks, amounts, task.rules.count)
