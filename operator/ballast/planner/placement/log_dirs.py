"""Balances the log directories of brokers: replicas change their directory, never their broker.

Goals: every directory holds its share of its broker's bytes, by capacity; little more is copied
than what the fullest directories have beyond their shares.

Algorithm (longest processing time first): the fullest directory, relative to its share, gives the
emptiest one its largest replica that is no larger than the excess of the one and the shortage of
the other. If none is small enough it gives its smallest, provided both directories end closer to
their shares. The search ends when no such replica is left.

Example, one broker with two directories of equal capacity::

    before: /d1 has 50, 30, 20 (100)    /d2 has 20 (20)
    after:  /d1 has 50, 20 (70)         /d2 has 20, 30 (50)

The shares are 60. The excess of /d1 is 40, so it gives the 30. After that its excess is 10, and
even its smallest replica would make /d2 as full as /d1 is now: nothing else moves.

In blocks, excess and shortage of a directory are computed for the whole broker, and each block
moves its part of them.

"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints, Shorts, noise, sum_by_index
from ballast.planner.errors import OptionsRejected
from ballast.planner.placement.size_matching import TOLERANCE
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.snapshot.columns import NOWHERE, BrokerColumns, ClusterColumns


@dataclass(frozen=True, kw_only=True, eq=False)
class LogDirLoads:
    """Loads of log directories: those of all brokers, one broker after another.

    In bytes (or bytes per second) and in replicas; those of movable replicas separately.
    """

    directory_bytes: Ints
    movable: Ints
    replica_counts: Ints
    movable_counts: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class LogDirTargets:
    """What directories are to give of the replicas of some partitions or, below 0, to receive."""

    excess: Floats
    counts_replicas: bool
    """Whether a replica counts as one, since no sizes are known."""


def log_dir_loads(view: ClusterView) -> LogDirLoads:
    """Return the loads of directories, as far as the snapshot has them."""
    columns = view.columns
    places = directories(columns, current_log_dirs(columns))
    count = int(_starts(columns.brokers)[-1])
    amounts = _amounts(view)

    def sums(part: Bools) -> tuple[Ints, Ints]:
        row_ids = np.flatnonzero(part.ravel()) // places.shape[1]
        where = places[part]
        return sum_by_index(where, amounts[row_ids], count), np.bincount(where, minlength=count)

    directory_bytes, replica_counts = sums(places >= 0)
    movable, movable_counts = sums((places >= 0) & view.in_scope[:, None])
    return LogDirLoads(
        directory_bytes=directory_bytes,
        movable=movable,
        replica_counts=replica_counts,
        movable_counts=movable_counts,
    )


def log_dir_targets(view: ClusterView, blocks: Sequence[LogDirLoads]) -> list[LogDirTargets]:
    """Return the targets of each block; of the view only brokers and options count.

    Raises `OptionsRejected` when the snapshot names the directory of no replica.
    """
    if not any(block.replica_counts.any() for block in blocks):
        raise OptionsRejected("strategy", "needs a snapshot with the replicas' log dirs")
    counts_replicas = not any(block.directory_bytes.any() for block in blocks)
    directory_bytes = [
        block.replica_counts if counts_replicas else block.directory_bytes for block in blocks
    ]
    movable = [block.movable_counts if counts_replicas else block.movable for block in blocks]
    total: Ints = np.sum(directory_bytes, axis=0)
    movable_total: Ints = np.sum(movable, axis=0)
    owners = owners_of_directories(view.columns.brokers)

    def of_broker(amounts: Floats) -> Floats:
        sums = np.bincount(owners, amounts, minlength=view.columns.brokers.count)
        return np.asarray(sums[owners])

    target = of_broker(total.astype(np.float64)) * shares_of_directories(view.columns.brokers)
    excess = np.where(view.usable[owners], total - target, 0.0)
    outgoing = np.minimum(np.where(excess > TOLERANCE * target, excess, 0.0), movable_total)
    shortages = np.maximum(-excess, 0.0)
    incoming = shortages * of_broker(outgoing) / np.maximum(of_broker(shortages), 1e-9)
    targets = []
    for block_movable in movable:
        block_outgoing = outgoing * (block_movable / np.maximum(movable_total, 1))
        part = of_broker(block_outgoing) / np.maximum(of_broker(outgoing), 1e-9)
        targets.append(
            LogDirTargets(excess=block_outgoing - incoming * part, counts_replicas=counts_replicas)
        )
    return targets


def balance_log_dirs(view: ClusterView, targets: LogDirTargets) -> Shorts:
    """Return the target directory of each replica, as `ClusterColumns.log_dirs`."""
    columns = view.columns
    log_dirs = current_log_dirs(columns).copy()
    places, starts = directories(columns, current_log_dirs(columns)), _starts(columns.brokers)
    amounts = np.ones(len(places), np.int64) if targets.counts_replicas else _amounts(view)
    candidates = _candidates(view, places, amounts, targets.excess)
    width = places.shape[1]
    own = places.ravel()[candidates]
    weights = shares_of_directories(columns.brokers)
    owners = owners_of_directories(columns.brokers)[own]
    cuts = np.flatnonzero(np.diff(owners, prepend=-1, append=-1))
    for first, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        broker = int(owners[first])
        begin, after = int(starts[broker]), int(starts[broker + 1])
        balancer = _DirectoryBalancer(
            targets.excess[begin:after].tolist(), weights[begin:after].tolist()
        )
        part = candidates[first:end]
        balancer.add(
            (own[first:end] - begin).tolist(), amounts[part // width].tolist(), part.tolist()
        )
        for position, directory in balancer.moves():
            log_dirs.ravel()[position] = directory
    return log_dirs


class _DirectoryBalancer:
    """One broker's directories, by number, while they are balanced."""

    def __init__(self, excess: list[float], weights: list[float]) -> None:
        self._excess = excess
        self._weights = weights
        self._amounts: list[list[int]] = [[] for _ in excess]
        """By directory: amounts of its replicas, ascending."""
        self._positions: list[list[int]] = [[] for _ in excess]
        """Positions of the same replicas."""

    def add(self, directories: list[int], amounts: list[int], positions: list[int]) -> None:
        """Add replicas, sorted by amount within each directory."""
        for directory, amount, position in zip(directories, amounts, positions, strict=True):
            self._amounts[directory].append(amount)
            self._positions[directory].append(position)

    def moves(self) -> Iterator[tuple[int, int]]:
        """Yield replicas that move, and their new directory; each at most once."""
        sources = {number for number, amounts in enumerate(self._amounts) if amounts}
        while sources:
            source = max(sources, key=self._fullness)
            target = min(range(len(self._excess)), key=self._fullness)
            amounts = self._amounts[source]
            transfer = min(self._excess[source], -self._excess[target])
            place = max(0, bisect_right(amounts, transfer) - 1)
            if not amounts or not self._is_better(amounts[place], source, target):
                sources.discard(source)
                continue
            self._excess[source] -= amounts[place]
            self._excess[target] += amounts[place]
            del amounts[place]
            yield self._positions[source].pop(place), target

    def _fullness(self, directory: int) -> float:
        """Return the excess of a directory, relative to its weight."""
        return self._excess[directory] / max(self._weights[directory], 1e-9)

    def _is_better(self, amount: int, source: int, target: int) -> bool:
        """Whether the source ends closer to its share, and the target is not as full."""
        after = (self._excess[target] + amount) / max(self._weights[target], 1e-9)
        return amount < 2 * self._excess[source] and after < self._fullness(source)


