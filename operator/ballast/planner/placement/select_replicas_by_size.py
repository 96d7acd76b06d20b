"""Which replicas give way where bytes count as well as numbers.

1. What a broker has too many of goes as replicas whose mean size is that of its excess bytes.
2. What it still has too many bytes goes as its largest that fit, if it may get others for them.
3. Brokers that lack bytes though they lack no replicas give as many of their smallest, so that
   there are places for those large ones.

So large replicas level bytes and small ones numbers, and little is copied for it.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from ballast.planner.arrays import (
    Bools,
    Floats,
    Ints,
    apportion,
    count_by_index,
    first_occurrences,
    row_counts,
    stable_order,
    sum_by_index,
)
from ballast.planner.placement.select_replicas import ReplicaPool, can_move
from ballast.planner.placement.size_matching import (
    TOLERANCE,
    select_by_mean_size,
    select_largest,
    select_smallest,
)
from ballast.planner.problem.rack_rules import RackRules

_TURNS = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class SizeTargets:
    """Bytes: of partitions, and of brokers."""

    sizes: Ints
    """Of one replica of each partition."""
    held: Ints
    """On each broker, of replicas that have a place."""
    target: Floats
    """That each broker is to hold."""
    largest: float = inf
    """What is larger does not give way for its size."""


def select_replicas_by_size(
    holdings: ReplicaPool, loads: SizeTargets, surplus: Ints, receivers: Bools, rules: RackRules
) -> Bools:
    """Return the replicas that give way: ``surplus`` of each broker, and more for its bytes."""
    return _Selection(holdings, loads, surplus, receivers, rules).picked()


class _Selection:
    def __init__(
        self,
        holdings: ReplicaPool,
        loads: SizeTargets,
        surplus: Ints,
        receivers: Bools,
        rules: RackRules,
    ) -> None:
        self._holdings = holdings
        self._loads = loads
        self._surplus = surplus
        self._receivers = receivers
        width = holdings.rows.shape[1]
        fits = (loads.sizes <= loads.largest)[:, None]
        candidates = np.flatnonzero((holdings.pickable & fits).ravel())
        wanting = receivers & (loads.held < loads.target)
        candidates = candidates[can_move(holdings, candidates, wanting, rules)]
        candidates = candidates[stable_order(loads.sizes[candidates // width])]
        brokers = holdings.rows.ravel()[candidates]
        small = brokers.astype(np.uint16) if len(surplus) < 2**16 else brokers
        order = np.argsort(small, kind="stable")
        self._candidates = candidates[order]
        self._brokers = brokers[order].astype(np.int64)
        self._partitions = self._candidates // width
        self._sizes = loads.sizes[self._partitions]
        self._taken = row_counts(holdings.rows >= 0) < holdings.factors
        self._picked = np.zeros(holdings.rows.size, np.bool_)

    def picked(self) -> Bools:
        """Return the replicas that give way."""
        loads, count = self._loads, len(self._surplus)
        excess = loads.held - loads.target
        excess[excess <= TOLERANCE * loads.target] = 0.0
        gone = self._take_by_mean(excess)
        excess -= sum_by_index(self._brokers[gone], self._sizes[gone], count)
        large = self._take_largest(np.where(self._receivers, excess, 0.0))
        moved = np.concatenate([gone, large])
        if len(large):
            self._make_room(moved, len(large))
        return self._picked.reshape(self._holdings.rows.shape)

    def _take_by_mean(self, excess: Floats) -> Ints:
        """Take as many as are too many; those of one partition only once, hence in turns."""
        surplus, taken = self._surplus, [np.zeros(0, np.int64)]
        for _ in range(_TURNS):
            free = np.flatnonzero(~self._taken[self._partitions] & (surplus > 0)[self._brokers])
            chosen = self._take(
                free[
                    select_by_mean_size(
                        self._brokers[free],
                        self._sizes[free],
                        self._partitions[free],
                        surplus,
                        excess,
                    )
                ]
            )
            if not len(chosen):
                break
            surplus = surplus - count_by_index(self._brokers[chosen], len(surplus))
            excess = excess - sum_by_index(self._brokers[chosen], self._sizes[chosen], len(surplus))
            taken.append(chosen)
        return np.concatenate(taken)

    def _take_largest(self, excess: Floats) -> Ints:
        taken: list[Ints] = []
        for _ in range(_TURNS):
            excess = np.where(excess > TOLERANCE * self._loads.target, excess, 0.0)
            free = ~self._taken[self._partitions]
            chosen = select_largest(self._brokers, self._sizes, free, excess)
            if not len(chosen):
                break
            chosen = self._take(np.sort(chosen[first_occurrences(self._partitions[chosen])]))
            excess = excess - sum_by_index(self._brokers[chosen], self._sizes[chosen], len(excess))
            taken.append(chosen)
        return np.concatenate(taken) if taken else np.zeros(0, np.int64)

    def _make_room(self, moved: Ints, number: int) -> None:
        """Let brokers that lack more bytes than their places bring give their smallest.

        In turns: what two of them hold together one gives, and the other gives something else.
        """
        loads, count = self._loads, len(self._surplus)
        kept = loads.held - sum_by_index(self._brokers[moved], self._sizes[moved], count)
        mean = float(self._sizes[moved].mean())
        lacking = np.where(self._receivers, loads.target - kept, 0.0)
        gets = np.maximum(lacking, 0.0)
        gets[self._surplus > 0] = 0.0
        gets[gets < max(mean, 1.0)] = 0.0
        total = float(gets.sum())
        if total <= 0:
            return
        share = apportion(gets, number)
        for _ in range(_TURNS):
            free = ~self._taken[self._partitions]
            chosen = select_smallest(self._brokers, free, share)
            if not len(chosen):
                break
            chosen = self._take(chosen[first_occurrences(self._partitions[chosen])])
            share = share - count_by_index(self._brokers[chosen], count)

    def _take(self, chosen: Ints) -> Ints:
        """Note these as picked, but those whose partition gives another one already."""
        chosen = chosen[~self._taken[self._partitions[chosen]]]
        self._picked[self._candidates[chosen]] = True
        self._taken[self._partitions[chosen]] = True
        return chosen
