"""Balances preferred leaders: which replica of each partition comes first.

Goals: every broker is the first replica of as many partitions as its target says. Only the order of
replicas changes, so nothing is copied. Constraint: only partitions that are changeable change.

Algorithm: first in rounds. Every broker that leads too many partitions hands its surplus to other
replicas of these partitions, on brokers that lead too few. Then along chains, found by
breadth-first search: a broker that leads enough takes one partition over and hands another one on.

Example, targets 1, 1, 1::

    partition 0: brokers 1, 2   ->   brokers 2, 1
    partition 1: brokers 1, 2   ->   brokers 1, 2
    partition 2: brokers 2, 3   ->   brokers 3, 2

Broker 1 leads two partitions and broker 3 none, but they share no partition: rounds cannot help.
The chain 1 -> 2 -> 3 does: broker 2 takes partition 0 over and hands partition 2 on to broker 3.

"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Ints, Shorts, count_by_index, noise, ranks

_ROUNDS = 24
_MAX_PASSES = 50_000


@dataclass(frozen=True, kw_only=True, eq=False)
class LeaderProblem:
    """Rows whose first replica may change, and how many partitions each broker is to lead."""

    rows: Shorts
    """Replicas of all partitions; `balance_leaders` changes their order."""
    changeable: Bools
    """Which partitions may get another first replica."""
    receivers: Bools
    """Brokers that may lead more partitions."""
    target: Ints
    low: Ints
    """Partitions that each broker leads at least, if all are balanced."""
    high: Ints
    """Partitions that each broker leads at most, if all are balanced."""
    seed: int


def balance_leaders(problem: LeaderProblem) -> None:
    """Bring the number of partitions that each broker leads into its bounds, as far as possible."""
    _transfer_in_rounds(problem)
    _ChainSearch(problem).run()


def _transfer_in_rounds(problem: LeaderProblem) -> None:
    rows = problem.rows
    row_ids = np.flatnonzero(problem.changeable)
    count = len(problem.target)
    for number in range(_ROUNDS):
        leader_counts = count_by_index(rows[:, 0], count)
        surplus = leader_counts - problem.target
        room = np.where(problem.receivers, -surplus, 0)
        giving_rows = row_ids[surplus[rows[row_ids, 0]] > 0]
        others = rows[giving_rows, 1:]
        preference = np.where((others >= 0) & (room[others] > 0), room[others], -1)
        if not preference.size:
            return
        best = preference.argmax(axis=1)
        has_receiver = preference[np.arange(len(giving_rows)), best] > 0
        giving_rows, best = giving_rows[has_receiver], best[has_receiver] + 1
        if not len(giving_rows):
            return
        # In an order that depends on the seed, so that no topic gives all that a broker gives.
        order = np.argsort(noise(problem.seed + number, giving_rows), kind="stable")
        giving_rows, best = giving_rows[order], best[order]
        source, end = (
            rows[giving_rows, 0].astype(np.int64),
            rows[giving_rows, best].astype(np.int64),
        )
        chosen = ranks(source) < surplus[source]
        giving_rows, best, end = giving_rows[chosen], best[chosen], end[chosen]
        chosen = ranks(end) < room[end]
        _make_first(rows, giving_rows[chosen], best[chosen])


def _make_first(rows: Shorts, row_ids: Ints, places: Ints) -> None:
    """Exchange the replicas at these places with the first ones."""
    first = rows[row_ids, 0].copy()
    rows[row_ids, 0] = rows[row_ids, places]
    rows[row_ids, places] = first


class _ChainSearch:
    """Chains from brokers that lead too many partitions to brokers that lead too few."""

    def __init__(self, problem: LeaderProblem) -> None:
        self._problem = problem
        self._rows = problem.rows
        self._row_ids = np.flatnonzero(problem.changeable)
        self._leader_counts = count_by_index(problem.rows[:, 0], len(problem.target))

    def run(self) -> None:
        """Apply the shortest chains, as long as there are any."""
        low, high = self._problem.low, self._problem.high
        receivers = self._problem.receivers
        for _ in range(_MAX_PASSES):
            if (self._leader_counts > high).any() and self._send(
                high, receivers & (self._leader_counts < high)
            ):
                continue
            under = receivers & (self._leader_counts < low)
            if not (under.any() and self._send(low, under)):
                return

    def _send(self, threshold: Ints, ends: Bools) -> bool:
        """Apply shortest chains from brokers above ``threshold``; False = no end is reached.

        One search starts from all brokers at once. With ten thousand brokers, one search per chain
        would take hours.
        """
        parent = np.full(len(self._leader_counts), -1)
        via_row = np.full(len(self._leader_counts), -1)
        frontier = (self._leader_counts > threshold) & ~ends
        visited = frontier.copy()
        while True:
            row_ids = self._row_ids[frontier[self._rows[self._row_ids, 0]]]
            others = self._rows[row_ids, 1:]
            of, place = np.nonzero(
                (others >= 0) & ~visited[others] & self._problem.receivers[others]
            )
            if not of.size:
                return False
            # Reversed, so that the first of several rows to the same broker is the one that
            # remains.
            next_brokers = others[of, place][::-1]
            via_row[next_brokers] = row_ids[of][::-1]
            is_reached = np.zeros_like(visited)
            is_reached[next_brokers] = True
            reached = np.flatnonzero(is_reached)
            parent[reached] = self._rows[via_row[reached], 0]
            reached_ends = reached[ends[reached]]
            if reached_ends.size:
                for end in reached_ends.tolist():
                    self._walk(end, parent, via_row, threshold)
                return True
            visited |= is_reached
            frontier = is_reached

    def _walk(self, end: int, parent: Ints, via_row: Ints, threshold: Ints) -> None:
        """Apply one chain, unless an earlier one has used its start or a part of it."""
        chain = []
        begin = end
        while parent[begin] >= 0:
            chain.append((begin, int(via_row[begin])))
            begin = int(parent[begin])
        if self._leader_counts[begin] <= threshold[begin]:
            return
        if any(self._rows[row, 0] != parent[broker] for broker, row in chain):
            return
        for broker, row in chain:
            place = int(np.flatnonzero(self._rows[row] == broker)[0])
            self._rows[row, [0, place]] = self._rows[row, [place, 0]]
        self._leader_counts[end] += 1
        self._leader_counts[begin] -= 1
