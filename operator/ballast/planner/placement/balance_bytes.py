"""Makes brokers level by bytes, replica by replica.

Where few large ones decide, choosing many at once does not find what changing two of them does.
Again and again the broker that is furthest above its share gives a replica: to a broker that may
have one more, or for a smaller one of another broker. When none is too far above, the one that is
furthest below gets one in the same way. Of what there is to do that is done which levels the most
for the bytes that it copies; what has been copied anyway costs nothing to go elsewhere. Numbers of
replicas stay within their bands, and the rules about racks hold.
"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Floats, Ints, Shorts
from ballast.planner.placement.byte_loads import ByteLoads
from ballast.planner.placement.size_matching import TOLERANCE
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.targets import BalanceTargets

_MAX_STEPS = 600
_MAX_WORK = 10_000_000
"""Steps times replicas: with many replicas choosing many at once leaves little to be done."""
_MAX_GIVEN = 128
"""Replicas of the giver that are looked at in one step: its largest that fit …"""
_MAX_OTHERS = 12
"""… brokers, in its rack and as many in others: those that differ the most from it …"""
_MAX_RETURNED = 48
"""… and replicas of the taker: its smallest."""
_WORTH = 0.02
"""What is done takes away at least so much of the broker's unevenness …"""
_COPIED_PER_BYTE_MAX = 1.5
"""… and copies no more for each byte that changes over."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Change:
    """One replica to another broker, and maybe one of that broker's back."""

    giver: int
    given: int
    taker: int
    returned: int
    """-1 = none."""


def balance_bytes(task: PlacementProblem, rows: Shorts, aims: BalanceTargets) -> None:
    """Change ``rows``, whose replicas all have a place, so that brokers hold what they shall.

    Nothing is done where sizes do not count.
    """
    if task.sizes is None or aims.byte_target is None:
        return
    search = _Search(task, ByteLoads(task, rows, task.sizes, aims.byte_target), aims)
    for _ in range(min(_MAX_STEPS, _MAX_WORK // rows.size)):
        if not search.step():
            return


class _Search:
    def __init__(self, task: PlacementProblem, levels: ByteLoads, aims: BalanceTargets) -> None:
        self._task = task
        self._levels = levels
        self._band = aims.band
        self._racks = task.rules.racks
        self._stuck = np.zeros(len(levels.over), np.bool_)
        """For whom there was nothing to do, as long as it has not changed."""

    def step(self) -> bool:
        """Look for a change for who is furthest from its share; False when nobody is far."""
        relative = np.where(self._stuck, 0.0, self._levels.over / self._levels.scale)
        heaviest = int(np.argmax(relative))
        lightest = int(np.argmin(np.where(self._task.receivers, relative, 0.0)))
        if relative[heaviest] > TOLERANCE:
            broker, pairs = heaviest, self._pairs(heaviest, is_giver=True)
        elif relative[lightest] < -TOLERANCE:
            broker, pairs = lightest, self._pairs(lightest, is_giver=False)
        else:
            return False
        change = self._best(broker, pairs)
        if change is None:
            self._stuck[broker] = True
        else:
            self._make(change)
            self._stuck[[change.giver, change.taker]] = False
        return True

    def _pairs(self, broker: int, *, is_giver: bool) -> list[tuple[int, int]]:
        """Return givers and takers: the broker, and who differs from it the most.

        In its own rack and in others, as one of both may be closed.
        """
        over = self._levels.over if is_giver else -self._levels.over
        others = np.flatnonzero((self._task.receivers | (not is_giver)) & (over < over[broker]))
        others = others[np.argsort((over / self._levels.scale)[others], kind="stable")]
        near = self._racks[others] == self._racks[broker]
        others = np.concatenate([others[near][:_MAX_OTHERS], others[~near][:_MAX_OTHERS]])
        return [(broker, other) if is_giver else (other, broker) for other in others.tolist()]

    def _best(self, broker: int, pairs: list[tuple[int, int]]) -> _Change | None:
        """Return what is best to do for a broker that has too much, or too little."""
        found: tuple[float, _Change] | None = None
        for giver, taker in pairs:
            one = self._best_with(giver, taker, broker)
            if one is not None and (found is None or one[0] > found[0]):
                found = one
        return None if found is None else found[1]

    def _best_with(self, giver: int, taker: int, broker: int) -> tuple[float, _Change] | None:
        """Return the best change between two brokers for one of them, and how good it is."""
        levels = self._levels
        given = self._largest(giver)
        given = given[levels.fits(given, taker)]
        if not len(given):
            return None
        returned = self._smallest(taker) if self._task.receivers[giver] else given[:0]
        returned = returned[levels.fits(returned, giver)][:_MAX_RETURNED]
        has_room = levels.counts[taker] < self._band.high[taker]
        can_spare = levels.counts[giver] > self._band.low[giver]
        if has_room and can_spare:
            returned = np.append(returned, -1)
        if not len(returned):
            return None
        back = np.where(returned >= 0, levels.sizes_of(returned), 0)
        gone = levels.sizes_of(given)[:, None] - back[None, :]
        gain = self._gain(giver, taker, gone.astype(np.float64))
        cost = self._copied(given, taker)[:, None] + np.where(
            returned >= 0, self._copied(returned, giver), 0
        )
        before = levels.over[broker] ** 2 / levels.scale[broker]
        # A step that copies next to nothing must not be better than any that brings something.
        value = gain / (np.maximum(cost, 0) + abs(levels.over[broker]) / 4)
        too_dear = cost > _COPIED_PER_BYTE_MAX * gone
        value[(gain < _WORTH * before) | too_dear] = -np.inf
        best = int(np.argmax(value))
        if not np.isfinite(value.flat[best]):
            return None
        line, column = divmod(best, len(returned))
        change = _Change(
            giver=giver, given=int(given[line]), taker=taker, returned=int(returned[column])
        )
        return float(value.flat[best]), change

    def _largest(self, broker: int) -> Ints:
        own = self._levels.cells_of(broker)
        size = self._levels.sizes_of(own)
        order = np.argsort(-size, kind="stable")[: int((size > 0).sum())]
        return np.asarray(own[order[:_MAX_GIVEN]])

    def _smallest(self, broker: int) -> Ints:
        own = self._levels.cells_of(broker)
        return np.asarray(own[np.argsort(self._levels.sizes_of(own), kind="stable")])

    def _gain(self, giver: int, taker: int, gone: Floats) -> Floats:
        """Return how much less uneven two brokers are when so many bytes change over."""
        over, scale = self._levels.over, self._levels.scale
        before = over[giver] ** 2 / scale[giver] + over[taker] ** 2 / scale[taker]
        after = (over[giver] - gone) ** 2 / scale[giver] + (over[taker] + gone) ** 2 / scale[taker]
        return np.asarray(before - after)

    def _copied(self, cells: Ints, broker: int) -> Floats:
        """Return the bytes that are copied in the end, beyond those that are copied anyway."""
        levels = self._levels
        size = levels.sizes_of(cells).astype(np.float64)
        is_moved = levels.holders[cells] != levels.origins[cells]
        comes_home = levels.origins[cells] == broker
        return np.where(is_moved, np.where(comes_home, -size, 0.0), size)

    def _make(self, change: _Change) -> None:
        self._levels.move(change.given, change.taker)
        if change.returned >= 0:
            self._levels.move(change.returned, change.giver)
