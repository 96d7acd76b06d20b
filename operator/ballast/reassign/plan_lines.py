"""One line of ``ballast-plan/v1``: up to 1000 partitions of one topic, as columns.

A line is compact JSON: ``{"topic":"t","partitions":[0,1],"from":[[1,2],[2,3]],"to":[[2,3],[3,1]]}``,
partitions ascending. A topic with more partitions in the plan takes several lines, each but its last
with exactly 1000: so one plan has one text, and no line is longer than a chunk may be.
"""

from collections.abc import Iterable
from typing import Annotated

import msgspec

from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.reassign.errors import PlanRejected

MAX_PARTITIONS_PER_LINE = 1000
MAX_REPLICAS_PER_PARTITION = 32
MAX_LINE_BYTES = 750_000
"""1000 partitions from 32 replicas to 32 others, every number of ten digits, still fit."""

_Id = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
_Replicas = Annotated[
    tuple[_Id, ...], msgspec.Meta(min_length=1, max_length=MAX_REPLICAS_PER_PARTITION)
]


class PlanLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Some partitions of one topic; the columns have one length."""

    topic: str
    partitions: Annotated[
        tuple[_Id, ...], msgspec.Meta(min_length=1, max_length=MAX_PARTITIONS_PER_LINE)
    ]
    origins: tuple[_Replicas, ...] = msgspec.field(name="from")
    targets: tuple[_Replicas, ...] = msgspec.field(name="to")

    def encode(self) -> bytes:
        """Return the canonical line, without a line feed."""
        return msgspec.json.encode(self)

    @classmethod
    def decode(cls, line: bytes) -> "PlanLine":
        """Return the line that `encode` wrote.

        Raises `PlanRejected` for anything that is not exactly the canonical form.
        """
        if len(line) > MAX_LINE_BYTES:
            raise PlanRejected(f"a line of the plan has more than {MAX_LINE_BYTES} bytes")
        try:
            read = _DECODER.decode(line)
        except msgspec.DecodeError as error:
            raise PlanRejected(f"not a line of a plan: {error}") from error
        read.check()
        if read.encode() != line:
            raise PlanRejected("a line of the plan is not in canonical form")
        return read

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

    def check_follows(self, before: "PlanLine") -> None:
        """Raise `PlanRejected` unless this line may stand right after ``before``."""
        if self.topic < before.topic:
            raise PlanRejected(f"topic {self.topic} of a plan stands after {before.topic}")
        if self.topic > before.topic:
            return
        if self.partitions[0] <= before.partitions[-1]:
            raise PlanRejected(
                f"partition {self.partitions[0]} of a plan stands after {before.partitions[-1]}"
            )
        if len(before.partitions) != MAX_PARTITIONS_PER_LINE:
            raise PlanRejected(f"topic {self.topic} of a plan is cut into too many lines")


_DECODER = msgspec.json.Decoder(PlanLine)


def check_order(lines: Iterable[PlanLine]) -> Iterable[PlanLine]:
    """Yield the lines; raise `PlanRejected`, with its number, at the first that is out of order."""
    before: PlanLine | None = None
    for number, line in enumerate(lines, start=1):
        if before is not None:
            try:
                line.check_follows(before)
            except PlanRejected as error:
                raise PlanRejected(f"line {number}: {error}") from error
        before = line
        yield line
