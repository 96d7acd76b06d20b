"""How many replicas of one partition may be in one rack.

Goal: every partition is spread over the racks as evenly as their brokers allow. Rule, for each
replication factor: every rack holds at least its ``floor`` and at most its ``ceiling``; the
replicas that remain after all floors (``extras``) go to different racks. Floors come from rounds:
in each round every rack with a free broker gets one replica, as long as there are enough for all of
them.

Example: racks a (brokers 1, 2) and b (brokers 3, 4), replication factor 3. One round gives each
rack one replica, a second one would take four. So floors are 1 and 1, one extra remains, and both
ceilings are 2: brokers 1, 2, 3 are allowed, and so are 1, 3, 4. With replication factor 2 there is
no extra and both ceilings are 1: brokers 1, 2 are not allowed.

Where racks do not count, every broker is a rack by itself: then the rule says only that replicas
are on different brokers.

"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints, Shorts, count_by_index, row_counts

MAX_TABLED_RACKS = 64
"""With more racks than replicas no two replicas share a rack, and no table is needed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RackRules:
    """The rack rule for each replication factor."""

    racks: Ints
    """Rack of each broker."""
    count: int
    """Number of racks."""
    floors: Ints
    """Least number of replicas, by replication factor and rack."""
    ceilings: Ints
    """Largest number of replicas, by replication factor and rack."""
    extras: Ints
    """Replicas beyond the floors, by replication factor."""

    @classmethod
    def of(cls, racks: Shorts | None, in_use: Bools, max_replication_factor: int) -> "RackRules":
        """Return the rules for a cluster in which only brokers ``in_use`` hold replicas.

        ``racks`` is None where they do not count; a broker of unknown rack is a rack by itself.
        """
        numbers = _rack_numbers(racks, len(in_use))
        count = int(numbers.max()) + 1 if len(numbers) else 0
        sizes = np.bincount(numbers[in_use], minlength=count).astype(np.int64)
        factors = range(max_replication_factor + 1)
        floors = np.zeros((len(factors), count), np.int64)
        ceilings = np.zeros((len(factors), count), np.int64)
        extras = np.zeros(len(factors), np.int64)
        for factor in factors:
            rounds = 0
            while rounds < factor and np.minimum(sizes, rounds + 1).sum() <= factor:
                rounds += 1
            floors[factor] = np.minimum(sizes, rounds)
            extras[factor] = factor - floors[factor].sum()
            ceilings[factor] = floors[factor] + ((sizes > rounds) & (extras[factor] > 0))
        return cls(racks=numbers, count=count, floors=floors, ceilings=ceilings, extras=extras)

    @property
    def is_tabled(self) -> bool:
        """Whether a table of partitions by racks is small enough."""
        return self.count <= MAX_TABLED_RACKS

    def usage(self, rows: Shorts) -> Ints:
        """Return how many replicas of each row are in each rack; only if `is_tabled`."""
        assert self.is_tabled, "with that many racks there is no table"
        usage = np.zeros(len(rows) * self.count, np.int64)
        for column in rows.T:
            occupied = np.flatnonzero(column >= 0)
            usage += count_by_index(
                occupied * self.count + self.racks[column[occupied]], len(usage)
            )
        return usage.reshape(len(rows), self.count)

    def open_racks(self, usage: Ints, factors: Shorts) -> Bools:
        """Return which racks may get one more replica of partitions with this `usage`."""
        floors = self.floors[factors]
        extras_used = np.maximum(usage - floors, 0).sum(axis=1)
        has_extra = extras_used < self.extras[factors]
        return np.asarray(
            (usage < floors) | ((usage < self.ceilings[factors]) & has_extra[:, None])
        )

    def room(self, usage: Ints, factors: Shorts) -> Ints:
        """Return how many more replicas each rack may get if the other racks get none."""
        floors = self.floors[factors]
        extras_used = np.maximum(usage - floors, 0).sum(axis=1)
        has_extra = (self.ceilings[factors] > np.maximum(usage, floors)) & (
            extras_used < self.extras[factors]
        )[:, None]
        return np.asarray(np.maximum(floors - usage, 0) + has_extra)

    def conflicts(self, rows: Shorts, brokers: Ints, factors: Shorts) -> Bools:
        """Return for which rows this broker is refused.

        It is in the row already, or its rack is full, or the row is.
        """
        is_refused = row_counts(rows >= 0) >= factors
        shared = np.zeros(len(rows), np.bool_)
        broker_racks = self.racks[brokers]
        for column in rows.T:
            occupied = column >= 0
            is_refused |= column == brokers
            shared |= occupied & (self.racks[column] == broker_racks)
        if self.is_tabled:
            candidates = np.flatnonzero(shared | (self.extras[factors] == 0))
            usage = self.usage(rows[candidates])
            is_open = self.open_racks(usage, factors[candidates])
            shared[candidates] = ~is_open[np.arange(len(candidates)), broker_racks[candidates]]
        return np.asarray(is_refused | shared)

    def excess(self, rows: Shorts, factors: Shorts, weights: Floats, fixed: Bools) -> Bools:
        """Return the fewest replicas that must leave so that every row satisfies the rules.

        Of replicas that share a rack the one with the greatest weight (per broker) leaves; those
        that are ``fixed`` stay even against the rules.
        """
        excess = np.zeros(rows.shape, np.bool_)
        candidates = np.flatnonzero(self._may_be_in_disorder(rows, factors))
        if not len(candidates):
            return excess
        part, factor = rows[candidates], factors[candidates]
        occupied = part >= 0
        weight = np.where(occupied, weights[part], np.inf)
        weight[fixed[candidates] & occupied] = -np.inf
        order = np.argsort(weight, axis=1, kind="stable")
        accepted = np.full(part.shape, -1, np.int32)
        positions = np.arange(len(part))
        for place in range(part.shape[1]):
            position = order[:, place]
            broker = part[positions, position].astype(np.int64)
            refused = self.conflicts(accepted, np.maximum(broker, 0), factor)
            refused &= (broker >= 0) & np.isfinite(weight[positions, position])
            excess[candidates[refused], position[refused]] = True
            accepted[positions, place] = np.where(refused, -1, broker)
        return excess

    def _may_be_in_disorder(self, rows: Shorts, factors: Shorts) -> Bools:
        shares = self.floors[factors].any(axis=1) if self.is_tabled else np.zeros(len(rows), bool)
        # With one round for all and no extra, every rack has exactly one: sharing a rack shows it.
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
