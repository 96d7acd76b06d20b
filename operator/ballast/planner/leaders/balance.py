"""Which replica of each partition comes first: as many for each broker as its band says.

Only the order of replicas changes, so nothing is copied. First in rounds: every broker that leads
too many gives its surplus to those of its partitions' other replicas that lead too few. What is
left then goes along chains: a broker that leads enough takes one and gives another one on.
"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Ints, Shorts, count_by_index, noise, ranks

_ROUNDS = 24
_MAX_PASSES = 50_000


@dataclass(frozen=True, kw_only=True, eq=False)
class LeaderProblem:
    """Rows whose first replica may change, and what each broker is to lead."""

    rows: Shorts
    """Replicas of all partitions; their first places are changed by `balance_leaders`."""
    changeable: Bools
    """Which partitions may get another first replica."""
    receivers: Bools
    """Brokers that may come to lead more."""
    target: Ints
    low: Ints
    """Partitions that each broker leads at least, when all is as level as can be …"""
    high: Ints
    """… and at most."""
    seed: int


def balance_leaders(leading: LeaderProblem) -> None:
    """Bring the number of partitions that each broker leads into its band, as far as can be."""
    _transfer_in_rounds(leading)
    _ChainSearch(leading).run()


def _transfer_in_rounds(leading: LeaderProblem) -> None:
    rows = leading.rows
    lines = np.flatnonzero(leading.changeable)
    count = len(leading.target)
    for number in range(_ROUNDS):
        led = count_by_index(rows[:, 0], count)
        surplus = led - leading.target
        room = np.where(leading.receivers, -surplus, 0)
        giving = lines[surplus[rows[lines, 0]] > 0]
        others = rows[giving, 1:]
        worth = np.where((others >= 0) & (room[others] > 0), room[others], -1)
        if not worth.size:
            return
        best = worth.argmax(axis=1)
        useful = worth[np.arange(len(giving)), best] > 0
        giving, best = giving[useful], best[useful] + 1
        if not len(giving):
            return
        # In an order that looks random, so that no topic gives all that a broker gives.
        order = np.argsort(noise(leading.seed + number, giving), kind="stable")
        giving, best = giving[order], best[order]
        source, end = rows[giving, 0].astype(np.int64), rows[giving, best].astype(np.int64)
        chosen = ranks(source) < surplus[source]
        giving, best, end = giving[chosen], best[chosen], end[chosen]
        chosen = ranks(end) < room[end]
        _lead(rows, giving[chosen], best[chosen])


def _lead(rows: Shorts, lines: Ints, places: Ints) -> None:
    """Let the replicas at these places come first; those that did take their places."""
    first = rows[lines, 0].copy()
    rows[lines, 0] = rows[lines, places]
    rows[lines, places] = first


class _ChainSearch:
    """Ways from brokers that lead too many to brokers that lead too few."""

    def __init__(self, leading: LeaderProblem) -> None:
        self._leading = leading
        self._rows = leading.rows
        self._lines = np.flatnonzero(leading.changeable)
        self._led = count_by_index(leading.rows[:, 0], len(leading.target))

    def run(self) -> None:
        """Send what is too much along the shortest chains, as long as there are any."""
        low, high = self._leading.low, self._leading.high
        receivers = self._leading.receivers
        for _ in range(_MAX_PASSES):
            if (self._led > high).any() and self._send(high, receivers & (self._led < high)):
                continue
            under = receivers & (self._led < low)
            if not (under.any() and self._send(low, under)):
                return

    def _send(self, kept: Ints, ends: Bools) -> bool:
        """Send along shortest chains from brokers above ``kept``; False = no end is reached.

        All brokers are searched at once, one hop after another: with ten thousand of them, a search
        for each chain by itself would take hours.
        """
        parent = np.full(len(self._led), -1)
        line = np.full(len(self._led), -1)
        frontier = (self._led > kept) & ~ends
        seen = frontier.copy()
        while True:
            lines = self._lines[frontier[self._rows[self._lines, 0]]]
            others = self._rows[lines, 1:]
            of, place = np.nonzero((others >= 0) & ~seen[others] & self._leading.receivers[others])
            if not of.size:
                return False
            # Backwards, so that of several lines to one broker the first is what stays.
            ahead = others[of, place][::-1]
            line[ahead] = lines[of][::-1]
            is_found = np.zeros_like(seen)
            is_found[ahead] = True
            found = np.flatnonzero(is_found)
            parent[found] = self._rows[line[found], 0]
            reached = found[ends[found]]
            if reached.size:
                for end in reached.tolist():
                    self._walk(end, parent, line, kept)
                return True
            seen |= is_found
            frontier = is_found

    def _walk(self, end: int, parent: Ints, line: Ints, kept: Ints) -> None:
        """Send one along a chain, unless an earlier one has used up its begin or a part of it."""
        chain = []
        begin = end
        while parent[begin] >= 0:
            chain.append((begin, int(line[begin])))
            begin = int(parent[begin])
        if self._led[begin] <= kept[begin]:
            return
        if any(self._rows[at, 0] != parent[broker] for broker, at in chain):
            return
        for broker, at in chain:
            place = int(np.flatnonzero(self._rows[at] == broker)[0])
            self._rows[at, [0, place]] = self._rows[at, [place, 0]]
        self._led[end] += 1
        self._led[begin] -= 1
