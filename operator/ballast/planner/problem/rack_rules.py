"""How many replicas of one partition may be in one rack.

A partition is to be spread over the racks as evenly as their brokers allow: every rack gets as many
as the same number of rounds gives it (``floors``), and what is left over goes to different racks,
one each (``extras``, in racks where ``tops`` is above the floor). With three replicas and two racks
that is two and one; with three replicas and five racks, three racks. Where racks do not count,
every broker is a rack by itself: then the rule says no more than that replicas are on different
brokers.
"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints, Shorts, count_by_index, row_counts

MAX_TABLED_RACKS = 64
"""With more racks there are more than replicas: no two may share one, and no table is needed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RackRules:
    """The rule for each replication factor."""

    racks: Ints
    """Rack of each broker."""
    count: int
    """Number of racks."""
    floors: Ints
    """By replication factor and rack."""
    tops: Ints
    """By replication factor and rack."""
    extras: Ints
    """By replication factor."""

    @classmethod
    def of(cls, racks: Shorts | None, in_use: Bools, max_replication_factor: int) -> "RackRules":
        """Return the rules for clusters in which only brokers ``in_use`` are to hold replicas.

        ``racks`` is None where they do not count; a broker of unknown rack is one by itself.
        """
        numbers = _rack_numbers(racks, len(in_use))
        count = int(numbers.max()) + 1 if len(numbers) else 0
        sizes = np.bincount(numbers[in_use], minlength=count).astype(np.int64)
        factors = range(max_replication_factor + 1)
        floors = np.zeros((len(factors), count), np.int64)
        tops = np.zeros((len(factors), count), np.int64)
        extras = np.zeros(len(factors), np.int64)
        for factor in factors:
            rounds = 0
            while rounds < factor and np.minimum(sizes, rounds + 1).sum() <= factor:
                rounds += 1
            floors[factor] = np.minimum(sizes, rounds)
            extras[factor] = factor - floors[factor].sum()
            tops[factor] = floors[factor] + ((sizes > rounds) & (extras[factor] > 0))
        return cls(racks=numbers, count=count, floors=floors, tops=tops, extras=extras)

    @property
    def is_tabled(self) -> bool:
        """Whether partitions by racks may be laid out as a table."""
        return self.count <= MAX_TABLED_RACKS

    def usage(self, rows: Shorts) -> Ints:
        """Return how many replicas of each row are in each rack; only where `is_tabled`."""
        assert self.is_tabled, "a table of so many racks would not fit"
        used = np.zeros(len(rows) * self.count, np.int64)
        for column in rows.T:
            held = np.flatnonzero(column >= 0)
            used += count_by_index(held * self.count + self.racks[column[held]], len(used))
        return used.reshape(len(rows), self.count)

    def open_racks(self, used: Ints, factors: Shorts) -> Bools:
        """Return which racks may get one more replica of partitions with this `usage`."""
        floors = self.floors[factors]
        beyond = np.maximum(used - floors, 0).sum(axis=1)
        has_extra = beyond < self.extras[factors]
        return np.asarray((used < floors) | ((used < self.tops[factors]) & has_extra[:, None]))

    def room(self, used: Ints, factors: Shorts) -> Ints:
        """Return how many more replicas each rack may get, as long as the others get none."""
        floors = self.floors[factors]
        beyond = np.maximum(used - floors, 0).sum(axis=1)
        has_extra = (self.tops[factors] > np.maximum(used, floors)) & (
            beyond < self.extras[factors]
        )[:, None]
        return np.asarray(np.maximum(floors - used, 0) + has_extra)

    def conflicts(self, rows: Shorts, brokers: Ints, factors: Shorts) -> Bools:
        """Return which row may not get this broker: it is there, or its rack or the row is full."""
        there = row_counts(rows >= 0) >= factors
        shared = np.zeros(len(rows), np.bool_)
        own = self.racks[brokers]
        for column in rows.T:
            held = column >= 0
            there |= column == brokers
            shared |= held & (self.racks[column] == own)
        if self.is_tabled:
            doubtful = np.flatnonzero(shared | (self.extras[factors] == 0))
            used = self.usage(rows[doubtful])
            is_open = self.open_racks(used, factors[doubtful])
            shared[doubtful] = ~is_open[np.arange(len(doubtful)), own[doubtful]]
        return np.asarray(there | shared)

    def excess(self, rows: Shorts, factors: Shorts, weights: Floats, fixed: Bools) -> Bools:
        """Return which replicas must leave so that every row is in order, as few as can be.

        Of those that share a rack the one with the greatest weight (per broker) goes; those that
        are ``fixed`` stay whatever the rules say.
        """
        excess = np.zeros(rows.shape, np.bool_)
        doubtful = np.flatnonzero(self._may_be_in_disorder(rows, factors))
        if not len(doubtful):
            return excess
        some, factor = rows[doubtful], factors[doubtful]
        held = some >= 0
        weight = np.where(held, weights[some], np.inf)
        weight[fixed[doubtful] & held] = -np.inf
        order = np.argsort(weight, axis=1, kind="stable")
        accepted = np.full(some.shape, -1, np.int32)
        lines = np.arange(len(some))
        for place in range(some.shape[1]):
            position = order[:, place]
            broker = some[lines, position].astype(np.int64)
            refused = self.conflicts(accepted, np.maximum(broker, 0), factor)
            refused &= (broker >= 0) & np.isfinite(weight[lines, position])
            excess[doubtful[refused], position[refused]] = True
            accepted[lines, place] = np.where(refused, -1, broker)
        return excess

    def _may_be_in_disorder(self, rows: Shorts, factors: Shorts) -> Bools:
        shares = self.floors[factors].any(axis=1) if self.is_tabled else np.zeros(len(rows), bool)
        # With one round for all and nothing left over, every rack has one: sharing shows it.
        shares &= ~((self.extras[factors] == 0) & (factors == self.count))
        shares |= row_counts(rows >= 0) > factors
        numbers = np.where(rows >= 0, self.racks[rows], -1)
        for column in range(1, rows.shape[1]):
            for other in range(column):
                shares |= (numbers[:, column] == numbers[:, other]) & (rows[:, column] >= 0)
        return np.asarray(shares)


def _rack_numbers(racks: Shorts | None, brokers: int) -> Ints:
    if racks is None:
        return np.arange(brokers, dtype=np.int64)
    numbers = racks.astype(np.int64)
    unknown = np.flatnonzero(numbers < 0)
    numbers[unknown] = numbers.max(initial=-1) + 1 + np.arange(len(unknown))
    return numbers
