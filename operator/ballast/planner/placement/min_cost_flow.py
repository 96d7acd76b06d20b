"""A network with a flow in it, and the search for a cheaper flow of the same size.

A flow costs least when no cycle of the residual network has negative cost; as long as there is one,
a unit is sent round it (Klein, 1967). Exact, and as every cycle takes something off a whole number,
it ends. Meant for some ten thousand arcs.
"""

import numpy as np

from ballast.planner.arrays import Ints

_CHECK_EVERY = 4
_FAR = np.iinfo(np.int64).max // 4


class FlowNetwork:
    """Arcs with room and cost; each has a twin that takes its flow back, at the next number."""

    def __init__(self) -> None:
        self._sources: list[int] = []
        self._ends: list[int] = []
        self._room: list[int] = []
        self._costs: list[int] = []

    def arc(self, source: int, end: int, *, capacity: int, flow: int, cost: int) -> int:
        """Add an arc; return its number."""
        number = len(self._sources)
        self._sources += (source, end)
        self._ends += (end, source)
        self._room += (capacity - flow, flow)
        self._costs += (cost, -cost)
        return number

    def frozen(self) -> "ResidualNetwork":
        """Return the network to work on."""
        return ResidualNetwork(
            np.array(self._sources, np.int64),
            np.array(self._ends, np.int64),
            np.array(self._room, np.int64),
            np.array(self._costs, np.int64),
        )


class ResidualNetwork:
    """What may still flow, as columns by arc."""

    def __init__(self, sources: Ints, ends: Ints, room: Ints, costs: Ints) -> None:
        self.room = room
        """Room of each arc; that of a twin is what flows."""
        self.costs = costs
        """May be changed between two cycles."""
        self._sources = sources
        self._ends = ends
        self._nodes = int(max(sources.max(initial=0), ends.max(initial=0))) + 1

    def flow(self, arc: int) -> int:
        """Return what flows over an arc."""
        return int(self.room[arc + 1])

    def negative_cycle(self) -> list[int]:
        """Return the arcs of a cycle that costs less than nothing; empty = there is none."""
        usable = np.flatnonzero(self.room > 0)
        sources, ends, costs = self._sources[usable], self._ends[usable], self.costs[usable]
        distance = np.zeros(self._nodes, np.int64)
        entry = np.full(self._nodes, -1, np.int64)
        for number in range(1, self._nodes + 1):
            reached = distance[sources] + costs
            best = np.full(self._nodes, _FAR, np.int64)
            np.minimum.at(best, ends, reached)
            better = best < distance
            if not better.any():
                return []
            via = np.flatnonzero(better[ends] & (reached == best[ends]))
            entry[ends[via]] = usable[via]
            distance = np.minimum(distance, best)
            if number % _CHECK_EVERY == 0 or number == self._nodes:
                cycle = self._cycle_among(entry)
                if cycle:
                    return cycle
        raise AssertionError("who is still improved after so many rounds stands on a cycle")

    def push(self, cycle: list[int]) -> None:
        """Send one unit round a cycle."""
        for arc in cycle:
            self.room[arc] -= 1
            self.room[arc ^ 1] += 1

    def _cycle_among(self, entry: Ints) -> list[int]:
        """Return a cycle of the arcs by which nodes were reached last, if they have one."""
        before = np.where(entry >= 0, self._sources[entry], -1)
        jump = np.append(before, -1)
        steps = 1
        while steps < self._nodes:
            jump = jump[jump]
            steps *= 2
        # After so many steps back, whoever is not yet at a beginning is on a cycle.
        on_cycle = np.flatnonzero(jump[:-1] >= 0)
        if not len(on_cycle):
            return []
        start = node = int(jump[on_cycle[0]])
        cycle = []
        while True:
            arc = int(entry[node])
            cycle.append(arc)
            node = int(self._sources[arc])
            if node == start:
                return cycle
