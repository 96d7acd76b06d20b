"""Which replicas give way on brokers that hold more than they shall.

Of each broker as many as it holds too many. First those that can go where replicas are wanted, at
most one of a partition while there are others, and rather those of a topic that the broker has
many partitions of: so that a topic ends up spread wider, not narrower.
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
    """Partitions, and which of their replicas may be picked."""

    rows: Shorts
    """Replicas that stay so far; -1 elsewhere."""
    pickable: Bools
    """As ``rows``."""
    factors: Shorts
    """Replicas that each partition is to have."""
    topics: Shorts
    """Topic of each partition, in order."""


def select_surplus(
    holdings: ReplicaPool, surplus: Ints, wanting: Bools, rules: RackRules, seed: int
) -> Bools:
    """Return the replicas that give way: ``surplus`` of each broker, or what may be picked.

    ``wanting`` are the brokers that shall get more. A row that lacks a replica already counts as
    touched.
    """
    rows = holdings.rows
    width = rows.shape[1]
    picked = np.zeros(rows.size, np.bool_)
    flat = rows.ravel()
    candidates = np.flatnonzero(holdings.pickable.ravel())
    candidates = candidates[surplus[flat[candidates]] > 0]
    if not len(candidates):
        return picked.reshape(rows.shape)
    partitions = candidates // width
    brokers = flat[candidates].astype(np.int64)
    goes = can_move(holdings, candidates, wanting, rules)
    touched = row_counts(rows >= 0) < holdings.factors
    penalty = np.where(goes, 0, 2) + touched[partitions]
    crowd = _crowd(brokers, holdings.topics[partitions])
    key = (brokers.astype(np.uint64) << _BROKER_SHIFT) | (
        penalty.astype(np.uint64) << _PENALTY_SHIFT
    )
    key |= (np.uint64(2**_CROWD_BITS - 1) - crowd.astype(np.uint64)) << np.uint64(_NOISE_BITS)
    key |= noise(seed, candidates) >> np.uint64(64 - _NOISE_BITS)
    order = np.argsort(key, kind="stable")
    candidates, brokers, partitions = candidates[order], brokers[order], partitions[order]
    penalty = penalty[order]
    need = surplus.copy()
    taken = touched
    for number in range(_ROUNDS):
        is_last = number == _ROUNDS - 1
        usable = ~picked[candidates] & (need[brokers] > 0)
        if not is_last:
            usable &= ~taken[partitions] & (penalty <= number)
        pool = np.flatnonzero(usable)
        if not len(pool):
            continue
        place = np.arange(len(pool)) - run_starts(brokers[pool])
        chosen = pool[place < need[brokers[pool]]]
        if not is_last:
            chosen = chosen[first_occurrences(partitions[chosen])]
        picked[candidates[chosen]] = True
        taken[partitions[chosen]] = True
        need -= count_by_index(brokers[chosen], len(need))
    return picked.reshape(rows.shape)


def can_move(holdings: ReplicaPool, candidates: Ints, wanting: Bools, rules: RackRules) -> Bools:
    """Return whether a replica could go to a broker that is wanting, as far as racks tell.

    Seen by racks only where each may hold one replica; elsewhere the answer is yes.
    """
    rows = holdings.rows
    wanted = np.zeros(rules.count, np.bool_)
    wanted[rules.racks[wanting]] = True
    if not rules.is_tabled or not wanted.any():
        return np.ones(len(candidates), np.bool_)
    bit_of = np.append(np.uint64(1) << rules.racks.astype(np.uint64), np.uint64(0))
    bits = bit_of[rows]
    all_bits = np.bitwise_or.reduce(bits, axis=1)
    partitions = candidates // rows.shape[1]
    others = all_bits[partitions] & ~bits.ravel()[candidates]
    mask = np.uint64(sum(1 << int(rack) for rack in np.flatnonzero(wanted)))
    is_alone = rules.tops.max(axis=1)[holdings.factors[partitions]] <= 1
    return np.asarray(((~others & mask) != 0) | ~is_alone)


def _crowd(brokers: Ints, topics: Shorts) -> Ints:
    """Return how many replicas of the same topic the same broker holds before this one."""
    small = brokers.astype(np.uint16) if brokers.max(initial=0) < 2**16 else brokers
    order = np.argsort(small, kind="stable")
    # Candidates stand by topic, so that those of one topic are together on each broker.
    run = run_starts((brokers[order] << 32) | topics[order])
    crowd = np.empty(len(brokers), np.int64)
    crowd[order] = np.arange(len(brokers)) - run
    return np.asarray(np.minimum(crowd, 2**_CROWD_BITS - 1))
