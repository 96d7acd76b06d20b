"""Replicas of different sizes: which give way, and who gets which.

Counts stay what they are to be; sizes decide only which replicas make them up. A broker gives
replicas whose mean size is what it has too much of per replica that it gives; and gets such as
come to what it lacks. Where a broker has too many bytes though not too many replicas, it gives its
largest, and brokers that lack bytes though not replicas give as many of their smallest for them.
"""

from math import inf
from operator import itemgetter

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints, first_occurrences, run_starts

TOLERANCE = 0.02
"""A broker that holds no more than this above its share of bytes is left as it is."""
_FEW = 48
"""So many brokers are looked at number by number."""
_NEAR = 0.5
"""In one turn replicas go to brokers that want at least so much of what the neediest wants."""


def assign_by_size(sizes: Ints, places: Ints, needs: Floats) -> Ints:
    """Return who gets each of some replicas, largest first.

    ``places`` is how many each may get, ``needs`` how many bytes it lacks: the largest go to who
    lacks the most for each of its places, of those that lack so much; where nobody does, to who
    lacks the most. Requires as many places as replicas, or more.
    """
    if len(places) <= _FEW:
        return np.array(_assign_to_few(sizes, places, needs), np.int64)
    return _assign_to_many(sizes, places, needs)


def _assign_to_few(sizes: Ints, places: Ints, needs: Floats) -> list[int]:
    """Do it number by number, as for few of them an array costs more than it saves."""
    amounts, left, lacks = sizes.tolist(), places.tolist(), needs.astype(np.float64).tolist()
    chosen: list[int] = []
    receivers = [taker for taker, free in enumerate(left) if free > 0]
    while len(chosen) < len(amounts):
        largest = amounts[len(chosen)]
        wanted = [(lacks[t] / left[t], t) for t in receivers if lacks[t] >= largest]
        if not wanted:
            wanted = [(lacks[t], t) for t in receivers]
        wanted.sort(key=itemgetter(0), reverse=True)
        most = wanted[0][0]
        least = _NEAR * most if most > 0 else -inf
        for want, taker in wanted[: len(amounts) - len(chosen)]:
            if want < least:
                break
            lacks[taker] -= amounts[len(chosen)]
            left[taker] -= 1
            chosen.append(taker)
        receivers = [taker for taker in receivers if left[taker] > 0]
    return chosen


def _assign_to_many(sizes: Ints, places: Ints, needs: Floats) -> Ints:
    chosen = np.empty(len(sizes), np.int64)
    left, needs = places.copy(), needs.astype(np.float64)
    done = 0
    while done < len(sizes):
        receivers = np.flatnonzero(left > 0)
        fits = needs[receivers] >= sizes[done]
        if fits.any():
            receivers = receivers[fits]
            wanted = needs[receivers] / left[receivers]
        else:
            wanted = needs[receivers]
        order = np.argsort(-wanted, kind="stable")
        most = wanted[order[0]]
        several = int((wanted >= _NEAR * most).sum()) if most > 0 else len(receivers)
        several = min(several, len(sizes) - done)
        some = receivers[order[:several]]
        chosen[done : done + several] = some
        needs[some] -= sizes[done : done + several]
        left[some] -= 1
        done += several
    return chosen


def select_by_mean_size(
    brokers: Ints, sizes: Ints, partitions: Ints, surplus: Ints, excess: Floats
) -> Ints:
    """Return which candidates give way, by their position: about ``surplus`` of each broker.

    Candidates stand by broker, ascending, and within one by size, ascending. Of each broker a part
    of them is taken evenly: its smallest, or its largest, so many that their mean comes to what is
    to go (``excess`` bytes) by replica. At most one of a partition is taken.
    """
    count = len(surplus)
    cuts = np.searchsorted(brokers, np.arange(count + 1))
    first, held = cuts[:-1], np.diff(cuts)
    sums = np.concatenate([np.zeros(1), np.cumsum(sizes, dtype=np.float64)])
    number = np.minimum(surplus, held)
    mean = np.where(number > 0, np.maximum(excess, 0) / np.maximum(number, 1), 0.0)
    whole = (sums[cuts[1:]] - sums[first]) / np.maximum(held, 1)
    is_small = mean <= whole
    short, long = number.copy(), held.copy()
    # The mean of the smallest grows with their number, that of the largest falls.
    while (short < long).any():
        middle = (short + long + 1) // 2
        smallest = (sums[first + middle] - sums[first]) / np.maximum(middle, 1)
        largest = (sums[cuts[1:]] - sums[cuts[1:] - middle]) / np.maximum(middle, 1)
        fits = np.where(is_small, smallest <= mean, largest >= mean)
        short, long = np.where(fits, middle, short), np.where(fits, long, middle - 1)
    begin = np.where(is_small, 0, held - short)
    position = np.arange(len(brokers)) - first[brokers]
    inside = (position >= begin[brokers]) & (position < (begin + short)[brokers])
    place = position - begin[brokers]
    share = (number / np.maximum(short, 1))[brokers]
    # Evenly, from the middle of each part: the last of all may be much larger than the others.
    hit = np.floor((place + 1) * share + 0.5) > np.floor(place * share + 0.5)
    chosen = np.flatnonzero(inside & hit)
    return chosen[first_occurrences(partitions[chosen])]


def select_largest(brokers: Ints, sizes: Ints, free: Bools, excess: Floats) -> Ints:
    """Return which candidates give way so that each broker loses its excess: its largest that fit.

    Candidates as for `select_by_mean_size`; only those that are ``free`` are taken.
    """
    usable = np.flatnonzero(free & (sizes > 0) & (sizes <= excess[brokers]))[::-1]
    if not len(usable):
        return usable
    own, size = brokers[usable], sizes[usable].astype(np.float64)
    total = np.cumsum(size)
    starts = run_starts(-own)
    before = total - size - (total - size)[starts]
    # Whoever fits after all that are larger; what fits only after leaving one out is passed over.
    return usable[before + size <= excess[own]]


def select_smallest(brokers: Ints, free: Bools, number: Ints) -> Ints:
    """Return the ``number`` smallest candidates of each broker that are ``free``."""
    usable = np.flatnonzero(free)
    own = brokers[usable]
    return usable[np.arange(len(usable)) - run_starts(own) < number[own]]
