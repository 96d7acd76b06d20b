"""Replicas of different sizes: which ones leave a broker, and which broker gets which one.

Counts are given; sizes decide only which replicas make them up.

Example for `select_by_mean_size`: a broker holds replicas of 10, 20, 30 and 100 bytes, and gives 2
of them and 50 bytes. 25 bytes per replica is below the mean of all, so small ones leave: 10, 20 and
30 have a mean of no more than 25. Two of these three leave, evenly: 10 and 30.

Example for `assign_by_size`: replicas of 100, 60 and 30 bytes; broker 1 has 2 slots and a deficit
of 120 bytes, broker 2 has 1 slot and a deficit of 70. The 100 fits broker 1 only. The 60 goes to
broker 2, which now has the larger deficit per slot. The 30 takes the last slot, on broker 1.

"""

from math import inf
from operator import itemgetter

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints, first_occurrences, run_starts

TOLERANCE = 0.02
"""A broker whose bytes exceed its target by no more than this part is balanced."""
_FEW = 48
"""Up to this number of brokers, plain Python is faster than numpy."""
_NEAR = 0.5
"""One turn assigns replicas to brokers with at least this part of the largest deficit."""


def assign_by_size(sizes: Ints, places: Ints, byte_deficits: Floats) -> Ints:
    """Return the broker of each of some replicas, largest first.

    ``places`` is the number of slots of each broker, ``byte_deficits`` its missing bytes. The
    largest replica goes to the broker with the largest deficit per slot, among those whose deficit
    it fits; if it fits none, to the largest deficit. Requires at least as many slots as replicas.
    """
    if len(places) <= _FEW:
        return np.array(_assign_to_few(sizes, places, byte_deficits), np.int64)
    return _assign_to_many(sizes, places, byte_deficits)


def _assign_to_few(sizes: Ints, places: Ints, byte_deficits: Floats) -> list[int]:
    """Assign in plain Python: for few brokers, arrays cost more than they save."""
    amounts, free_places, deficits = (
        sizes.tolist(),
        places.tolist(),
        byte_deficits.astype(np.float64).tolist(),
    )
    chosen: list[int] = []
    receivers = [receiver for receiver, is_free in enumerate(free_places) if is_free > 0]
    while len(chosen) < len(amounts):
        largest = amounts[len(chosen)]
        ranking = [(deficits[t] / free_places[t], t) for t in receivers if deficits[t] >= largest]
        if not ranking:
            ranking = [(deficits[t], t) for t in receivers]
        ranking.sort(key=itemgetter(0), reverse=True)
        deficit_max = ranking[0][0]
        deficit_min = _NEAR * deficit_max if deficit_max > 0 else -inf
        for deficit, receiver in ranking[: len(amounts) - len(chosen)]:
            if deficit < deficit_min:
                break
            deficits[receiver] -= amounts[len(chosen)]
            free_places[receiver] -= 1
            chosen.append(receiver)
        receivers = [receiver for receiver in receivers if free_places[receiver] > 0]
    return chosen


def _assign_to_many(sizes: Ints, places: Ints, byte_deficits: Floats) -> Ints:
    chosen = np.empty(len(sizes), np.int64)
    free_places, byte_deficits = places.copy(), byte_deficits.astype(np.float64)
    done = 0
    while done < len(sizes):
        receivers = np.flatnonzero(free_places > 0)
        is_enough = byte_deficits[receivers] >= sizes[done]
        if is_enough.any():
            receivers = receivers[is_enough]
            ranking = byte_deficits[receivers] / free_places[receivers]
        else:
            ranking = byte_deficits[receivers]
        order = np.argsort(-ranking, kind="stable")
        deficit_max = ranking[order[0]]
        count = int((ranking >= _NEAR * deficit_max).sum()) if deficit_max > 0 else len(receivers)
        count = min(count, len(sizes) - done)
        receivers_now = receivers[order[:count]]
        chosen[done : done + count] = receivers_now
        byte_deficits[receivers_now] -= sizes[done : done + count]
        free_places[receivers_now] -= 1
        done += count
    return chosen


def select_by_mean_size(
    brokers: Ints, sizes: Ints, partitions: Ints, surplus: Ints, excess: Floats
) -> Ints:
    """Return the positions of candidates that leave: about ``surplus`` of each broker.

    Candidates are sorted by broker, and within one by size. Of each broker a range of them is used,
    its smallest or its largest, so long that its mean is ``excess`` bytes per replica; the surplus
    is taken evenly from this range. At most one of a partition is taken.
    """
    count = len(surplus)
    cuts = np.searchsorted(brokers, np.arange(count + 1))
    first, candidate_counts = cuts[:-1], np.diff(cuts)
    sums = np.concatenate([np.zeros(1), np.cumsum(sizes, dtype=np.float64)])
    number = np.minimum(surplus, candidate_counts)
    mean = np.where(number > 0, np.maximum(excess, 0) / np.maximum(number, 1), 0.0)
    whole = (sums[cuts[1:]] - sums[first]) / np.maximum(candidate_counts, 1)
    is_small = mean <= whole
    short, long = number.copy(), candidate_counts.copy()
    # The mean of the smallest grows with their number, that of the largest falls.
    while (short < long).any():
        middle = (short + long + 1) // 2
        smallest = (sums[first + middle] - sums[first]) / np.maximum(middle, 1)
        largest = (sums[cuts[1:]] - sums[cuts[1:] - middle]) / np.maximum(middle, 1)
        is_enough = np.where(is_small, smallest <= mean, largest >= mean)
        short, long = np.where(is_enough, middle, short), np.where(is_enough, long, middle - 1)
    begin = np.where(is_small, 0, candidate_counts - short)
    position = np.arange(len(brokers)) - first[brokers]
    inside = (position >= begin[brokers]) & (position < (begin + short)[brokers])
    place = position - begin[brokers]
    share = (number / np.maximum(short, 1))[brokers]
    # Evenly, from the middle of each part: the last of all may be much larger than the others.
    is_taken = np.floor((place + 1) * share + 0.5) > np.floor(place * share + 0.5)
    chosen = np.flatnonzero(inside & is_taken)
    return chosen[first_occurrences(partitions[chosen])]


def select_largest(brokers: Ints, sizes: Ints, is_free: Bools, excess: Floats) -> Ints:
    """Return the candidates that remove each broker's excess: its largest that fit.

    Candidates as for `select_by_mean_size`; only those that are ``is_free`` are taken.
    """
    usable = np.flatnonzero(is_free & (sizes > 0) & (sizes <= excess[brokers]))[::-1]
    if not len(usable):
        return usable
    own_brokers, size = brokers[usable], sizes[usable].astype(np.float64)
    total = np.cumsum(size)
    starts = run_starts(-own_brokers)
    before = total - size - (total - size)[starts]
    # A candidate fits if it does after all larger ones; one that fits only if a larger one is left
    # out is skipped.
    return usable[before + size <= excess[own_brokers]]


def select_smallest(brokers: Ints, is_free: Bools, number: Ints) -> Ints:
    """Return the ``number`` smallest candidates of each broker that are ``is_free``."""
    usable = np.flatnonzero(is_free)
    own_brokers = brokers[usable]
    return usable[np.arange(len(usable)) - run_starts(own_brokers) < number[own_brokers]]
