"""The progress of a reassignment: partitions, bytes, rate, remaining time.

Bytes are those of the replicas to be created: each counts up to the size of its leader's log. Sizes
are estimates (a leader grows while it is copied), so no decision to finish depends on them.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from ballast.model.ids import TopicPartition
from ballast.reassign.plan.plan import PlannedMove

_HALF_LIFE_S = 5.0
_MIN_INTERVAL_S = 0.5


class MoveState(Enum):
    """The state of one planned move in the cluster."""

    PENDING = auto()
    BLOCKED = auto()
    """Pending, but cannot be submitted: a broker that would gain a replica is down."""
    FOREIGN = auto()
    """Another reassignment moves the partition, or partitions of its topic or brokers: the move
    waits until that ends."""
    IN_PROGRESS = auto()
    COMPLETED = auto()
    SKIPPED = auto()
    """The partition was deleted, or was moved by others after all moves were over."""
    FAILED = auto()
    """The cluster refused it too often."""


UNFINISHED = frozenset(
    {MoveState.PENDING, MoveState.BLOCKED, MoveState.FOREIGN, MoveState.IN_PROGRESS}
)

Sizes = Mapping[tuple[TopicPartition, int], int]
"""Bytes of one partition's log on one broker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Counts at one moment."""

    pending: int
    in_progress: int
    completed: int
    failed: int
    skipped: int
    bytes_moved: int
    bytes_remaining: int

    @property
    def total(self) -> int:
        """Partitions in the plan."""
        return self.pending + self.in_progress + self.completed + self.failed + self.skipped

    @property
    def summary(self) -> str:
        """``1200/48210 (2%)``, never 100% before the end."""
        percent = 100 if not self.total else self.completed * 100 // self.total
        return f"{self.completed}/{self.total} ({percent}%)"


def measure(
    moves: Iterable[PlannedMove],
    states: Mapping[TopicPartition, MoveState],
    sizes: Sizes,
    leaders: Mapping[TopicPartition, int],
    copied_within: Sizes | None = None,
) -> Progress:
    """Return the progress of moves whose states, sizes and leaders are known.

    ``copied_within``: bytes already copied between directories of one broker.
    """
    counts = dict.fromkeys(MoveState, 0)
    bytes_moved = bytes_remaining = 0
    for move in moves:
        tp = move.topic_partition
        state = states[tp]
        counts[state] += 1
        if state not in UNFINISHED and state is not MoveState.COMPLETED:
            continue
        for whole, done in _copies(move, sizes, leaders.get(tp, -1), copied_within or {}):
            copied = whole if state is MoveState.COMPLETED else min(done, whole)
            bytes_moved += copied
            bytes_remaining += whole - copied
    waiting = counts[MoveState.PENDING] + counts[MoveState.BLOCKED] + counts[MoveState.FOREIGN]
    return Progress(
        pending=waiting,
        in_progress=counts[MoveState.IN_PROGRESS],
        completed=counts[MoveState.COMPLETED],
        failed=counts[MoveState.FAILED],
        skipped=counts[MoveState.SKIPPED],
        bytes_moved=bytes_moved,
        bytes_remaining=bytes_remaining,
    )


def leader_size(move: PlannedMove, sizes: Sizes, leader: int) -> int:
    """Return the size of the leader's log, or of the largest replica while there is no leader."""
    size = sizes.get((move.topic_partition, leader))
    if size is not None:
        return size
    brokers = (*move.origin, *move.target)
    return max((sizes.get((move.topic_partition, b), 0) for b in brokers), default=0)


def copied_bytes(move: PlannedMove, sizes: Sizes, leader: int) -> int:
    """Return the bytes that one move copies, as far as sizes are known."""
    return sum(whole for whole, _ in _copies(move, sizes, leader, {}))


def bytes_to_move(
    moves: Iterable[PlannedMove], sizes: Sizes, leaders: Mapping[TopicPartition, int]
) -> int:
    """Return the bytes that a plan copies, as far as sizes are known."""
    return sum(copied_bytes(move, sizes, leaders.get(move.topic_partition, -1)) for move in moves)


def _copies(
    move: PlannedMove, sizes: Sizes, leader: int, copied_within: Sizes
) -> Iterator[tuple[int, int]]:
    """Yield the size of each copy, and the bytes that exist already."""
    tp = move.topic_partition
    if move.adding:
        whole = leader_size(move, sizes, leader)
        for broker in move.adding:
            yield whole, sizes.get((tp, broker), 0)
    for broker in move.moving_within:
        yield sizes.get((tp, broker), 0), copied_within.get((tp, broker), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A smoothed rate: an exponentially weighted moving average with a half-life of 5 s."""

    per_second: float = 0.0
    count: int | None = None
    """The counter at the last sample; None = no sample yet."""
    at: float = 0.0

    def sampled(self, count: int, now: float) -> "Rate":
        """Return the rate after seeing the counter at ``now`` (seconds)."""
        if self.count is None:
            return replace(self, count=count, at=now)
        elapsed = now - self.at
        if elapsed < _MIN_INTERVAL_S:
            return self
        latest = max(0, count - self.count) / elapsed
        weight = 1.0 if self.per_second == 0.0 else 1.0 - 0.5 ** (elapsed / _HALF_LIFE_S)
        smoothed = self.per_second + weight * (latest - self.per_second)
        return Rate(per_second=smoothed, count=count, at=now)


def eta(bytes_remaining: int, bytes_per_second: float) -> str:
    """Return the remaining time as ``6h49m``, ``3m10s``, ``8s``; ``unknown`` if nothing moves."""
    if bytes_remaining <= 0:
        return "0s"
    if bytes_per_second < 1.0:
        return "unknown"
    seconds = math.ceil(bytes_remaining / bytes_per_second)
    days, hours, minutes = seconds // 86400, seconds // 3600 % 24, seconds // 60 % 60
    if days:
        return f"{days}d{hours}h"
    if hours:
        return f"{hours}h{minutes}m"
    return f"{minutes}m{seconds % 60}s" if minutes else f"{seconds}s"
