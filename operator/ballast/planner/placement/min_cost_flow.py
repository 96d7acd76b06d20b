"""Min-cost flow by cycle cancelling: a cheaper flow of the same size.

A flow has the least cost if no cycle of the residual network has negative cost. As long as there is
one, a unit of flow is sent round it (Klein, 1967). Costs are integers, so every cycle lowers the
cost by at least one, and the search ends. Meant for about ten thousand arcs.

Example: one unit flows from node 1 to node 0 over an arc of cost 5; over node 2 it would cost 1 +
1. The cycle 1 -> 2 -> 0 -> 1, which goes back over the used arc, costs 1 + 1 - 5 = -3. One unit is
sent round it, the flow costs 2, and no negative cycle is left.

"""

import numpy as np

from ballast.planner.arrays import Ints

_CHECK_EVERY = 4
_FAR = np.iinfo(np.int64).max // 4


class FlowNetwork:
    """Arcs with capacity and cost; the next number is the reverse arc, which takes flow back."""

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

    def residual(self) -> "ResidualNetwork":
        return ResidualNetwork(
            np.array(self._sources, np.int64),
            np.array(self._ends, np.int64),
            np.array(self._room, np.int64),
            np.array(self._costs, np.int64),
        )


class ResidualNetwork:
    """The remaining capacities, as columns by arc."""

    def __init__(self, sources: Ints, ends: Ints, room: Ints, costs: Ints) -> None:
        self.room = room
        """Remaining capacity of each arc; that of a reverse arc is the flow."""
        self.costs = costs
        """May change between two cycles."""
        self._sources = sources
        self._ends = ends
        self._nodes = int(max(sources.max(initial=0), ends.max(initial=0))) + 1

    def flow(self, arc: int) -> int:
        """Return the flow over an arc."""
        return int(self.room[arc + 1])

    def negative_cycle(self) -> list[int]:
        """Return the arcs of a cycle of negative cost; empty = there is none."""
        usable = np.flatnonzero(self.room > 0)
        sources, ends, costs = self._sources[usable], self._ends[usable], self.costs[usable]
        distance = np.zeros(self._nodes, np.int64)
        entry = np.full(self._nodes, -1, np.int64)
        for number in range(1, self._nodes + 1):
            new_distance = distance[sources] + costs
            best = np.full(self._nodes, _FAR, np.int64)
            np.minimum.at(best, ends, new_distance)
            better = best < distance
            if not better.any():
                return []
            improving = np.flatnonzero(better[ends] & (new_distance == best[ends]))
            entry[ends[improving]] = usable[improving]
            distance = np.minimum(distance, best)
            if number % _CHECK_EVERY == 0 or number == self._nodes:
                cycle = self._cycle_among(entry)
                if cycle:
                    return cycle
        raise AssertionError("a node that still improves after that many rounds is on a cycle")

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
        # After as many steps back as there are nodes, a node that has no start is on a cycle.
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
