"""Removes copies that the plan can do without.

Greedy selection and assignment leave detours: partition p moves from a to b, and q moves from c to
a. If q goes to b instead, p need not move: the counts are the same, with one copy less.
Constraints: both brokers stay within `TOLERANCE` of their byte targets, or get no further from
them; the rack rules hold. The largest replicas come first.

Example, all partitions with one replica::

                    before      plan        without detour
    partition 0:    broker 1    broker 2    broker 1
    partition 1:    broker 3    broker 1    broker 2

Every broker ends with as many replicas as in the plan, and only partition 1 is copied.

"""

import numpy as np

from ballast.planner.arrays import Bools, Floats, Shorts
from ballast.planner.placement.byte_loads import ByteLoads
from ballast.planner.placement.size_matching import TOLERANCE
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.targets import BalanceTargets

_MAX_PASSES = 3
_MAX_TRIES = 3000
"""Replicas that one pass looks at: the largest."""
_MAX_WORK = 50_000_000
"""Replicas that one pass looks at times replicas that are copied."""
_LIGHTER_MAX = 3 * TOLERANCE
"""A broker may end with this part less than its target: that overloads no other broker."""


def remove_detours(problem: PlacementProblem, rows: Shorts, targets: BalanceTargets) -> None:
    """Change ``rows``, which have no unassigned replica, so that fewer bytes are copied.

    Nothing happens where sizes do not count.
    """
    if problem.sizes is None or targets.byte_target is None:
        return
    loads = ByteLoads(problem, rows, problem.sizes, targets.byte_target)
    for _ in range(_MAX_PASSES):
        if not _Pass(loads).run():
            return


class _Pass:
    def __init__(self, loads: ByteLoads) -> None:
        self._loads = loads
        self._excess_max = TOLERANCE * loads.scale
        self._excess_min = -_LIGHTER_MAX * loads.scale
        cells = loads.cells
        cells = cells[loads.brokers[cells] != loads.origins[cells]]
        cells = cells[np.argsort(-loads.sizes_of(cells), kind="stable")]
        self._copied = cells
        # A broker that is drained receives nothing, so no replica could be redirected from it.
        returning = cells[loads.origins[cells] >= 0]
        tries = min(_MAX_TRIES, _MAX_WORK // max(len(cells), 1))
        self._returning = returning[:tries]

    def run(self) -> bool:
        """Go once through the copies; False = no one could be undone."""
        is_changed = False
        for cell in self._returning.tolist():
            is_changed |= self._undo_move(cell)
        return is_changed

    def _undo_move(self, cell: int) -> bool:
        """Return a replica to its origin and redirect another one in its place, if one fits."""
        loads = self._loads
        origin, destination = int(loads.origins[cell]), int(loads.brokers[cell])
        if origin == destination or not loads.fits(np.array([cell]), origin)[0]:
            return False
        others = self._copied[loads.brokers[self._copied] == origin]
        others = others[loads.origins[others] != origin]
        added_bytes = (loads.sizes_of(np.array([cell])) - loads.sizes_of(others)).astype(np.float64)
        is_balanced = self._stays_balanced(origin, added_bytes) & self._stays_balanced(
            destination, -added_bytes
        )
        others, added_bytes = others[is_balanced], added_bytes[is_balanced]
        fitting = loads.fits(others, destination)
        others, added_bytes = others[fitting], added_bytes[fitting]
        if not len(others):
            return False
        other = int(others[self._best(origin, destination, added_bytes)])
        loads.move(cell, origin)
        loads.move(other, destination)
        return True

    def _stays_balanced(self, broker: int, added_bytes: Floats) -> Bools:
        excess = self._loads.excess[broker]
        after = excess + added_bytes
        excess_max, excess_min = (
            max(excess, self._excess_max[broker]),
            min(excess, self._excess_min[broker]),
        )
        return np.asarray((after <= excess_max) & (after >= excess_min))

    def _best(self, origin: int, destination: int, added_bytes: Floats) -> int:
        """Return the position of the replica that leaves both brokers the most balanced."""
        loads = self._loads
        uneven = (loads.excess[origin] + added_bytes) ** 2 / loads.scale[origin]
        uneven += (loads.excess[destination] - added_bytes) ** 2 / loads.scale[destination]
        return int(np.argmin(uneven))
