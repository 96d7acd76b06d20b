"""Gives vacant places to brokers that want replicas: "quota, then deal".

What each broker wants is known; so many places are laid out in an order in which those of one
broker are far apart, and dealt to the vacancies in the order of topics: so a topic's replicas go
to different brokers. Which rack a vacancy goes to is decided before, for all at once, so that
inside a rack hardly any two do not fit together; the few that do not change places with others.
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
"""Times that what does not fit is dealt again."""
_EXCHANGES = 48
"""Times that each of those that still do not fit looks for one to change places with."""
_LARGEST = 24
"""So many replicas for each rack are looked at one by one where sizes count; of each class."""
_MAX_CLASSES = 4096
"""With more there are few vacancies in each, and deciding by class is of no use."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Vacancies:
    """Partitions that lack replicas; ``rows`` is filled by `assign_vacancies`."""

    rows: Shorts
    """Replicas; -1 where there is none."""
    unassigned: Bools
    """As ``rows``: which places are to be filled."""
    factors: Shorts
    """How many replicas each partition is to have."""
    sizes: Ints | None = None
    """Bytes of one replica of each partition; None = all are alike."""
    needs: Floats | None = None
    """Bytes that each broker lacks; there where ``sizes`` are."""


def assign_vacancies(
    vacancies: Vacancies, want: Ints, receivers: Bools, rules: RackRules, seed: int
) -> Ints:
    """Fill the vacant places of ``vacancies.rows``; ``want`` of each broker, if it can be.

    A broker gets more than it wants only where racks leave no other; all get no more than the rules
    allow. Returns the places, as positions in the flat rows, for which no broker was found.
    """
    rows, width = vacancies.rows, vacancies.rows.shape[1]
    want = want.copy()
    sizes = vacancies.sizes
    needs = None if vacancies.needs is None else vacancies.needs.copy()
    pending = vacancies.unassigned.copy()
    left = row_counts(pending)
    unplaced: list[Ints] = []
    # Partitions that lack the most come first: those that lack one fit in almost anywhere.
    for lacking in range(int(left.max(initial=0)), 0, -1):
        lines = np.flatnonzero(left == lacking)
        if not len(lines):
            continue
        share = len(lines) / int(left.sum())
        column = np.argmax(pending[lines], axis=1)
        amounts = None if sizes is None else sizes[lines]
        some = Vacancies(
            rows=rows[lines],
            unassigned=pending[lines],
            factors=vacancies.factors[lines],
            sizes=amounts,
            needs=needs,
        )
        brokers = _Round(some, receivers, rules, seed).brokers(want, share)
        if amounts is not None and needs is not None:
            needs -= sum_by_index(brokers[brokers >= 0], amounts[brokers >= 0], len(want))
        rows[lines, column] = brokers
        pending[lines, column] = False
        unplaced.append((lines * width + column)[brokers < 0])
        want = np.maximum(want - count_by_index(brokers, len(want)), 0)
        left[lines] -= 1
    return np.concatenate(unplaced) if unplaced else np.zeros(0, np.int64)


