"""Replica targets: how many replicas each broker is to hold.

Goals: all brokers hold the same number of replicas in proportion to their weight (capacity); as few
replicas as possible move. Constraints: lower and upper bounds of brokers and racks.

Algorithm (water-filling): bisection finds the level at which all brokers, each filled to level
times weight and cut to its bounds, hold ``total`` replicas. A rack that is at its bound counts with
that bound, and the other racks share the rest. The shares are fractional. They are rounded to the
neighbouring integer closest to the current count, which minimises moves.

Example: brokers 1, 2, 3, 4 of equal weight hold 4, 3, 2, 1 replicas. Each share is 2.5, so a broker
may end with 2 or 3. Rounded towards the current counts, the targets are 3, 3, 2, 2: two moves.

"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Floats, Ints

_HALVINGS = 100
_NOTHING = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class BalanceBounds:
    """Lower and upper bounds within which targets are sought."""

    weights: Floats
    """Of each broker; its share is in proportion."""
    low: Ints
    """Replicas (or bytes) that each broker holds at least."""
    high: Ints
    racks: Ints
    """Rack of each broker."""
    rack_low: Ints
    rack_high: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplicaTargets:
    """Replicas that each broker is to end with."""

    target: Ints
    low: Ints
    """The share rounded down, and …"""
    high: Ints
    """… rounded up: every count between them is balanced as well as possible."""


def balanced_targets(bounds: BalanceBounds, current: Ints, total: int) -> ReplicaTargets:
    """Return the most balanced way to hold ``total`` replicas, closest to the current counts."""
    racks = bounds.racks
    rack_count = len(bounds.rack_low)
    fractional = fair_shares(bounds, total)
    ideal_racks = np.bincount(racks, fractional, minlength=rack_count).astype(np.float64)
    rack_current = np.bincount(racks, current, minlength=rack_count).astype(np.int64)
    rack_targets = round_to_current(ideal_racks, rack_current, total)
    shares = _filled(bounds, rack_targets.astype(np.float64))
    target = np.zeros(len(current), np.int64)
    order = np.argsort(racks, kind="stable")
    cuts = np.searchsorted(racks[order], np.arange(rack_count + 1))
    for rack, in_rack in enumerate(rack_targets.tolist()):
        brokers = order[cuts[rack] : cuts[rack + 1]]
        target[brokers] = round_to_current(shares[brokers], current[brokers], in_rack)
    return ReplicaTargets(
        target=target,
        low=np.minimum(np.floor(fractional + _NOTHING).astype(np.int64), target),
        high=np.maximum(np.ceil(fractional - _NOTHING).astype(np.int64), target),
    )


def fair_shares(bounds: BalanceBounds, total: int) -> Floats:
    """Return each broker's share of ``total``, not rounded."""
    rack_count = len(bounds.rack_low)

    def of_racks(height: float) -> Floats:
        shares = np.clip(height * bounds.weights, bounds.low, bounds.high)
        sums = np.bincount(bounds.racks, shares, minlength=rack_count)
        return np.clip(sums, bounds.rack_low, bounds.rack_high)

    low, high = 0.0, _height_max(bounds)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if of_racks(middle).sum() < total:
            low = middle
        else:
            high = middle
    return _filled(bounds, of_racks(high))


def _filled(bounds: BalanceBounds, rack_totals: Floats) -> Floats:
    """Return the broker shares of each rack's total, as close to it as the bounds allow."""
    racks, rack_count = bounds.racks, len(rack_totals)
    low = np.zeros(rack_count)
    high = np.full(rack_count, _height_max(bounds))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        shares = np.clip(middle[racks] * bounds.weights, bounds.low, bounds.high)
        is_short = np.bincount(racks, shares, minlength=rack_count) < rack_totals
        low, high = np.where(is_short, middle, low), np.where(is_short, high, middle)
    shares = np.clip(high[racks] * bounds.weights, bounds.low, bounds.high)
    # Bisection leaves a remainder that is so small that any broker within its bounds may take it.
    adjustable = (shares > bounds.low) & (shares < bounds.high)
    shortage = rack_totals - np.bincount(racks, shares, minlength=rack_count)
    adjustable_counts = np.bincount(racks, adjustable, minlength=rack_count)
    return np.asarray(
        shares
        + np.where(adjustable, shortage[racks] / np.maximum(adjustable_counts[racks], 1), 0.0)
    )


def _height_max(bounds: BalanceBounds) -> float:
    weights = bounds.weights[bounds.weights > 0]
    if not len(weights):
        return 1.0
    return float(max(1, bounds.high.max(initial=1))) / float(weights.min()) + 1.0


def round_to_current(shares: Floats, current: Ints, total: int) -> Ints:
    """Return integers next to ``shares`` whose sum is ``total``, closest to ``current``."""
    low = np.floor(shares + _NOTHING).astype(np.int64)
    high = np.ceil(shares - _NOTHING).astype(np.int64)
    chosen = np.clip(current, low, high)
    shortage = total - int(chosen.sum())
    if shortage > 0:
        adjustable = np.flatnonzero(chosen < high)
        nearest_first = np.argsort(chosen[adjustable] - current[adjustable], kind="stable")
        chosen[adjustable[nearest_first[:shortage]]] += 1
    elif shortage < 0:
        adjustable = np.flatnonzero(chosen > low)
        nearest_first = np.argsort(current[adjustable] - chosen[adjustable], kind="stable")
        chosen[adjustable[nearest_first[:-shortage]]] -= 1
    return chosen
