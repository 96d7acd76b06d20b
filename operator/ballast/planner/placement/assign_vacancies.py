"""Assigns unassigned replicas to brokers with a deficit.

Goals: every broker gets as many replicas as its deficit; a topic's replicas spread over brokers;
where sizes count, brokers get the bytes that they are missing. Constraints: the rack rules; a
broker holds a partition once.

Algorithm:

1. Partitions are handled in rounds: those with most missing replicas first, one replica per round.
2. Racks first: a class is a set of partitions with the same open racks.
   `rack_apportionment` decides how many of each class go to each rack.
3. Inside a rack the brokers' slots, as many as each one's deficit, are put in stride order, so that
   those of one broker are far apart, and dealt to the partitions in the order of topics. Where
   sizes count, `size_matching.assign_by_size` deals the largest replicas first.
4. A slot that does not fit its partition is passed on to the next one; what still does not fit is
   exchanged with another partition's slot.

Example without racks: brokers 1, 2, 3 have deficits 1, 2, 1. In stride order their slots are 2, 1,
3, 2. Four partitions of one topic, each missing its only replica::

    partition 0: broker 2
    partition 1: broker 1
    partition 2: broker 3
    partition 3: broker 2

"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import (
    Bools,
    Floats,
    Ints,
    Shorts,
    count_by_index,
    first_occurrences,
    noise,
    row_counts,
    stable_order,
    stride_cells,
    stride_order,
    sum_by_index,
)
from ballast.planner.placement.rack_apportionment import apportion_to_racks
from ballast.planner.placement.size_matching import assign_by_size
from ballast.planner.problem.rack_rules import RackRules

_TURNS = 24
"""Times that slots that do not fit are passed on."""
_EXCHANGES = 48
"""Times that each slot that still does not fit looks for another one to exchange with."""
_LARGEST = 24
"""Of each class, as many replicas per rack are assigned one by one where sizes count."""
_MAX_CLASSES = 4096
"""With more classes there are few partitions in each, and apportioning by class is useless."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Vacancies:
    """Partitions with unassigned replicas; `assign_vacancies` fills ``rows``."""

    rows: Shorts
    """The replica matrix; -1 = no broker."""
    unassigned: Bools
    """As ``rows``: positions to fill."""
    factors: Shorts
    """Replication factor that each partition is to have."""
    sizes: Ints | None = None
    """Bytes of one replica of each partition; None = sizes do not count."""
    byte_deficits: Floats | None = None
    """Bytes that each broker is missing; set together with ``sizes``."""


def assign_vacancies(
    vacancies: Vacancies, deficits: Ints, receivers: Bools, rules: RackRules, seed: int
) -> Ints:
    """Fill the unassigned positions of ``vacancies.rows`` according to ``deficits``.

    A broker gets more than its deficit only where the rack rules leave no other. Returns the
    positions in the flat rows for which no broker was found.
    """
    rows, width = vacancies.rows, vacancies.rows.shape[1]
    deficits = deficits.copy()
    sizes = vacancies.sizes
    byte_deficits = None if vacancies.byte_deficits is None else vacancies.byte_deficits.copy()
    pending = vacancies.unassigned.copy()
    remaining = row_counts(pending)
    unplaced: list[Ints] = []
    # Partitions that miss several replicas come first: those that miss one fit almost anywhere.
    for missing in range(int(remaining.max(initial=0)), 0, -1):
        row_ids = np.flatnonzero(remaining == missing)
        if not len(row_ids):
            continue
        share = len(row_ids) / int(remaining.sum())
        column = np.argmax(pending[row_ids], axis=1)
        part_sizes = None if sizes is None else sizes[row_ids]
        part = Vacancies(
            rows=rows[row_ids],
            unassigned=pending[row_ids],
            factors=vacancies.factors[row_ids],
            sizes=part_sizes,
            byte_deficits=byte_deficits,
        )
        brokers = _Round(part, receivers, rules, seed).brokers(deficits, share)
        if part_sizes is not None and byte_deficits is not None:
            byte_deficits -= sum_by_index(
                brokers[brokers >= 0], part_sizes[brokers >= 0], len(deficits)
            )
        rows[row_ids, column] = brokers
        pending[row_ids, column] = False
        unplaced.append((row_ids * width + column)[brokers < 0])
        deficits = np.maximum(deficits - count_by_index(brokers, len(deficits)), 0)
        remaining[row_ids] -= 1
    return np.concatenate(unplaced) if unplaced else np.zeros(0, np.int64)