class _Round:
    """Partitions each of which is given one replica."""

    def __init__(self, vacancies: Vacancies, receivers: Bools, rules: RackRules, seed: int) -> None:
        self._rows = vacancies.rows
        self._factors = vacancies.factors
        self._sizes = vacancies.sizes
        self._needs = vacancies.needs
        self._receivers = receivers
        self._rules = rules
        self._seed = seed

    def brokers(self, want: Ints, share: float) -> Ints:
        """Return the broker for each partition, -1 where none was found."""
        everyone = np.arange(len(self._rows))
        if not self._rules.is_tabled:
            return self._deal(everyone, want, np.flatnonzero(self._receivers))
        chosen = np.full(len(self._rows), -1, np.int64)
        racks = self._racks(want, share)
        for rack in range(self._rules.count):
            lines = np.flatnonzero(racks == rack)
            brokers = np.flatnonzero((self._rules.racks == rack) & self._receivers)
            if len(lines):
                chosen[lines] = self._deal(lines, want, brokers)
        return chosen

    def _racks(self, want: Ints, share: float) -> Ints:
        """Return the rack for each partition, -1 where none is open to it."""
        rules = self._rules
        has_taker = np.zeros(rules.count, np.bool_)
        has_taker[rules.racks[self._receivers]] = True
        is_open = rules.open_racks(rules.usage(self._rows), self._factors) & has_taker
        bits = np.uint64(1) << np.arange(rules.count, dtype=np.uint64)
        masks = np.where(is_open, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64)
        classes, first, class_of = np.unique(masks, return_index=True, return_inverse=True)
        if len(classes) > _MAX_CLASSES:
            return self._racks_by_dealing(want)
        wanted = np.bincount(rules.racks, want, minlength=rules.count).astype(np.int64)
        supply = count_by_index(class_of, len(classes))
        supply[classes == 0] = 0
        sent = apportion_to_racks(supply, is_open[first], wanted, share)
        racks = np.full(len(masks), -1, np.int64)
        if self._sizes is not None:
            self._sized_racks(racks, class_of, sent)
            return racks
        # Inside a class the racks take turns, so that the partitions of a topic are spread too.
        cells = stride_cells(sent)
        order = np.argsort(class_of, kind="stable")
        racks[order[masks[order] != 0]] = cells % rules.count
        return racks

    def _sized_racks(self, racks: Ints, class_of: Ints, sent: Ints) -> None:
        """Choose racks inside each class so that each gets the bytes that its brokers lack.

        The largest go where the most is lacking; for the others the racks take turns.
        """
        assert self._sizes is not None, "asked for where sizes count"
        assert self._needs is not None, "sizes come with needs"
        order = np.lexsort((-self._sizes, class_of))
        cuts = np.searchsorted(class_of[order], np.arange(len(sent) + 1))
        needs = np.bincount(self._rules.racks, np.maximum(self._needs, 0), self._rules.count)
        left = sent.sum(axis=0)
        for number in np.argsort(-sent.sum(axis=1), kind="stable").tolist():
            places = sent[number].copy()
            lines = order[cuts[number] : cuts[number] + int(places.sum())]
            large = lines[: _LARGEST * len(places)]
            share = places / np.maximum(left, 1)
            racks[large] = assign_by_size(self._sizes[large], places, needs * share)
            left -= places
            places -= count_by_index(racks[large], len(places))
            small = lines[len(large) :]
            racks[small] = stride_order(np.arange(len(places)), places)
            needs -= np.bincount(racks[lines], self._sizes[lines], len(needs))

    def _racks_by_dealing(self, want: Ints) -> Ints:
        brokers = self._deal(np.arange(len(self._rows)), want, np.flatnonzero(self._receivers))
        return np.where(brokers >= 0, self._rules.racks[brokers], -1)

    def _deal(self, lines: Ints, want: Ints, brokers: Ints) -> Ints:
        """Return a broker of ``brokers`` for each of some partitions."""
        chosen = np.full(len(lines), -1, np.int64)
        if not len(brokers):
            return chosen
        if self._sizes is not None:
            sizes = self._sizes[lines]
            lines_by_size = stable_order(sizes.max(initial=0) - sizes)
            chosen[lines_by_size] = self._deal_in_order(
                lines[lines_by_size], want[brokers], brokers
            )
            return chosen
        return self._deal_in_order(lines, want[brokers], brokers)

    def _deal_in_order(self, lines: Ints, want: Ints, brokers: Ints) -> Ints:
        chosen = np.full(len(lines), -1, np.int64)
        places = self._places(lines, want, brokers)
        rows, factors = self._rows[lines], self._factors[lines]
        left = np.arange(len(lines))
        for _ in range(_TURNS):
            refused = self._rules.conflicts(rows[left], places, factors[left])
            chosen[left[~refused]] = places[~refused]
            left, places = left[refused], np.roll(places[refused], 1)
            if not len(left):
                return chosen
        self._exchange(chosen, rows, factors, left, places)
        return chosen

    def _places(self, lines: Ints, want: Ints, brokers: Ints) -> Ints:
        """Return as many places as there are partitions, in the order of those."""
        lack = len(lines) - int(want.sum())
        if self._sizes is not None and self._needs is not None:
            if lack > 0:
                want = want + count_by_index(np.arange(lack) % len(brokers), len(brokers))
            return brokers[assign_by_size(self._sizes[lines], want, self._needs[brokers])]
        places = stride_order(brokers[want > 0], want[want > 0])
        if lack > 0:
            # More come than are wanted: the brokers take turns.
            places = np.concatenate([places, np.resize(brokers, lack)])
        return places[: len(lines)]

    def _exchange(
        self, chosen: Ints, rows: Shorts, factors: Shorts, left: Ints, places: Ints
    ) -> None:
        """Let those that have no place yet take that of another, which takes theirs."""
        for turn in range(_EXCHANGES):
            if not len(left):
                return
            draw = noise(self._seed + turn, left) % np.uint64(len(chosen))
            other = draw.astype(np.int64)
            its_place = chosen[other]
            fits = its_place >= 0
            fits &= ~self._rules.conflicts(rows[left], np.maximum(its_place, 0), factors[left])
            fits &= ~self._rules.conflicts(rows[other], places, factors[other])
            once = np.zeros(len(left), np.bool_)
            candidates = np.flatnonzero(fits)
            once[candidates[first_occurrences(other[candidates])]] = True
            chosen[left[once]] = its_place[once]
            chosen[other[once]] = places[once]
            left, places = left[~once], places[~once]
