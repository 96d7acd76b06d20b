"""Replicas that all have a place, changed one by one: who holds how much, and what may go where.

`balance_bytes` and `remove_detours` change single replicas and share this state. Each of them
decides by itself which change is a good one.
"""

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints, Shorts, count_by_index
from ballast.planner.problem.balance_bounds import bytes_of
from ballast.planner.problem.problem import PlacementProblem


class ByteLoads:
    """The replicas of a plan; ``rows`` change as they are moved.

    A replica is a cell: a position in the rows, one after the other.
    """

    def __init__(self, task: PlacementProblem, rows: Shorts, sizes: Ints, target: Floats) -> None:
        """``sizes`` are bytes of a replica of each partition, ``target`` those of each broker."""
        self.holders = rows.reshape(-1)
        assert np.shares_memory(self.holders, rows), "what is found is written into the rows"
        self.origins = task.origins.reshape(-1)
        self.cells: Ints = np.flatnonzero((task.unassigned | task.pickable) & (rows >= 0))
        """Those that may be elsewhere."""
        self.scale = np.maximum(target, 1.0)
        self.over = bytes_of(rows, sizes, len(target)) - target
        """Bytes of each broker above its share."""
        self.counts = count_by_index(rows, len(target))
        self._rows = rows
        self._sizes = sizes
        self._rules = task.rules
        self._factors = task.factors
        self._width = rows.shape[1]

    def cells_of(self, broker: int) -> Ints:
        """Return the replicas of a broker that may be elsewhere."""
        return np.asarray(self.cells[self.holders[self.cells] == broker])

    def sizes_of(self, cells: Ints) -> Ints:
        """Return the bytes of replicas."""
        return np.asarray(self._sizes[cells // self._width])

    def fits(self, cells: Ints, broker: int) -> Bools:
        """Return which replicas could be on another broker instead."""
        lines = cells // self._width
        rows = self._rows[lines]
        rows[np.arange(len(cells)), cells % self._width] = -1
        brokers = np.full(len(cells), broker, np.int64)
        return ~self._rules.conflicts(rows, brokers, self._factors[lines])

    def move(self, cell: int, broker: int) -> None:
        """Let one replica be on another broker."""
        size = float(self._sizes[cell // self._width])
        giver = self.holders[cell]
        self.holders[cell] = broker
        self.over[giver] -= size
        self.over[broker] += size
        self.counts[giver] -= 1
        self.counts[broker] += 1