class _Round:
    """Partitions each of which gets one replica."""

    def __init__(self, vacancies: Vacancies, receivers: Bools, rules: RackRules, seed: int) -> None:
        self._rows = vacancies.rows
        self._factors = vacancies.factors
        self._sizes = vacancies.sizes
        self._needs = vacancies.byte_deficits
        self._receivers = receivers
        self._rules = rules
        self._seed = seed

    def brokers(self, deficits: Ints, share: float) -> Ints:
        """Return the broker for each partition, -1 = none was found."""
        all_rows = np.arange(len(self._rows))
        if not self._rules.is_tabled:
            return self._assign(all_rows, deficits, np.flatnonzero(self._receivers))
        chosen = np.full(len(self._rows), -1, np.int64)
        racks = self._racks(deficits, share)
        for rack in range(self._rules.count):
            row_ids = np.flatnonzero(racks == rack)
            brokers = np.flatnonzero((self._rules.racks == rack) & self._receivers)
            if len(row_ids):
                chosen[row_ids] = self._assign(row_ids, deficits, brokers)
        return chosen

    def _racks(self, deficits: Ints, share: float) -> Ints:
        """Return the rack for each partition, -1 = none is open to it."""
        rules = self._rules
        has_taker = np.zeros(rules.count, np.bool_)
        has_taker[rules.racks[self._receivers]] = True
        is_open = rules.open_racks(rules.usage(self._rows), self._factors) & has_taker
        bits = np.uint64(1) << np.arange(rules.count, dtype=np.uint64)
        masks = np.where(is_open, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64)
        classes, first, class_of = np.unique(masks, return_index=True, return_inverse=True)
        if len(classes) > _MAX_CLASSES:
            return self._racks_of_assignment(deficits)
        demand = np.bincount(rules.racks, deficits, minlength=rules.count).astype(np.int64)
        supply = count_by_index(class_of, len(classes))
        supply[classes == 0] = 0
        apportioned = apportion_to_racks(supply, is_open[first], demand, share)
        racks = np.full(len(masks), -1, np.int64)
        if self._sizes is not None:
            self._sized_racks(racks, class_of, apportioned)
            return racks
        # Inside a class the racks take turns, so that the partitions of a topic are spread too.
        cells = stride_cells(apportioned)
        order = np.argsort(class_of, kind="stable")
        racks[order[masks[order] != 0]] = cells % rules.count
        return racks

    def _sized_racks(self, racks: Ints, class_of: Ints, apportioned: Ints) -> None:
        """Choose racks inside each class so that each gets the bytes that its brokers are missing.

        The largest replicas go where most bytes are missing; for the others the racks take turns.
        """
        assert self._sizes is not None, "asked for where sizes count"
        assert self._needs is not None, "sizes come with needs"
        order = np.lexsort((-self._sizes, class_of))
        cuts = np.searchsorted(class_of[order], np.arange(len(apportioned) + 1))
        byte_deficits = np.bincount(
            self._rules.racks, np.maximum(self._needs, 0), self._rules.count
        )
        remaining = apportioned.sum(axis=0)
        for number in np.argsort(-apportioned.sum(axis=1), kind="stable").tolist():
            places = apportioned[number].copy()
            row_ids = order[cuts[number] : cuts[number] + int(places.sum())]
            large = row_ids[: _LARGEST * len(places)]
            share = places / np.maximum(remaining, 1)
            racks[large] = assign_by_size(self._sizes[large], places, byte_deficits * share)
            remaining -= places
            places -= count_by_index(racks[large], len(places))
            small = row_ids[len(large) :]
            racks[small] = stride_order(np.arange(len(places)), places)
            byte_deficits -= np.bincount(racks[row_ids], self._sizes[row_ids], len(byte_deficits))

    def _racks_of_assignment(self, deficits: Ints) -> Ints:
        brokers = self._assign(
            np.arange(len(self._rows)), deficits, np.flatnonzero(self._receivers)
        )
        return np.where(brokers >= 0, self._rules.racks[brokers], -1)

    def _assign(self, row_ids: Ints, deficits: Ints, brokers: Ints) -> Ints:
        """Return a broker of ``brokers`` for each of these partitions."""
        chosen = np.full(len(row_ids), -1, np.int64)
        if not len(brokers):
            return chosen
        if self._sizes is not None:
            sizes = self._sizes[row_ids]
            lines_by_size = stable_order(sizes.max(initial=0) - sizes)
            chosen[lines_by_size] = self._assign_in_order(
                row_ids[lines_by_size], deficits[brokers], brokers
            )
            return chosen
        return self._assign_in_order(row_ids, deficits[brokers], brokers)

    def _assign_in_order(self, row_ids: Ints, deficits: Ints, brokers: Ints) -> Ints:
        chosen = np.full(len(row_ids), -1, np.int64)
        places = self._places(row_ids, deficits, brokers)
        rows, factors = self._rows[row_ids], self._factors[row_ids]
        remaining = np.arange(len(row_ids))
        for _ in range(_TURNS):
            refused = self._rules.conflicts(rows[remaining], places, factors[remaining])
            chosen[remaining[~refused]] = places[~refused]
            remaining, places = remaining[refused], np.roll(places[refused], 1)
            if not len(remaining):
                return chosen
        self._exchange(chosen, rows, factors, remaining, places)
        return chosen

    def _places(self, row_ids: Ints, deficits: Ints, brokers: Ints) -> Ints:
        """Return one slot for each partition, in the order of the partitions."""
        overflow = len(row_ids) - int(deficits.sum())
        if self._sizes is not None and self._needs is not None:
            if overflow > 0:
                deficits = deficits + count_by_index(
                    np.arange(overflow) % len(brokers), len(brokers)
                )
            return brokers[assign_by_size(self._sizes[row_ids], deficits, self._needs[brokers])]
        places = stride_order(brokers[deficits > 0], deficits[deficits > 0])
        if overflow > 0:
            # More replicas than slots: the brokers take turns.
            places = np.concatenate([places, np.resize(brokers, overflow)])
        return places[: len(row_ids)]

    def _exchange(
        self, chosen: Ints, rows: Shorts, factors: Shorts, remaining: Ints, places: Ints
    ) -> None:
        """Exchange slots that do not fit with those of partitions drawn by hash."""
        for turn in range(_EXCHANGES):
            if not len(remaining):
                return
            draw = noise(self._seed + turn, remaining) % np.uint64(len(chosen))
            partner = draw.astype(np.int64)
            swap_place = chosen[partner]
            fits = swap_place >= 0
            fits &= ~self._rules.conflicts(
                rows[remaining], np.maximum(swap_place, 0), factors[remaining]
            )
            fits &= ~self._rules.conflicts(rows[partner], places, factors[partner])
            is_swapped = np.zeros(len(remaining), np.bool_)
            candidates = np.flatnonzero(fits)
            is_swapped[candidates[first_occurrences(partner[candidates])]] = True
            chosen[remaining[is_swapped]] = swap_place[is_swapped]
            chosen[partner[is_swapped]] = places[is_swapped]
            remaining, places = remaining[~is_swapped], places[~is_swapped]
