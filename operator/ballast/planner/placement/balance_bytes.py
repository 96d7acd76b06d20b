"""Balances bytes replica by replica, where few large replicas decide.

Goals: no broker exceeds its byte target by more than `TOLERANCE`; few bytes are copied.
Constraints: replica counts stay within their targets; the rack rules hold.

Algorithm (local search): the broker that is furthest above its byte target moves a replica to
another broker, or exchanges it for a smaller one. If no broker is too far above, the one furthest
below receives a replica in the same way. Of all candidate changes the one that removes most
imbalance per copied byte is applied. A replica that is copied anyway costs nothing to go elsewhere.

Example, byte targets 320 and 320, and equal replica counts::

    before: broker 1 has 300, 300, 10 (610)    broker 2 has 10, 10, 10 (30)
    after:  broker 1 has 10, 300, 10 (320)     broker 2 has 300, 10, 10 (320)

One exchange moves 290 bytes of imbalance and copies 310.

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
"""Steps times replicas. With more replicas, the selection by size leaves little to do."""
_MAX_GIVEN = 128
"""Replicas of the source that one step looks at: its largest."""
_MAX_OTHERS = 12
"""Brokers that one step looks at, in the same rack and as many in others: those that differ most.
"""
_MAX_RETURNED = 48
"""Replicas of the receiver that one step looks at: its smallest."""
_WORTH = 0.02
"""A change removes at least this part of the broker's imbalance …"""
_COPIED_PER_BYTE_MAX = 1.5
"""… and copies at most this number of bytes for each byte transferred."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Change:
    """One replica to another broker, and possibly one of that broker's back."""

    source: int
    moved: int
    receiver: int
    returned: int
    """-1 = none."""


def balance_bytes(problem: PlacementProblem, rows: Shorts, targets: BalanceTargets) -> None:
    """Change ``rows``, which have no unassigned replica, so that brokers reach their byte targets.

    Nothing happens where sizes do not count.
    """
    if problem.sizes is None or targets.byte_target is None:
        return
    search = _Search(problem, ByteLoads(problem, rows, problem.sizes, targets.byte_target), targets)
    for _ in range(min(_MAX_STEPS, _MAX_WORK // rows.size)):
        if not search.step():
            return


class _Search:
    def __init__(
        self, problem: PlacementProblem, loads: ByteLoads, targets: BalanceTargets
    ) -> None:
        self._task = problem
        self._loads = loads
        self._band = targets.replica_targets
        self._racks = problem.rules.racks
        self._exhausted = np.zeros(len(loads.excess), np.bool_)
        """Brokers without a useful change, as long as they have not changed."""

    def step(self) -> bool:
        """Apply one change for the broker furthest from its target; False = all are close."""
        relative = np.where(self._exhausted, 0.0, self._loads.excess / self._loads.scale)
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
            self._exhausted[broker] = True
        else:
            self._apply(change)
            self._exhausted[[change.source, change.receiver]] = False
        return True

    def _pairs(self, broker: int, *, is_giver: bool) -> list[tuple[int, int]]:
        """Return pairs of source and receiver: the broker with those that differ most from it.

        In its own rack and in others, as the rack rules may close either.
        """
        excess = self._loads.excess if is_giver else -self._loads.excess
        others = np.flatnonzero((self._task.receivers | (not is_giver)) & (excess < excess[broker]))
        others = others[np.argsort((excess / self._loads.scale)[others], kind="stable")]
        in_same_rack = self._racks[others] == self._racks[broker]
        others = np.concatenate(
            [others[in_same_rack][:_MAX_OTHERS], others[~in_same_rack][:_MAX_OTHERS]]
        )
        return [(broker, other) if is_giver else (other, broker) for other in others.tolist()]

    def _best(self, broker: int, pairs: list[tuple[int, int]]) -> _Change | None:
        best_change: tuple[float, _Change] | None = None
        for source, receiver in pairs:
            candidate = self._best_between(source, receiver, broker)
            if candidate is not None and (best_change is None or candidate[0] > best_change[0]):
                best_change = candidate
        return None if best_change is None else best_change[1]

    def _best_between(
        self, source: int, receiver: int, broker: int
    ) -> tuple[float, _Change] | None:
        """Return the best change between two brokers for one of them, and its value."""
        loads = self._loads
        moved = self._largest(source)
        moved = moved[loads.fits(moved, receiver)]
        if not len(moved):
            return None
        returned = self._smallest(receiver) if self._task.receivers[source] else moved[:0]
        returned = returned[loads.fits(returned, source)][:_MAX_RETURNED]
        has_room = loads.replica_counts[receiver] < self._band.high[receiver]
        can_spare = loads.replica_counts[source] > self._band.low[source]
        if has_room and can_spare:
            returned = np.append(returned, -1)
        if not len(returned):
            return None
        returned_bytes = np.where(returned >= 0, loads.sizes_of(returned), 0)
        transferred = loads.sizes_of(moved)[:, None] - returned_bytes[None, :]
        gain = self._gain(source, receiver, transferred.astype(np.float64))
        cost = self._copied(moved, receiver)[:, None] + np.where(
            returned >= 0, self._copied(returned, source), 0
        )
        unevenness = loads.excess[broker] ** 2 / loads.scale[broker]
        # The added term keeps a change that copies nearly nothing from winning with nearly no gain.
        value = gain / (np.maximum(cost, 0) + abs(loads.excess[broker]) / 4)
        too_dear = cost > _COPIED_PER_BYTE_MAX * transferred
        value[(gain < _WORTH * unevenness) | too_dear] = -np.inf
        best = int(np.argmax(value))
        if not np.isfinite(value.flat[best]):
            return None
        line, column = divmod(best, len(returned))
        change = _Change(
            source=source, moved=int(moved[line]), receiver=receiver, returned=int(returned[column])
        )
        return float(value.flat[best]), change

    def _largest(self, broker: int) -> Ints:
        replicas = self._loads.cells_of(broker)
        size = self._loads.sizes_of(replicas)
        order = np.argsort(-size, kind="stable")[: int((size > 0).sum())]
        return np.asarray(replicas[order[:_MAX_GIVEN]])

    def _smallest(self, broker: int) -> Ints:
        replicas = self._loads.cells_of(broker)
        return np.asarray(replicas[np.argsort(self._loads.sizes_of(replicas), kind="stable")])

    def _gain(self, source: int, receiver: int, transferred: Floats) -> Floats:
        """Return by how much the imbalance of two brokers falls for these transferred bytes."""
        excess, scale = self._loads.excess, self._loads.scale
        unevenness = excess[source] ** 2 / scale[source] + excess[receiver] ** 2 / scale[receiver]
        after = (excess[source] - transferred) ** 2 / scale[source] + (
            excess[receiver] + transferred
        ) ** 2 / scale[receiver]
        return np.asarray(unevenness - after)

    def _copied(self, cells: Ints, broker: int) -> Floats:
        """Return the bytes copied in the end, beyond those that are copied anyway."""
        loads = self._loads
        size = loads.sizes_of(cells).astype(np.float64)
        is_moved = loads.brokers[cells] != loads.origins[cells]
        comes_home = loads.origins[cells] == broker
        return np.where(is_moved, np.where(comes_home, -size, 0.0), size)

    def _apply(self, change: _Change) -> None:
        self._loads.move(change.moved, change.receiver)
        if change.returned >= 0:
            self._loads.move(change.returned, change.source)
