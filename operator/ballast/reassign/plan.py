"""An exact plan: for each partition where it was and where it goes, with a digest and an inverse.

Format ``ballast-plan/v1``: one line of compact JSON per topic, topics in order, partitions
ascending: ``{"topic":"t","partitions":[0,1],"from":[[1,2],[2,3]],"to":[[2,3],[3,1]]}``. The digest
is SHA-256 over these lines, each ended by a line feed. What was approved is that digest.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ballast.model.ids import TopicPartition
from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.reassign.errors import PlanRejected

PLAN_FORMAT = "ballast-plan/v1"
_FIELDS = {"topic", "partitions", "from", "to"}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All moves, ordered by topic and partition; no partition twice."""

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

    @property
    def digest(self) -> str:
        """``sha256:`` and 64 hexadecimal digits."""
        stream = "".join(f"{line}\n" for line in self.lines())
        return f"sha256:{hashlib.sha256(stream.encode()).hexdigest()}"

    def inverse(self) -> "Plan":
        """Return the plan that undoes this one."""
        return Plan(moves=tuple(move.inverse() for move in self.moves))

    def lines(self) -> tuple[str, ...]:
        """Return the canonical lines, without line feeds."""
        return tuple(
            _line(topic, list(moves))
            for topic, moves in groupby(self.moves, key=lambda move: move.topic_partition.topic)
        )

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> "Plan":
        """Return the plan that `lines` wrote.

        Raises `PlanRejected` for anything that is not exactly the canonical form.
        """
        texts = tuple(lines)
        moves: list[PlannedMove] = []
        for text in texts:
            moves.extend(_read_line(text))
        plan = cls(moves=tuple(moves))
        if (
            plan.lines() != texts
            or len(plan.targets) != len(moves)
            or list(plan.moves) != sorted(moves, key=lambda move: move.topic_partition)
        ):
            raise PlanRejected("the plan is not in canonical form")
        return plan


def _line(topic: str, moves: Sequence[PlannedMove]) -> str:
    return json.dumps(
        {
            "topic": topic,
            "partitions": [move.topic_partition.partition for move in moves],
            "from": [move.origin for move in moves],
            "to": [move.target for move in moves],
        },
        separators=(",", ":"),
    )


def _read_line(text: str) -> list[PlannedMove]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanRejected("a line of the plan is not JSON") from error
    if not isinstance(document, dict) or set(document) != _FIELDS:
        raise PlanRejected("a line of the plan has other fields than topic, partitions, from, to")
    topic, partitions = document["topic"], document["partitions"]
    _check_topic(topic)
    columns = (partitions, document["from"], document["to"])
    if not all(isinstance(column, list) for column in columns):
        raise PlanRejected("partitions, from and to of a plan must be lists")
    if len({len(column) for column in columns}) != 1 or not all(map(_is_id, partitions)):
        raise PlanRejected("partitions, from and to of a plan must be lists of one length")
    return [
        PlannedMove(
            topic_partition=TopicPartition(topic, partition),
            origin=_replicas(origin),
            target=_replicas(target),
        )
        for partition, origin, target in zip(*columns, strict=True)
    ]


def _check_topic(topic: object) -> None:
    if not isinstance(topic, str):
        raise PlanRejected("the topic of a plan must be a string")
    try:
        check_topic_name(topic)
    except InvalidTopicName as error:
        raise PlanRejected(str(error)) from error


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _replicas(value: object) -> tuple[int, ...]:
    if (
        not isinstance(value, list)
        or not value
        or not all(map(_is_id, value))
        or len(set(value)) != len(value)
    ):
        raise PlanRejected("replicas of a plan must be a list of different broker ids")
    return tuple(value)