def _candidates(view: ClusterView, places: Ints, amounts: Ints, excess: Floats) -> Ints:
    """Return the replicas that may move, as positions in the flat table.

    By directory and by amount; equal ones in hash order, so that topics stay spread.
    """
    sources = (places >= 0) & (excess > 0)[places]
    sources &= view.in_scope[:, None] & (amounts > 0)[:, None]
    candidates = np.flatnonzero(sources.ravel())
    noise_keys = noise(view.options.seed, candidates)
    candidate_amounts = amounts[candidates // places.shape[1]]
    order = np.lexsort((noise_keys, candidate_amounts, places.ravel()[candidates]))
    return candidates[order]


def current_log_dirs(columns: ClusterColumns) -> Shorts:
    """Return the directory of each replica among its broker's, -1 = not known."""
    if columns.log_dirs is None:
        return np.full(columns.replicas.shape, NOWHERE, np.int32)
    return columns.log_dirs


def changed_log_dirs(columns: ClusterColumns, log_dirs: Shorts | None) -> Bools:
    """Return which replicas change their directory; none if no directory is named."""
    if log_dirs is None:
        return np.zeros(columns.replicas.shape, np.bool_)
    return np.asarray(log_dirs != current_log_dirs(columns))


def directories(columns: ClusterColumns, log_dirs: Shorts) -> Ints:
    """Return for each replica the number of its directory among all brokers', -1 = not known."""
    return np.where(log_dirs >= 0, _starts(columns.brokers)[columns.replicas] + log_dirs, NOWHERE)


def _starts(brokers: BrokerColumns) -> Ints:
    """Return the number of each broker's first directory; one more at the end."""
    return np.cumsum([0, *map(len, brokers.log_dirs)], dtype=np.int64)


def owners_of_directories(brokers: BrokerColumns) -> Ints:
    """Return the broker of each directory."""
    return np.repeat(np.arange(brokers.count), np.diff(_starts(brokers)))


def shares_of_directories(brokers: BrokerColumns) -> Floats:
    """Return each directory's share of its broker: by capacity, where it is known."""
    shares: list[float] = []
    for paths, capacities in zip(brokers.log_dirs, brokers.log_dir_bytes, strict=True):
        sizes = capacities if any(capacities) else (1,) * len(paths)
        shares += [size / sum(sizes) for size in sizes]
    return np.array(shares, np.float64)


def _amounts(view: ClusterView) -> Ints:
    amounts = view.amounts
    return np.zeros(view.columns.partitions, np.int64) if amounts is None else amounts
