"""Which replica of each partition comes first: as many for each broker as its band says.

Only the order of replicas changes, so nothing is copied. First in rounds: every broker that leads
too many gives its surplus to those of its partitions' other replicas that lead too few. What is
left then goes along chains: a broker that leads enough takes one and gives another one on.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Ints, Shorts, counted, noise, ranks

_ROUNDS = 24
_MAX_CHAINS = 50_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Leading:
    """Rows whose first replica may change, and what each broker is to lead."""

    rows: Shorts
    """Replicas of all partitions; their first places are changed by `even_leaders`."""
    changeable: Bools
    """Which partitions may get another first replica."""
    takers: Bools
    """Brokers that may come to lead more."""
    target: Ints
    low: Ints
    """Partitions that each broker leads at least, when all is as level as can be …"""
    high: Ints
    """… and at most."""
    seed: int


def even_leaders(leading: Leading) -> None:
    """Bring the number of partitions that each broker leads into its band, as far as can be."""
    _in_rounds(leading)
    _Chains(leading).run()


def _in_rounds(leading: Leading) -> None:
    rows = leading.rows
    lines = np.flatnonzero(leading.changeable)
    count = len(leading.target)
    for number in range(_ROUNDS):
        led = counted(rows[:, 0], count)
        surplus = led - leading.target
        room = np.where(leading.takers, -surplus, 0)
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


class _Chains:
    """Ways from brokers that lead too many to brokers that lead too few."""

    def __init__(self, leading: Leading) -> None:
        self._leading = leading
        self._rows = leading.rows
        self._led = counted(leading.rows[:, 0], len(leading.target))
        self._index()

    def run(self) -> None:
        """Send what is too much along the shortest chains, as long as there are any."""
        low, high = self._leading.low, self._leading.high
        takers = self._leading.takers
        for _ in range(_MAX_CHAINS):
            over, under = self._led > high, takers & (self._led < low)
            if over.any() and self._send(over, takers & (self._led < high)):
                continue
            if under.any() and self._send(self._led > low, under):
                continue
            if not self._is_stale:
                return
            self._index()

    def _index(self) -> None:
        """Look anew which partitions each broker leads."""
        lines = np.flatnonzero(self._leading.changeable)
        first = self._rows[lines, 0]
        order = np.argsort(first, kind="stable")
        self._lines = lines[order]
        self._cuts = np.searchsorted(first[order], np.arange(len(self._led) + 1))
        self._is_stale = False

    def _send(self, sources: Bools, ends: Bools) -> bool:
        """Send one along the shortest chain from any source to any end; False = there is none."""
        reached: dict[int, tuple[int, int]] = {}
        queue = deque(np.flatnonzero(sources & ~ends).tolist())
        seen = np.zeros(len(self._led), np.bool_)
        seen[list(queue)] = True
        while queue:
            broker = queue.popleft()
            lines = self._lines[self._cuts[broker] : self._cuts[broker + 1]]
            lines = lines[self._rows[lines, 0] == broker]
            others = self._rows[lines, 1:]
            fresh = (others >= 0) & ~seen[others] & self._leading.takers[others]
            line, place = np.nonzero(fresh)
            found, first = np.unique(others[line, place], return_index=True)
            for other, at in zip(found.tolist(), first.tolist(), strict=True):
                seen[other] = True
                reached[other] = (broker, int(lines[line[at]]))
                if ends[other]:
                    self._walk(other, reached)
                    return True
                queue.append(other)
        return False

    def _walk(self, end: int, reached: dict[int, tuple[int, int]]) -> None:
        self._led[end] += 1
        while end in reached:
            broker, line = reached[end]
            place = int(np.flatnonzero(self._rows[line] == end)[0])
            _lead(self._rows, np.array([line]), np.array([place]))
            end = broker
        self._led[end] -= 1
        # The partitions that changed hands are not among those of their new leaders yet.
        self._is_stale = True
