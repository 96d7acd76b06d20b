"""Spares copies that a plan can do without.

Choosing who gives what and who gets what one after the other leaves detours: p goes from a to b,
and q comes to a from somewhere. Let q go to b and p stay: each broker holds as many replicas as
before, and p is not copied. That is done wherever both brokers stay level by bytes, or become no
less so, and the rules about racks hold. The largest p come first.
"""

import numpy as np

from ballast.planner.arrays import Bools, Floats, Shorts
from ballast.planner.placement.byte_loads import ByteLoads
from ballast.planner.placement.size_matching import TOLERANCE
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.targets import BalanceTargets

_MAX_PASSES = 3
_MAX_TRIES = 3000
"""Replicas of each pass that may stay after all: the largest …"""
_MAX_WORK = 50_000_000
"""… and so many of them, times replicas that are copied."""
_LIGHTER_MAX = 3 * TOLERANCE
"""A broker may come to hold so much less than its share: that overloads nobody."""


def remove_detours(task: PlacementProblem, rows: Shorts, aims: BalanceTargets) -> None:
    """Change ``rows``, whose replicas all have a place, so that fewer bytes are copied.

    Nothing is done where sizes do not count.
    """
    if task.sizes is None or aims.byte_target is None:
        return
    levels = ByteLoads(task, rows, task.sizes, aims.byte_target)
    for _ in range(_MAX_PASSES):
        if not _Pass(levels).run():
            return


class _Pass:
    def __init__(self, levels: ByteLoads) -> None:
        self._levels = levels
        self._most = TOLERANCE * levels.scale
        self._least = -_LIGHTER_MAX * levels.scale
        cells = levels.cells
        cells = cells[levels.holders[cells] != levels.origins[cells]]
        cells = cells[np.argsort(-levels.sizes_of(cells), kind="stable")]
        self._copied = cells
        # Who is to be emptied gets nothing, so that nothing could go from there instead.
        returning = cells[levels.origins[cells] >= 0]
        tries = min(_MAX_TRIES, _MAX_WORK // max(len(cells), 1))
        self._returning = returning[:tries]

    def run(self) -> bool:
        """Go once through what is copied; False when nothing could stay."""
        spared = False
        for cell in self._returning.tolist():
            spared |= self._undo_move(cell)
        return spared

    def _undo_move(self, cell: int) -> bool:
        """Let a replica stay where it was, and another one go in its place, if one can."""
        levels = self._levels
        home, away = int(levels.origins[cell]), int(levels.holders[cell])
        if home == away or not levels.fits(np.array([cell]), home)[0]:
            return False
        others = self._copied[levels.holders[self._copied] == home]
        others = others[levels.origins[others] != home]
        heavier = (levels.sizes_of(np.array([cell])) - levels.sizes_of(others)).astype(np.float64)
        stays_level = self._stays_level(home, heavier) & self._stays_level(away, -heavier)
        others, heavier = others[stays_level], heavier[stays_level]
        fitting = levels.fits(others, away)
        others, heavier = others[fitting], heavier[fitting]
        if not len(others):
            return False
        other = int(others[self._best(home, away, heavier)])
        levels.move(cell, home)
        levels.move(other, away)
        return True

    def _stays_level(self, broker: int, heavier: Floats) -> Bools:
        over = self._levels.over[broker]
        after = over + heavier
        most, least = max(over, self._most[broker]), min(over, self._least[broker])
        return np.asarray((after <= most) & (after >= least))

    def _best(self, home: int, away: int, heavier: Floats) -> int:
        """Return the position of what is best to go: it leaves both brokers the most level."""
        levels = self._levels
        uneven = (levels.over[home] + heavier) ** 2 / levels.scale[home]
        uneven += (levels.over[away] - heavier) ** 2 / levels.scale[away]
        return int(np.argmin(uneven))
