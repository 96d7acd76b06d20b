"""One line of ``ballast-plan/v1``: up to 1000 partitions of one topic, as columns.

``{"topic":"t","partitions":[0,1],"from":[[1,2],[2,3]],"to":[[2,3],[3,1]]}``: compact JSON,
partitions ascending. A topic with more partitions has several lines, each but the last with exactly
1000. So one plan has exactly one text, and no line exceeds the size of a chunk.

If replicas change their log directory, a further column has, for each partition, the broker and its
directories before and after: ``"logDirs":[[],[[2,"/data-1","/data-2"]]]``.
"""

from typing import Annotated

import msgspec

from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.reassign.errors import PlanRejected

MAX_PARTITIONS_PER_LINE = 1000
MAX_REPLICAS_PER_PARTITION = 32
MAX_LOG_DIR = 255
"""Characters of a directory's path."""
MAX_LINE_BYTES = 750_000
"""1000 partitions from 32 replicas to 32 others, every number of ten digits, still fit."""
MAX_NAMING_LINE_BYTES = 700_000
"""Limit of a line that names log directories: paths may be incompressible."""

_MAX_REASON = 200

_Id = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
_Replicas = Annotated[
    tuple[_Id, ...], msgspec.Meta(min_length=1, max_length=MAX_REPLICAS_PER_PARTITION)
]


_LogDir = Annotated[str, msgspec.Meta(max_length=MAX_LOG_DIR, pattern="^/")]


class LogDirMove(
    msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False
):
    """The move of one replica between log directories of its broker."""

    broker_id: _Id
    source: _LogDir | None
    """None = unknown, or the replica does not exist yet."""
    target: _LogDir | None
    """None = any: the inverse of the move of a replica that did not exist before."""

    def inverse(self) -> "LogDirMove":
        """Return the move in the other direction."""
        return LogDirMove(self.broker_id, self.target, self.source)


LogDirMoves = tuple[LogDirMove, ...]
"""Of one partition, by broker."""


class PlanLine(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Some partitions of one topic; all columns have the same length."""

    topic: str
    partitions: Annotated[
        tuple[_Id, ...], msgspec.Meta(min_length=1, max_length=MAX_PARTITIONS_PER_LINE)
    ]
    origins: tuple[_Replicas, ...] = msgspec.field(name="from")
    targets: tuple[_Replicas, ...] = msgspec.field(name="to")
    log_dirs: tuple[LogDirMoves, ...] = msgspec.field(name="logDirs", default=())
    """() = no partition of the line names a directory."""

    def encode(self) -> bytes:
        """Return the canonical line, without a line feed."""
        return msgspec.json.encode(self)

    def log_dirs_of(self, number: int) -> LogDirMoves:
        """Return the log directory moves of the partition at an index of the line."""
        return self.log_dirs[number] if self.log_dirs else ()

    @classmethod
    def decode(cls, line: bytes) -> "PlanLine":
        """Return the line that `encode` wrote.

        Raises `PlanRejected` for anything that is not exactly the canonical form.
        """
        if len(line) > MAX_LINE_BYTES:
            raise PlanRejected(f"a line of the plan has more than {MAX_LINE_BYTES} bytes")
        try:
            plan_line = _DECODER.decode(line)
        except msgspec.DecodeError as error:
            raise PlanRejected(f"not a line of a plan: {str(error)[:_MAX_REASON]}") from error
        plan_line.check()
        if plan_line.encode() != line:
            raise PlanRejected("a line of the plan is not in canonical form")
        return plan_line

    def check(self) -> None:
        """Raise `PlanRejected` unless the columns agree with one another and with Kafka's rules."""
        try:
            check_topic_name(self.topic)
        except InvalidTopicName as error:
            raise PlanRejected(str(error)) from error
        if not len(self.partitions) == len(self.origins) == len(self.targets):
            raise PlanRejected("partitions, from and to of a plan must be lists of one length")
        before = -1
        for partition in self.partitions:
            if partition <= before:
                raise PlanRejected(f"partition {partition} of a plan stands after {before}")
            before = partition
        for column in (self.origins, self.targets):
            for replicas in column:
                if len(set(replicas)) != len(replicas):
                    raise PlanRejected(f"replicas of a plan are not different: {list(replicas)}")
        if self.log_dirs:
            self._check_log_dirs()

    def _check_log_dirs(self) -> None:
        if len(self.log_dirs) != len(self.partitions) or not any(self.log_dirs):
            raise PlanRejected("logDirs of a plan must have one list for each partition")
        for origin, target, moves in zip(self.origins, self.targets, self.log_dirs, strict=True):
            brokers = [move.broker_id for move in moves]
            if len(brokers) > MAX_REPLICAS_PER_PARTITION or brokers != sorted({*brokers}):
                raise PlanRejected(f"logDirs of a plan are not in order: brokers {brokers}")
            for move in moves:
                if move.broker_id not in (*origin, *target):
                    raise PlanRejected(f"logDirs of a plan name broker {move.broker_id} for others")
                if move.source is None and move.target is None:
                    raise PlanRejected(f"logDirs of a plan say nothing of broker {move.broker_id}")


_DECODER = msgspec.json.Decoder(PlanLine)


class LineReader:
    """Decodes the lines of one plan, one after the other, and checks that they are in order."""

    def __init__(self) -> None:
        self._topic = ""
        self._partition = -1
        self._is_full = True

    def read(self, text: bytes) -> PlanLine:
        """Return the next line. Raises `PlanRejected`."""
        line = PlanLine.decode(text)
        self.follow(line)
        return line

    def follow(self, line: PlanLine) -> None:
        """Raise `PlanRejected` unless ``line`` may follow the lines before it."""
        if line.topic < self._topic:
            raise PlanRejected(f"topic {line.topic} of a plan stands after {self._topic}")
        if line.topic == self._topic:
            if line.partitions[0] <= self._partition:
                raise PlanRejected(
                    f"partition {line.partitions[0]} of a plan stands after {self._partition}"
                )
            if not self._is_full:
                raise PlanRejected(f"topic {line.topic} of a plan is cut into too many lines")
        self._topic = line.topic
        self._partition = line.partitions[-1]
        self._is_full = len(line.partitions) == MAX_PARTITIONS_PER_LINE
