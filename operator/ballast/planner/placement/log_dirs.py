"""Levels the log directories of brokers: replicas change their directory, never their broker.

Goals: every directory of a broker holds its share of the broker's bytes, by capacity; what is
copied for it is little more than what the fullest have beyond their shares. Constraint: a replica
is as large as it is.
Algorithm (longest processing time first, from where things are): the fullest directory, for its
share, gives to the emptiest the largest replica that both have use for; where none is small enough,
its smallest, if that brings them nearer to their shares. Until nothing does.

In blocks, what a directory is to give or get is found for the whole broker, and each block brings
about its part of it.
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
    """What the replicas of some partitions come to, by directory: all brokers', one after another.

    Of those partitions that may be touched apart. In bytes (or bytes per second), and in numbers.
    """

    held: Ints
    pickable: Ints
    numbers_held: Ints
    numbers_pickable: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class LogDirTargets:
    """What directories are to give of the replicas of some partitions, or, below 0, to get."""

    excess: Floats
    goes_by_number: bool
    """Nobody told sizes: a replica counts as one."""


def log_dir_loads(situation: ClusterView) -> LogDirLoads:
    """Return what directories hold, as far as the snapshot tells it."""
    columns = situation.columns
    places = directories(columns, known_log_dirs(columns))
    count = int(_starts(columns.brokers)[-1])
    amounts = _amounts(situation)

    def loads(some: Bools) -> tuple[Ints, Ints]:
        lines = np.flatnonzero(some.ravel()) // places.shape[1]
        where = places[some]
        return sum_by_index(where, amounts[lines], count), np.bincount(where, minlength=count)

    held, numbers_held = loads(places >= 0)
    pickable, numbers_pickable = loads((places >= 0) & situation.movable[:, None])
    return LogDirLoads(
        held=held,
        pickable=pickable,
        numbers_held=numbers_held,
        numbers_pickable=numbers_pickable,
    )


def log_dir_targets(situation: ClusterView, blocks: Sequence[LogDirLoads]) -> list[LogDirTargets]:
    """Return what each block is to bring about; of the situation only brokers and options count.

    Raises `OptionsRejected` when the snapshot does not tell where any replica lies.
    """
    if not any(block.numbers_held.any() for block in blocks):
        raise OptionsRejected("strategy", "needs a snapshot that tells the replicas' log dirs")
    goes_by_number = not any(block.held.any() for block in blocks)
    held = [block.numbers_held if goes_by_number else block.held for block in blocks]
    pickable = [block.numbers_pickable if goes_by_number else block.pickable for block in blocks]
    whole: Ints = np.sum(held, axis=0)
    can_give: Ints = np.sum(pickable, axis=0)
    owners = owners_of_directories(situation.columns.brokers)

    def of_broker(amounts: Floats) -> Floats:
        sums = np.bincount(owners, amounts, minlength=situation.columns.brokers.count)
        return np.asarray(sums[owners])

    target = of_broker(whole.astype(np.float64)) * shares_of_directories(situation.columns.brokers)
    excess = np.where(situation.usable[owners], whole - target, 0.0)
    gives = np.minimum(np.where(excess > TOLERANCE * target, excess, 0.0), can_give)
    lacks = np.maximum(-excess, 0.0)
    gets = lacks * of_broker(gives) / np.maximum(of_broker(lacks), 1e-9)
    aims = []
    for of_block in pickable:
        given = gives * (of_block / np.maximum(can_give, 1))
        part = of_broker(given) / np.maximum(of_broker(gives), 1e-9)
        aims.append(LogDirTargets(excess=given - gets * part, goes_by_number=goes_by_number))
    return aims


def balance_log_dirs(situation: ClusterView, aims: LogDirTargets) -> Shorts:
    """Return the directory that each replica shall be in, as `ClusterColumns.log_dirs`."""
    columns = situation.columns
    found = known_log_dirs(columns).copy()
    places, starts = directories(columns, known_log_dirs(columns)), _starts(columns.brokers)
    amounts = np.ones(len(places), np.int64) if aims.goes_by_number else _amounts(situation)
    candidates = _candidates(situation, places, amounts, aims.excess)
    width = places.shape[1]
    own = places.ravel()[candidates]
    weights = shares_of_directories(columns.brokers)
    owners = owners_of_directories(columns.brokers)[own]
    cuts = np.flatnonzero(np.diff(owners, prepend=-1, append=-1))
    for first, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        broker = int(owners[first])
        begin, after = int(starts[broker]), int(starts[broker + 1])
        levelling = _DirectoryBalancer(
            aims.excess[begin:after].tolist(), weights[begin:after].tolist()
        )
        some = candidates[first:end]
        levelling.add(
            (own[first:end] - begin).tolist(), amounts[some // width].tolist(), some.tolist()
        )
        for position, directory in levelling.moves():
            found.ravel()[position] = directory
    return found


class _DirectoryBalancer:
    """One broker's directories, by number, while they are levelled."""

    def __init__(self, excess: list[float], weights: list[float]) -> None:
        self._excess = excess
        self._weights = weights
        self._amounts: list[list[int]] = [[] for _ in excess]
        """By directory: what its replicas come to, ascending."""
        self._positions: list[list[int]] = [[] for _ in excess]
        """The same replicas."""

    def add(self, directories: list[int], amounts: list[int], positions: list[int]) -> None:
        """Take replicas, by directory and within it by amount."""
        for directory, amount, position in zip(directories, amounts, positions, strict=True):
            self._amounts[directory].append(amount)
            self._positions[directory].append(position)

    def moves(self) -> Iterator[tuple[int, int]]:
        """Yield replicas that move, and the directory to which; each once at most."""
        giving = {number for number, amounts in enumerate(self._amounts) if amounts}
        while giving:
            source = max(giving, key=self._fullness)
            target = min(range(len(self._excess)), key=self._fullness)
            amounts = self._amounts[source]
            wanted = min(self._excess[source], -self._excess[target])
            place = max(0, bisect_right(amounts, wanted) - 1)
            if not amounts or not self._is_better(amounts[place], source, target):
                giving.discard(source)
                continue
            self._excess[source] -= amounts[place]
            self._excess[target] += amounts[place]
            del amounts[place]
            yield self._positions[source].pop(place), target

    def _fullness(self, directory: int) -> float:
        """Return how much a directory has beyond its share, for its size."""
        return self._excess[directory] / max(self._weights[directory], 1e-9)

    def _is_better(self, amount: int, source: int, target: int) -> bool:
        """Whether the source comes nearer to its share, and the target is less full than it was."""
        after = (self._excess[target] + amount) / max(self._weights[target], 1e-9)
        return amount < 2 * self._excess[source] and after < self._fullness(source)


