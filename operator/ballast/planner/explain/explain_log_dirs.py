"""The part of an explanation about copies between the log directories of one broker."""

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
    """Of some partitions; directories are those of all brokers, one broker after another."""

    by_broker: Ints
    """Replicas that are copied to another directory of their broker."""
    bytes_within: Ints
    """By broker: bytes of these replicas."""
    before: Ints
    """Bytes in each directory."""
    after: Ints
    owners: Ints
    """The broker of each directory."""
    shares: Floats
    """Each directory's fair share of its broker's bytes."""

    @property
    def replicas(self) -> int:
        """Number of copied replicas."""
        return int(self.by_broker.sum())

    @property
    def bytes_least(self) -> int:
        """Lower bound of the copied bytes of any plan with the same bytes in each directory."""
        return int(np.maximum(self.after - self.before, 0).sum())

    def fullest(self, amounts: Ints) -> float:
        """Return the load of the fullest directory, where 1 is its share of its broker's bytes.

        ``amounts`` are `before` or `after`; 1 for an empty cluster.
        """
        whole = np.bincount(self.owners, amounts, minlength=1)[self.owners] * self.shares
        in_use = whole > 0
        return float((amounts[in_use] / whole[in_use]).max(initial=1.0))


def log_dir_moves(columns: ClusterColumns, log_dirs: Shorts, moving: Bools) -> LogDirMoves:
    """Return the copies if the replicas that are ``moving`` go to ``log_dirs``."""
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
    """Return the sum over blocks; None where no plan names a directory."""
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
