"""Makes brokers level by bytes, replica by replica.

Where few large ones decide, choosing many at once does not find what changing two of them does.
Again and again the broker that is furthest above its share gives a replica: to a broker that may
have one more, or for a smaller one of another broker. Of what there is to do that is done which
levels the most for the bytes that it copies; what has been copied anyway costs nothing to go
elsewhere. Numbers of replicas stay within their bands, and the rules about racks hold.
"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.aims import Aims
from ballast.planner.arrays import Bools, Floats, Ints, Shorts, counted
from ballast.planner.by_size import TOLERANCE
from ballast.planner.limits import bytes_of
from ballast.planner.task import Task

_MAX_STEPS = 400
_MAX_WORK = 4_000_000
"""Steps times replicas: with many replicas choosing many at once leaves little to be done."""
_MAX_STUCK = 8
"""Givers, one after the other, for which there was nothing to do: then there is an end."""
_MAX_GIVEN = 128
"""Replicas of the giver that are looked at in one step: its largest that fit …"""
_MAX_TAKERS = 12
"""… brokers: those that lack the most …"""
_MAX_RETURNED = 48
"""… and replicas of each of them: its smallest."""
_WORTH = 0.02
"""What is done takes away at least so much of the giver's unevenness …"""
_COPIED_PER_BYTE_MAX = 1.5
"""… and copies no more for each byte that changes over."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Change:
    """One replica to another broker, and maybe one of that broker's back."""

    given: int
    taker: int
    returned: int
    """-1 = none."""


def level_bytes(task: Task, rows: Shorts, aims: Aims) -> None:
    """Change ``rows``, whose replicas all have a place, so that brokers hold what they shall.

    Nothing is done where sizes do not count.
    """
    if task.sizes is None or aims.byte_target is None:
        return
    search = _Search(task, rows, aims, task.sizes, aims.byte_target)
    for _ in range(min(_MAX_STEPS, _MAX_WORK // rows.size)):
        if not search.step():
            return


class _Search:
    def __init__(self, task: Task, rows: Shorts, aims: Aims, sizes: Ints, target: Floats) -> None:
        self._task = task
        self._rows = rows
        self._flat = rows.reshape(-1)
        assert np.shares_memory(self._flat, rows), "what is found is written into the rows"
        self._origins = task.origins.reshape(-1)
        self._width = rows.shape[1]
        self._cells = np.flatnonzero((task.vacant | task.pickable) & (rows >= 0))
        self._sizes = sizes
        self._target = target
        self._scale = np.maximum(target, 1.0)
        self._over = bytes_of(rows, sizes, len(target)) - target
        self._held = counted(rows, len(target))
        self._band = aims.band
        self._stuck = np.zeros(len(target), np.bool_)

    def step(self) -> bool:
        """Make one change; False when there is none that is worth it."""
        for _ in range(_MAX_STUCK):
            relative = np.where(self._stuck, 0.0, self._over / self._scale)
            giver = int(np.argmax(relative))
            if relative[giver] <= TOLERANCE:
                return False
            change = self._best(giver)
            if change is not None:
                self._make(giver, change)
                self._stuck[[giver, change.taker]] = False
                return True
            self._stuck[giver] = True
        return False

    def _best(self, giver: int) -> _Change | None:
        """Return what is best to do for a broker that has too much."""
        holders = self._flat[self._cells]
        own = self._cells[holders == giver]
        size = self._sizes[own // self._width]
        given = own[np.argsort(-size, kind="stable")]
        given = given[size[np.argsort(-size, kind="stable")] > 0][:_MAX_GIVEN]
        lacking = np.flatnonzero(self._task.takers & (self._over < self._over[giver]))
        lacking = lacking[lacking != giver]
        lacking = lacking[np.argsort((self._over / self._scale)[lacking], kind="stable")]
        found: tuple[float, _Change] | None = None
        for taker in lacking[:_MAX_TAKERS].tolist():
            one = self._best_with(giver, given, taker, holders)
            if one is not None and (found is None or one[0] > found[0]):
                found = one
        return None if found is None else found[1]

    def _best_with(
        self, giver: int, given: Ints, taker: int, holders: Shorts
    ) -> tuple[float, _Change] | None:
        """Return the best change between two brokers, and how good it is."""
        given = given[self._fits(given, taker)]
        returned = self._cells[holders == taker]
        returned = (
            returned[self._fits(returned, giver)] if self._task.takers[giver] else returned[:0]
        )
        order = np.argsort(self._sizes[returned // self._width], kind="stable")
        returned = returned[order[:_MAX_RETURNED]]
        has_room = self._held[taker] < self._band.high[taker]
        can_spare = self._held[giver] > self._band.low[giver]
        if has_room and can_spare:
            returned = np.append(returned, -1)
        if not len(given) or not len(returned):
            return None
        back = np.where(returned >= 0, self._sizes[returned // self._width], 0)
        gone = self._sizes[given // self._width][:, None] - back[None, :]
        gain = self._gain(giver, taker, gone.astype(np.float64))
        cost = self._copied(given, taker)[:, None] + np.where(
            returned >= 0, self._copied(returned, giver), 0
        )
        before = self._over[giver] ** 2 / self._scale[giver]
        # A step that copies next to nothing must not be better than any that brings something.
        value = gain / (np.maximum(cost, 0) + self._over[giver] / 4)
        too_dear = cost > _COPIED_PER_BYTE_MAX * gone
        value[(gain < _WORTH * before) | too_dear] = -np.inf
        best = int(np.argmax(value))
        if not np.isfinite(value.flat[best]):
            return None
        line, column = divmod(best, len(returned))
        change = _Change(given=int(given[line]), taker=taker, returned=int(returned[column]))
        return float(value.flat[best]), change

    def _gain(self, giver: int, taker: int, gone: Floats) -> Floats:
        """Return how much less uneven two brokers are when so many bytes change over."""
        over, scale = self._over, self._scale
        before = over[giver] ** 2 / scale[giver] + over[taker] ** 2 / scale[taker]
        after = (over[giver] - gone) ** 2 / scale[giver] + (over[taker] + gone) ** 2 / scale[taker]
        return np.asarray(before - after)

    def _copied(self, cells: Ints, broker: int) -> Floats:
        """Return the bytes that are copied in the end, beyond those that are copied anyway."""
        size = self._sizes[cells // self._width].astype(np.float64)
        is_moved = self._flat[cells] != self._origins[cells]
        comes_home = self._origins[cells] == broker
        return np.where(is_moved, np.where(comes_home, -size, 0.0), size)

    def _fits(self, cells: Ints, broker: int) -> Bools:
        """Return which replicas could be on another broker instead."""
        lines = cells // self._width
        rows = self._rows[lines]
        rows[np.arange(len(cells)), cells % self._width] = -1
        brokers = np.full(len(cells), broker, np.int64)
        return ~self._task.rules.conflicts(rows, brokers, self._task.factors[lines])

    def _make(self, giver: int, change: _Change) -> None:
        self._move(change.given, giver, change.taker)
        if change.returned >= 0:
            self._move(change.returned, change.taker, giver)

    def _move(self, cell: int, giver: int, taker: int) -> None:
        self._flat[cell] = taker
        size = float(self._sizes[cell // self._width])
        self._over[giver] -= size
        self._over[taker] += size
        self._held[giver] -= 1
        self._held[taker] += 1