def _candidates(situation: ClusterView, places: Ints, amounts: Ints, excess: Floats) -> Ints:
    """Return the replicas that may give way, as positions in the flat table.

    By directory and by amount; those that are alike in no order, so that topics stay spread.
    """
    giving = (places >= 0) & (excess > 0)[places]
    giving &= situation.movable[:, None] & (amounts > 0)[:, None]
    candidates = np.flatnonzero(giving.ravel())
    mixed = noise(situation.options.seed, candidates)
    of_each = amounts[candidates // places.shape[1]]
    order = np.lexsort((mixed, of_each, places.ravel()[candidates]))
    return candidates[order]


def known_log_dirs(columns: ClusterColumns) -> Shorts:
    """Return the directory of each replica among its broker's, -1 = not known."""
    if columns.log_dirs is None:
        return np.full(columns.replicas.shape, NOWHERE, np.int32)
    return columns.log_dirs


def changed_log_dirs(columns: ClusterColumns, log_dirs: Shorts | None) -> Bools:
    """Return which replicas go to another directory; none where none is named."""
    if log_dirs is None:
        return np.zeros(columns.replicas.shape, np.bool_)
    return np.asarray(log_dirs != known_log_dirs(columns))


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
    """Return each directory's share of its broker: by capacity, where the broker tells it."""
    shares: list[float] = []
    for paths, capacities in zip(brokers.log_dirs, brokers.log_dir_bytes, strict=True):
        sizes = capacities if any(capacities) else (1,) * len(paths)
        shares += [size / sum(sizes) for size in sizes]
    return np.array(shares, np.float64)


def _amounts(situation: ClusterView) -> Ints:
    amounts = situation.amounts
    return np.zeros(situation.columns.partitions, np.int64) if amounts is None else amounts
