"""How often brokers are named, where a plan names them millions of times."""

from array import array
from collections import Counter
from collections.abc import Iterable, Set

import numpy as np

_AT_ONCE = 2_000


class BrokerCounts:
    """Counts ids many at a time: one by one takes five times as long."""

    def __init__(self) -> None:
        self.total = 0
        """How many ids were added, equal ones too."""
        self._counts: Counter[int] = Counter()
        self._waiting = array("q")

    def add(self, ids: Iterable[int]) -> None:
        """Add ids."""
        self._waiting.fromlist(added := list(ids))
        self.total += len(added)
        if len(self._waiting) >= _AT_ONCE:
            self._count()

    def names(self) -> Set[int]:
        """Return the ids that have been counted: all but some of the last."""
        return self._counts.keys()

    def counts(self) -> Counter[int]:
        """Return how often each id was added."""
        self._count()
        return self._counts

    def _count(self) -> None:
        ids, counts = np.unique(np.frombuffer(self._waiting, np.int64), return_counts=True)
        self._counts.update(dict(zip(ids.tolist(), counts.tolist(), strict=True)))
        self._waiting = array("q")
