"""Which replicas leave brokers that hold too many, by count.

Goals: as many replicas leave each broker as its surplus says. First come replicas that can go to a
broker in deficit, at most one of a partition while there are others. Among these, replicas of a
topic with many partitions on the broker come first, so that topics end up spread wider.

Example: broker 1 holds partitions 0, 1, 2 of topic t and partition 0 of topic u, and its surplus is
1. One of topic t leaves: the broker has three of them.

"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import (
    Bools,
    Ints,
    Shorts,
    count_by_index,
    first_occurrences,
    noise,
    row_counts,
    run_starts,
)
from ballast.planner.problem.rack_rules import RackRules

_ROUNDS = 4
_NOISE_BITS = 28
_CROWD_BITS = 10
_PENALTY_SHIFT = np.uint64(_NOISE_BITS + _CROWD_BITS)
_BROKER_SHIFT = np.uint64(_NOISE_BITS + _CROWD_BITS + 3)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplicaPool:
    """Partitions, and which of their replicas may be selected."""

    rows: Shorts
    """Replicas that stay so far; -1 elsewhere."""
    movable: Bools
    """As ``rows``."""
    factors: Shorts
    """Replication factor that each partition is to have."""
    topics: Shorts
    """Topic of each partition, in order."""


def select_surplus(
    holdings: ReplicaPool, surplus: Ints, in_deficit: Bools, rules: RackRules, seed: int
) -> Bools:
    """Return the replicas that leave: ``surplus`` of each broker, as far as they may.

    ``in_deficit`` are the brokers that receive replicas. A row with an unassigned replica counts as
    touched.
    """
    rows = holdings.rows
    width = rows.shape[1]
    selected = np.zeros(rows.size, np.bool_)
    flat = rows.ravel()
    candidates = np.flatnonzero(holdings.movable.ravel())
    candidates = candidates[surplus[flat[candidates]] > 0]
    if not len(candidates):
        return selected.reshape(rows.shape)
    partitions = candidates // width
    brokers = flat[candidates].astype(np.int64)
    has_destination = can_move(holdings, candidates, in_deficit, rules)
    touched = row_counts(rows >= 0) < holdings.factors
    penalty = np.where(has_destination, 0, 2) + touched[partitions]
    crowd = _crowd(brokers, holdings.topics[partitions])
    key = (brokers.astype(np.uint64) << _BROKER_SHIFT) | (
        penalty.astype(np.uint64) << _PENALTY_SHIFT
    )
    key |= (np.uint64(2**_CROWD_BITS - 1) - crowd.astype(np.uint64)) << np.uint64(_NOISE_BITS)
    key |= noise(seed, candidates) >> np.uint64(64 - _NOISE_BITS)
    order = np.argsort(key, kind="stable")
    candidates, brokers, partitions = candidates[order], brokers[order], partitions[order]
    penalty = penalty[order]
    remaining = surplus.copy()
    for number in range(_ROUNDS):
        is_last = number == _ROUNDS - 1
        usable = ~selected[candidates] & (remaining[brokers] > 0)
        if not is_last:
            usable &= ~touched[partitions] & (penalty <= number)
        pool = np.flatnonzero(usable)
        if not len(pool):
            continue
        place = np.arange(len(pool)) - run_starts(brokers[pool])
        taken = pool[place < remaining[brokers[pool]]]
        if not is_last:
            taken = taken[first_occurrences(partitions[taken])]
        selected[candidates[taken]] = True
        touched[partitions[taken]] = True
        remaining -= count_by_index(brokers[taken], len(remaining))
    return selected.reshape(rows.shape)


def can_move(holdings: ReplicaPool, candidates: Ints, in_deficit: Bools, rules: RackRules) -> Bools:
    """Return whether a replica could go to a broker in deficit, as far as racks show it.

    Only where each rack may hold one replica; elsewhere the answer is yes.
    """
    rows = holdings.rows
    deficit_racks = np.zeros(rules.count, np.bool_)
    deficit_racks[rules.racks[in_deficit]] = True
    if not rules.is_tabled or not deficit_racks.any():
        return np.ones(len(candidates), np.bool_)
    bit_of = np.append(np.uint64(1) << rules.racks.astype(np.uint64), np.uint64(0))
    bits = bit_of[rows]
    all_bits = np.bitwise_or.reduce(bits, axis=1)
    partitions = candidates // rows.shape[1]
    others = all_bits[partitions] & ~bits.ravel()[candidates]
    mask = np.uint64(sum(1 << int(rack) for rack in np.flatnonzero(deficit_racks)))
    is_alone = rules.ceilings.max(axis=1)[holdings.factors[partitions]] <= 1
    return np.asarray(((~others & mask) != 0) | ~is_alone)


def _crowd(brokers: Ints, topics: Shorts) -> Ints:
    """Return how many replicas of the same topic the same broker holds before this one."""
    small = brokers.astype(np.uint16) if brokers.max(initial=0) < 2**16 else brokers
    order = np.argsort(small, kind="stable")
    # Candidates are sorted by topic, so that those of one topic are together on each broker.
    run = run_starts((brokers[order] << 32) | topics[order])
    crowd = np.empty(len(brokers), np.int64)
    crowd[order] = np.arange(len(brokers)) - run
    return np.asarray(np.minimum(crowd, 2**_CROWD_BITS - 1))
