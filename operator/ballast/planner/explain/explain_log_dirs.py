"""What a plan comes to inside of brokers: what their log directories copy from one to another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints, Shorts, count_by_index, sum_by_index
from ballast.planner.placement.log_dirs import (
    current_log_dirs,
    directories,
    owners_of_directories,
    shares_of_directories,
)
from ballast.planner.snapshot.columns import ClusterColumns


@dataclass(frozen=True, kw_only=True, eq=False)
class LogDirMoves:
    """Of some partitions; directories are all brokers', one broker after another."""

    by_broker: Ints
    """Replicas that are copied to another directory of their broker."""
    bytes_within: Ints
    """By broker: what that comes to."""
    before: Ints
    """Bytes in each directory."""
    after: Ints
    owners: Ints
    """The broker of each directory."""
    shares: Floats
    """Of what its broker holds, what each directory should have."""

    @property
    def replicas(self) -> int:
        """How many replicas are copied."""
        return int(self.by_broker.sum())

    @property
    def bytes_least(self) -> int:
        """What any plan that ends with the same bytes in each directory has to copy."""
        return int(np.maximum(self.after - self.before, 0).sum())

    def fullest(self, amounts: Ints) -> float:
        """Return how full the fullest directory is, where 1 is its share of its broker's bytes.

        Of ``amounts``, which are `before` or `after`; 1 where nothing is held.
        """
        whole = np.bincount(self.owners, amounts, minlength=1)[self.owners] * self.shares
        in_use = whole > 0
        return float((amounts[in_use] / whole[in_use]).max(initial=1.0))


def log_dir_moves(columns: ClusterColumns, log_dirs: Shorts, moving: Bools) -> LogDirMoves:
    """Return what it comes to when the replicas that are ``moving`` go to ``log_dirs``."""
    brokers = columns.brokers
    sizes = np.zeros(columns.partitions, np.int64) if columns.sizes is None else columns.sizes
    amounts = np.broadcast_to(sizes[:, None], columns.replicas.shape)
    owners = owners_of_directories(brokers)

    def directory_bytes(table: Shorts) -> Ints:
        where = directories(columns, table)
        return sum_by_index(where[where >= 0], amounts[where >= 0], len(owners))

    return LogDirMoves(
        by_broker=count_by_index(columns.replicas[moving], brokers.count),
        bytes_within=sum_by_index(columns.replicas[moving], amounts[moving], brokers.count),
        before=directory_bytes(current_log_dirs(columns)),
        after=directory_bytes(log_dirs),
        owners=owners,
        shares=shares_of_directories(brokers),
    )


def whole_log_dir_moves(blocks: Sequence[LogDirMoves | None]) -> LogDirMoves | None:
    """Return what all blocks come to; None where no plan names a directory."""
    moves = [block for block in blocks if block is not None]
    if not moves:
        return None
    return LogDirMoves(
        by_broker=np.asarray(sum(block.by_broker for block in moves)),
        bytes_within=np.asarray(sum(block.bytes_within for block in moves)),
        before=np.asarray(sum(block.before for block in moves)),
        after=np.asarray(sum(block.after for block in moves)),
        owners=moves[0].owners,
        shares=moves[0].shares,
    )
