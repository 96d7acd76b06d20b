"""Copysets: how many different sets of brokers hold a partition, in a cluster or over blocks.

Memory is bounded: only the smallest hashes of the sets are kept (k minimum values, Bar-Yossef et
al. 2002). As long as no set is dropped the number is exact; otherwise it is estimated from the
density of the smallest hashes, to about one percent.

"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ballast.planner.arrays import Shorts, noise

MAX_HASHES = 16_384
_SPACE = 2.0**64


@dataclass(frozen=True, kw_only=True, eq=False)
class Copysets:
    """The sets of brokers that hold some partitions."""

    hashes: npt.NDArray[np.uint64]
    """The smallest hashes of the sets, ascending, at most `MAX_HASHES`."""

    @property
    def count(self) -> int:
        """Number of different sets."""
        if len(self.hashes) < MAX_HASHES:
            return len(self.hashes)
        return round((MAX_HASHES - 1) * _SPACE / float(self.hashes[-1]))


def copysets(rows: Shorts) -> Copysets:
    """Return the sets in rows of brokers."""
    hashes = np.zeros(len(rows), np.uint64)
    for column in np.sort(rows, axis=1).T:
        # Padding comes first and does not count: rows may have any width.
        mixed = noise(0, (hashes + column.astype(np.uint64)).view(np.int64))
        hashes = np.where(column >= 0, mixed, hashes)
    return Copysets(hashes=np.unique(hashes)[:MAX_HASHES])


def all_copysets(parts: Sequence[Copysets]) -> Copysets:
    """Return the union of the sets of all parts."""
    return Copysets(hashes=np.unique(np.concatenate([one.hashes for one in parts]))[:MAX_HASHES])
