"""An exact plan: origin and target of each partition, with a digest and an inverse.

Format ``ballast-plan/v1``: lines of compact JSON (`ballast.reassign.plan.lines`), topics and
partitions ascending. The digest is SHA-256 over these lines, each with its line feed. An approval
names that digest.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice

from ballast.model.ids import TopicPartition
from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan.lines import (
    MAX_PARTITIONS_PER_LINE,
    LineReader,
    LogDirMoves,
    PlanLine,
)

PLAN_FORMAT = "ballast-plan/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMove:
    """The move of one partition."""

    topic_partition: TopicPartition
    origin: tuple[int, ...]
    target: tuple[int, ...]
    log_dirs: LogDirMoves = ()
    """Replicas whose log directory is named, by broker."""

    @property
    def adding(self) -> tuple[int, ...]:
        """Brokers that get a new replica: only these cost bytes."""
        return tuple(r for r in self.target if r not in self.origin)

    @property
    def removing(self) -> tuple[int, ...]:
        """Brokers that lose their replica."""
        return tuple(r for r in self.origin if r not in self.target)

    @property
    def changes_leader(self) -> bool:
        """Whether the preferred leader changes."""
        return self.origin[:1] != self.target[:1]

    @property
    def wanted_log_dirs(self) -> dict[int, str]:
        """The target directories of replicas, by broker, where one is named."""
        return {
            move.broker_id: move.target
            for move in self.log_dirs
            if move.target is not None and move.broker_id in self.target
        }

    @property
    def moving_within(self) -> tuple[int, ...]:
        """Brokers that copy their replica between their own directories."""
        staying = frozenset(self.origin) & frozenset(self.target)
        return tuple(
            move.broker_id
            for move in self.log_dirs
            if move.broker_id in staying and move.target not in (None, move.source)
        )

    @property
    def brokers(self) -> frozenset[int]:
        """Brokers that the move occupies: they gain, lose or copy a replica."""
        return frozenset((*self.adding, *self.removing, *self.moving_within))

    def inverse(self) -> "PlannedMove":
        """Return the move from target to origin."""
        return PlannedMove(
            topic_partition=self.topic_partition,
            origin=self.target,
            target=self.origin,
            log_dirs=tuple(move.inverse() for move in self.log_dirs),
        )


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All moves, ordered by topic and partition; no partition twice.

    Without slots: digests are cached, since every reconciliation needs them.
    """

    moves: tuple[PlannedMove, ...]

    @classmethod
    def of(
        cls,
        targets: Mapping[TopicPartition, tuple[int, ...]],
        current: Mapping[TopicPartition, tuple[int, ...]],
        log_dirs: Mapping[TopicPartition, LogDirMoves] | None = None,
    ) -> "Plan":
        """Return the plan from ``current``, which must have all partitions, to ``targets``."""
        named_dirs = log_dirs or {}
        return cls(
            moves=tuple(
                PlannedMove(
                    topic_partition=tp,
                    origin=current[tp],
                    target=targets[tp],
                    log_dirs=named_dirs.get(tp, ()),
                )
                for tp in sorted(targets)
            )
        )

    @property
    def targets(self) -> dict[TopicPartition, tuple[int, ...]]:
        """The target of each partition."""
        return {move.topic_partition: move.target for move in self.moves}

    @property
    def log_dirs(self) -> dict[TopicPartition, dict[int, str]]:
        """The named directories by broker, of each partition that has any."""
        return {
            move.topic_partition: move.wanted_log_dirs
            for move in self.moves
            if move.log_dirs and move.wanted_log_dirs
        }

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics named, in order."""
        return tuple(dict.fromkeys(move.topic_partition.topic for move in self.moves))

    @property
    def replica_moves(self) -> int:
        """Number of replicas that must be copied."""
        return sum(len(move.adding) for move in self.moves)

    @property
    def log_dir_moves(self) -> int:
        """Number of replicas that are copied to another directory of their broker."""
        return sum(len(move.moving_within) for move in self.moves)

    @property
    def leader_changes(self) -> int:
        """Number of partitions whose preferred leader changes."""
        return sum(move.changes_leader for move in self.moves)

    @cached_property
    def digest(self) -> str:
        """``sha256:`` and 64 hexadecimal digits."""
        return _digest(self.moves)

    @cached_property
    def rollback_digest(self) -> str:
        """The digest of the plan that undoes this one."""
        return _digest(move.inverse() for move in self.moves)

    def inverse(self) -> "Plan":
        """Return the plan that undoes this one."""
        return Plan(moves=tuple(move.inverse() for move in self.moves))

    def lines(self) -> tuple[str, ...]:
        """Return the canonical lines, without line feeds."""
        return tuple(line.encode().decode() for line in lines_of(self.moves))

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> "Plan":
        """Return the plan that `lines` wrote.

        Raises `PlanRejected`, with the number of the line, for anything that is not exactly the
        canonical form.
        """
        return cls.of_lines(_read(lines))

    @classmethod
    def of_lines(cls, lines: Iterable[PlanLine]) -> "Plan":
        """Return the plan whose lines these are, in order and already checked.

        A million moves among a thousand brokers take 0.3 GB; work line by line to use less memory.
        """
        broker_ids: dict[int, int] = {}
        return cls(moves=tuple(move for line in lines for move in moves_of(line, broker_ids)))


def lines_of(moves: Iterable[PlannedMove]) -> Iterator[PlanLine]:
    """Yield the lines of ``moves``, which are ordered by topic and partition; holds one line."""
    for topic, of_topic in groupby(moves, key=lambda move: move.topic_partition.topic):
        while some := tuple(islice(of_topic, MAX_PARTITIONS_PER_LINE)):
            yield PlanLine(
                topic=topic,
                partitions=tuple(move.topic_partition.partition for move in some),
                origins=tuple(move.origin for move in some),
                targets=tuple(move.target for move in some),
                log_dirs=tuple(m.log_dirs for m in some) if any(m.log_dirs for m in some) else (),
            )


def moves_of(line: PlanLine, broker_ids: dict[int, int] | None = None) -> Iterator[PlannedMove]:
    """Yield the moves of ``line``, with one shared object for each broker id, to save memory."""
    one = ({} if broker_ids is None else broker_ids).setdefault
    columns = zip(line.partitions, line.origins, line.targets, strict=True)
    for number, (partition, origin, target) in enumerate(columns):
        yield PlannedMove(
            topic_partition=TopicPartition(line.topic, partition),
            origin=tuple(map(one, origin, origin)),
            target=tuple(map(one, target, target)),
            log_dirs=line.log_dirs_of(number),
        )


def _digest(moves: Iterable[PlannedMove]) -> str:
    digest = hashlib.sha256()
    for line in lines_of(moves):
        digest.update(line.encode())
        digest.update(b"\n")
    return f"sha256:{digest.hexdigest()}"


def _read(lines: Iterable[str]) -> Iterator[PlanLine]:
    reader = LineReader()
    for number, text in enumerate(lines, start=1):
        try:
            yield reader.read(text.encode())
        except PlanRejected as error:
            raise PlanRejected(f"line {number}: {error}") from error
