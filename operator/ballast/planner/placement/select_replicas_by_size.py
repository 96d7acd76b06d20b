"""Which replicas leave brokers where bytes count besides replica counts.

Goals: each broker gives as many replicas as its surplus, and its excess bytes with them; few bytes
are copied. At most one replica of a partition leaves.

1. The surplus leaves as replicas whose mean size is that of the excess bytes per replica.
2. Excess bytes beyond that leave as the largest replicas that fit.
3. Brokers that are missing bytes but no replicas give as many of their smallest, so that there are
   slots for the large ones.

So large replicas balance bytes and small ones balance counts. `size_matching` has the arithmetic of
each step, with an example.

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
    """Bytes of partitions and of brokers."""

    sizes: Ints
    """Of one replica of each partition."""
    broker_bytes: Ints
    """On each broker, of assigned replicas."""
    target: Floats
    """Byte target of each broker."""
    size_max: float = inf
    """Larger replicas are not selected for their size."""


def select_replicas_by_size(
    holdings: ReplicaPool, loads: SizeTargets, surplus: Ints, receivers: Bools, rules: RackRules
) -> Bools:
    """Return the replicas that leave: ``surplus`` of each broker, and more for its bytes."""
    return _Selection(holdings, loads, surplus, receivers, rules).selected()


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
        fits = (loads.sizes <= loads.size_max)[:, None]
        candidates = np.flatnonzero((holdings.movable & fits).ravel())
        in_deficit = receivers & (loads.broker_bytes < loads.target)
        candidates = candidates[can_move(holdings, candidates, in_deficit, rules)]
        candidates = candidates[stable_order(loads.sizes[candidates // width])]
        brokers = holdings.rows.ravel()[candidates]
        small = brokers.astype(np.uint16) if len(surplus) < 2**16 else brokers
        order = np.argsort(small, kind="stable")
        self._candidates = candidates[order]
        self._brokers = brokers[order].astype(np.int64)
        self._partitions = self._candidates // width
        self._sizes = loads.sizes[self._partitions]
        self._touched = row_counts(holdings.rows >= 0) < holdings.factors
        self._selected = np.zeros(holdings.rows.size, np.bool_)

    def selected(self) -> Bools:
        """Return the replicas that leave."""
        loads, count = self._loads, len(self._surplus)
        excess = loads.broker_bytes - loads.target
        excess[excess <= TOLERANCE * loads.target] = 0.0
        by_mean = self._take_by_mean(excess)
        excess -= sum_by_index(self._brokers[by_mean], self._sizes[by_mean], count)
        by_size = self._take_largest(np.where(self._receivers, excess, 0.0))
        all_selected = np.concatenate([by_mean, by_size])
        if len(by_size):
            self._make_room(all_selected, len(by_size))
        return self._selected.reshape(self._holdings.rows.shape)

    def _take_by_mean(self, excess: Floats) -> Ints:
        """Take the surplus. In turns, since only one replica of a partition leaves."""
        surplus, taken = self._surplus, [np.zeros(0, np.int64)]
        for _ in range(_TURNS):
            is_free = np.flatnonzero(
                ~self._touched[self._partitions] & (surplus > 0)[self._brokers]
            )
            chosen = self._take(
                is_free[
                    select_by_mean_size(
                        self._brokers[is_free],
                        self._sizes[is_free],
                        self._partitions[is_free],
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
            is_free = ~self._touched[self._partitions]
            chosen = select_largest(self._brokers, self._sizes, is_free, excess)
            if not len(chosen):
                break
            chosen = self._take(np.sort(chosen[first_occurrences(self._partitions[chosen])]))
            excess = excess - sum_by_index(self._brokers[chosen], self._sizes[chosen], len(excess))
            taken.append(chosen)
        return np.concatenate(taken) if taken else np.zeros(0, np.int64)

    def _make_room(self, all_selected: Ints, number: int) -> None:
        """Select the smallest replicas of brokers that are missing bytes but not replicas.

        In turns: of a partition that two of them hold, one gives its replica and the other another
        one.
        """
        loads, count = self._loads, len(self._surplus)
        remaining_bytes = loads.broker_bytes - sum_by_index(
            self._brokers[all_selected], self._sizes[all_selected], count
        )
        mean = float(self._sizes[all_selected].mean())
        byte_deficits = np.where(self._receivers, loads.target - remaining_bytes, 0.0)
        incoming = np.maximum(byte_deficits, 0.0)
        incoming[self._surplus > 0] = 0.0
        incoming[incoming < max(mean, 1.0)] = 0.0
        total = float(incoming.sum())
        if total <= 0:
            return
        shares = apportion(incoming, number)
        for _ in range(_TURNS):
            is_free = ~self._touched[self._partitions]
            chosen = select_smallest(self._brokers, is_free, shares)
            if not len(chosen):
                break
            chosen = self._take(chosen[first_occurrences(self._partitions[chosen])])
            shares = shares - count_by_index(self._brokers[chosen], count)

    def _take(self, chosen: Ints) -> Ints:
        """Mark these as selected, except those whose partition gives another one already."""
        chosen = chosen[~self._touched[self._partitions[chosen]]]
        self._selected[self._candidates[chosen]] = True
        self._touched[self._partitions[chosen]] = True
        return chosen
