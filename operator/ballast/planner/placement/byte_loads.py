"""The state of a search that moves single replicas: bytes and counts by broker, and what fits.

`balance_bytes` and `remove_detours` share it. Each of them decides which change is a good one.

"""

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints, Shorts, count_by_index
from ballast.planner.problem.balance_bounds import broker_bytes_of
from ballast.planner.problem.problem import PlacementProblem


class ByteLoads:
    """The replicas of a plan; ``rows`` change as they move.

    A replica is a cell: its position in the flat rows.
    """

    def __init__(
        self, problem: PlacementProblem, rows: Shorts, sizes: Ints, target: Floats
    ) -> None:
        """``sizes`` are bytes of a replica of each partition, ``target`` those of each broker."""
        self.brokers = rows.reshape(-1)
        assert np.shares_memory(self.brokers, rows), "what is found is written into the rows"
        self.origins = problem.origins.reshape(-1)
        self.cells: Ints = np.flatnonzero((problem.unassigned | problem.movable) & (rows >= 0))
        """Replicas that may be elsewhere."""
        self.scale = np.maximum(target, 1.0)
        self.excess = broker_bytes_of(rows, sizes, len(target)) - target
        """Bytes of each broker above its target."""
        self.replica_counts = count_by_index(rows, len(target))
        self._rows = rows
        self._sizes = sizes
        self._rules = problem.rules
        self._factors = problem.factors
        self._width = rows.shape[1]

    def cells_of(self, broker: int) -> Ints:
        """Return the replicas of a broker that may be elsewhere."""
        return np.asarray(self.cells[self.brokers[self.cells] == broker])

    def sizes_of(self, cells: Ints) -> Ints:
        """Return the bytes of replicas."""
        return np.asarray(self._sizes[cells // self._width])

    def fits(self, cells: Ints, broker: int) -> Bools:
        """Return which replicas could be on another broker instead."""
        row_ids = cells // self._width
        rows = self._rows[row_ids]
        rows[np.arange(len(cells)), cells % self._width] = -1
        brokers = np.full(len(cells), broker, np.int64)
        return ~self._rules.conflicts(rows, brokers, self._factors[row_ids])

    def move(self, cell: int, broker: int) -> None:
        """Move one replica to another broker."""
        size = float(self._sizes[cell // self._width])
        source = self.brokers[cell]
        self.brokers[cell] = broker
        self.excess[source] -= size
        self.excess[broker] += size
        self.replica_counts[source] -= 1
        self.replica_counts[broker] += 1
