"""An exact plan: for each partition where it was and where it goes, with a digest and an inverse.

Format ``ballast-plan/v1``: lines of compact JSON as `ballast.reassign.plan_lines` has them, topics
in order, partitions ascending. The digest is SHA-256 over these lines, each ended by a line feed.
What was approved is that digest.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice

from ballast.model.ids import TopicPartition
from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan_lines import MAX_PARTITIONS_PER_LINE, LineReader, PlanLine

PLAN_FORMAT = "ballast-plan/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMove:
    """One partition's way."""

    topic_partition: TopicPartition
    origin: tuple[int, ...]
    target: tuple[int, ...]

    @property
    def adding(self) -> tuple[int, ...]:
        """Brokers that get a new replica: what costs bytes."""
        return tuple(r for r in self.target if r not in self.origin)

    @property
    def removing(self) -> tuple[int, ...]:
        """Brokers that lose their replica."""
        return tuple(r for r in self.origin if r not in self.target)

    @property
    def changes_leader(self) -> bool:
        """Whether the preferred leader becomes another."""
        return self.origin[:1] != self.target[:1]

    def inverse(self) -> "PlannedMove":
        """Return the way back."""
        return PlannedMove(
            topic_partition=self.topic_partition, origin=self.target, target=self.origin
        )


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All moves, ordered by topic and partition; no partition twice.

    Without slots: the digests are computed once, as every visit asks for them.
    """

    moves: tuple[PlannedMove, ...]

    @classmethod
    def of(
        cls,
        targets: Mapping[TopicPartition, tuple[int, ...]],
        current: Mapping[TopicPartition, tuple[int, ...]],
    ) -> "Plan":
        """Return the plan from ``current`` to ``targets``; ``current`` must know each."""
        return cls(
            moves=tuple(
                PlannedMove(topic_partition=tp, origin=current[tp], target=targets[tp])
                for tp in sorted(targets)
            )
        )

    @property
    def targets(self) -> dict[TopicPartition, tuple[int, ...]]:
        """Where each partition goes."""
        return {move.topic_partition: move.target for move in self.moves}

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics named, in order."""
        return tuple(dict.fromkeys(move.topic_partition.topic for move in self.moves))

    @property
    def replica_moves(self) -> int:
        """Number of replicas that must be copied."""
        return sum(len(move.adding) for move in self.moves)

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

        A million moves among a thousand brokers take 0.3 GB: whoever needs less works by line.
        """
        known: dict[int, int] = {}
        return cls(moves=tuple(move for line in lines for move in _moves(line, known)))


def lines_of(moves: Iterable[PlannedMove]) -> Iterator[PlanLine]:
    """Yield the lines of ``moves``, which are ordered by topic and partition; holds one line."""
    for topic, of_topic in groupby(moves, key=lambda move: move.topic_partition.topic):
        while some := tuple(islice(of_topic, MAX_PARTITIONS_PER_LINE)):
            yield PlanLine(
                topic=topic,
                partitions=tuple(move.topic_partition.partition for move in some),
                origins=tuple(move.origin for move in some),
                targets=tuple(move.target for move in some),
            )


def _moves(line: PlanLine, known: dict[int, int]) -> Iterator[PlannedMove]:
    """Yield the moves of ``line``, with one object for each broker id: decoding makes many."""
    one = known.setdefault
    for partition, origin, target in zip(line.partitions, line.origins, line.targets, strict=True):
        yield PlannedMove(
            topic_partition=TopicPartition(line.topic, partition),
            origin=tuple(map(one, origin, origin)),
            target=tuple(map(one, target, target)),
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
