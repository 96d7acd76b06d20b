"""Counts broker ids, where a plan has millions of them."""

from array import array
from collections import Counter
from collections.abc import Iterable

import numpy as np

_AT_ONCE = 2_000
_TABLED_IDS = 2**16
"""Smaller ids are counted in a table of at most half a MiB."""


class BrokerCounts:
    """Counts ids in batches: one by one takes five times as long."""

    def __init__(self) -> None:
        self.total = 0
        """Number of ids added, equal ones included."""
        self._table = np.zeros(0, np.int64)
        self._others: Counter[int] = Counter()
        self._waiting = array("q")

    def add(self, ids: Iterable[int]) -> bool:
        """Add ids. Returns whether the waiting ids were counted now."""
        self._waiting.fromlist(added := list(ids))
        self.total += len(added)
        if len(self._waiting) < _AT_ONCE:
            return False
        self._count()
        return True

    def number_with(self, other: "BrokerCounts") -> int:
        """Return the number of different ids in both, as far as they are counted."""
        long, short = self._table, other._table
        if len(long) < len(short):
            long, short = short, long
        either = long > 0
        either[: len(short)] |= short > 0
        return int(np.count_nonzero(either)) + len(self._others.keys() | other._others.keys())

    def counts(self) -> Counter[int]:
        """Return the count of each id."""
        self._count()
        ids = np.flatnonzero(self._table)
        tabled = dict(zip(ids.tolist(), self._table[ids].tolist(), strict=True))
        return Counter({**tabled, **self._others})

    def _count(self) -> None:
        ids = np.frombuffer(self._waiting, np.int64)
        is_tabled = (ids >= 0) & (ids < _TABLED_IDS)
        self._others.update(ids[~is_tabled].tolist())
        table = np.bincount(ids[is_tabled], minlength=len(self._table))
        table[: len(self._table)] += self._table
        self._table = table
        self._waiting = array("q")
