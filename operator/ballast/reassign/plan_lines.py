"""One line of ``ballast-plan/v1``: up to 1000 partitions of one topic, as columns.

``{"topic":"t","partitions":[0,1],"from":[[1,2],[2,3]],"to":[[2,3],[3,1]]}``: compact JSON,
partitions ascending. A topic with more partitions in the plan takes several lines, each but its
last with exactly 1000: so one plan has one text, and no line is longer than a chunk may be.
"""

from typing import Annotated

import msgspec

from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.reassign.errors import PlanRejected

MAX_PARTITIONS_PER_LINE = 1000
MAX_REPLICAS_PER_PARTITION = 32
MAX_LINE_BYTES = 750_000
"""1000 partitions from 32 replicas to 32 others, every number of ten digits, still fit."""

_MAX_REASON = 200

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
            raise PlanRejected(f"not a line of a plan: {str(error)[:_MAX_REASON]}") from error
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
        """Raise `PlanRejected` unless ``line`` may stand after those before it."""
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
