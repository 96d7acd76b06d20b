"""How many replicas each broker shall hold: level, by capacity, within what the racks allow.

All brokers are filled to one level, each in proportion to its weight and within its own limits;
a rack that can hold no more (or must hold more, as every partition has a replica in it) is filled
to what it can, and the others share the rest. So the targets are the most level ones that can be
reached, and the whole numbers next to them that are nearest to what a broker has: then as little
moves as can be.
"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Floats, Ints

_HALVINGS = 100
_NOTHING = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class BalanceBounds:
    """What the level is sought within."""

    weights: Floats
    """Of each broker; its share is in proportion."""
    low: Ints
    """Replicas that each broker holds at least."""
    high: Ints
    racks: Ints
    """Rack of each broker."""
    rack_low: Ints
    rack_high: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplicaTargets:
    """What each broker is to end with."""

    target: Ints
    low: Ints
    """The level rounded down: a broker may end with so few …"""
    high: Ints
    """… or with so many, and all are still as level as they can be."""


def balanced_targets(limits: BalanceBounds, have: Ints, total: int) -> ReplicaTargets:
    """Return the most level way to hold ``total`` replicas, nearest to what brokers have."""
    racks = limits.racks
    rack_count = len(limits.rack_low)
    ideal = level(limits, total)
    ideal_racks = np.bincount(racks, ideal, minlength=rack_count).astype(np.float64)
    rack_have = np.bincount(racks, have, minlength=rack_count).astype(np.int64)
    rack_targets = nearest(ideal_racks, rack_have, total)
    shares = _filled(limits, rack_targets.astype(np.float64))
    target = np.zeros(len(have), np.int64)
    order = np.argsort(racks, kind="stable")
    cuts = np.searchsorted(racks[order], np.arange(rack_count + 1))
    for rack, in_rack in enumerate(rack_targets.tolist()):
        brokers = order[cuts[rack] : cuts[rack + 1]]
        target[brokers] = nearest(shares[brokers], have[brokers], in_rack)
    return ReplicaTargets(
        target=target,
        low=np.minimum(np.floor(ideal + _NOTHING).astype(np.int64), target),
        high=np.maximum(np.ceil(ideal - _NOTHING).astype(np.int64), target),
    )


def level(limits: BalanceBounds, total: int) -> Floats:
    """Return each broker's share of ``total``, not rounded."""
    rack_count = len(limits.rack_low)

    def of_racks(height: float) -> Floats:
        shares = np.clip(height * limits.weights, limits.low, limits.high)
        sums = np.bincount(limits.racks, shares, minlength=rack_count)
        return np.clip(sums, limits.rack_low, limits.rack_high)

    low, high = 0.0, _height_max(limits)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if of_racks(middle).sum() < total:
            low = middle
        else:
            high = middle
    return _filled(limits, of_racks(high))


def _filled(limits: BalanceBounds, rack_totals: Floats) -> Floats:
    """Return the level shares of each rack's total, or as near to it as the limits allow."""
    racks, rack_count = limits.racks, len(rack_totals)
    low = np.zeros(rack_count)
    high = np.full(rack_count, _height_max(limits))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        shares = np.clip(middle[racks] * limits.weights, limits.low, limits.high)
        is_short = np.bincount(racks, shares, minlength=rack_count) < rack_totals
        low, high = np.where(is_short, middle, low), np.where(is_short, high, middle)
    shares = np.clip(high[racks] * limits.weights, limits.low, limits.high)
    # What bisection leaves open is so little that any broker within its limits may take it.
    free = (shares > limits.low) & (shares < limits.high)
    lack = rack_totals - np.bincount(racks, shares, minlength=rack_count)
    receivers = np.bincount(racks, free, minlength=rack_count)
    return np.asarray(shares + np.where(free, lack[racks] / np.maximum(receivers[racks], 1), 0.0))


def _height_max(limits: BalanceBounds) -> float:
    weights = limits.weights[limits.weights > 0]
    if not len(weights):
        return 1.0
    return float(max(1, limits.high.max(initial=1))) / float(weights.min()) + 1.0


def nearest(ideal: Floats, have: Ints, total: int) -> Ints:
    """Return whole numbers beside ``ideal`` that sum up to ``total``, nearest to ``have``."""
    low = np.floor(ideal + _NOTHING).astype(np.int64)
    high = np.ceil(ideal - _NOTHING).astype(np.int64)
    chosen = np.clip(have, low, high)
    lack = total - int(chosen.sum())
    if lack > 0:
        free = np.flatnonzero(chosen < high)
        first = np.argsort(chosen[free] - have[free], kind="stable")
        chosen[free[first[:lack]]] += 1
    elif lack < 0:
        free = np.flatnonzero(chosen > low)
        first = np.argsort(have[free] - chosen[free], kind="stable")
        chosen[free[first[:-lack]]] -= 1
    return chosen
