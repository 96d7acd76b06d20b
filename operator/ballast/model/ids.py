"""Identifiers and the sentinels that Kafka gives them."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat
from typing import NamedTuple

NO_LEADER = -1
"""A partition without a leader, in znodes and on the wire."""

LEADER_DURING_DELETE = -2
"""UpdateMetadata's leader for a partition whose topic is being deleted."""

NO_EPOCH = -1
"""An epoch that the sender does not know or does not state."""

EPOCH_DURING_DELETE = -2
"""StopReplica's leader epoch for a topic being deleted: it outranks every epoch."""


class TopicPartition(NamedTuple):
    """One partition of one topic; ordered by topic, then number."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


# What the class calls, without the Python in between.
_partition: Callable[[tuple[str, int]], TopicPartition] = partial(tuple.__new__, TopicPartition)


def partitions_of(topic: str, numbers: Iterable[int]) -> list[TopicPartition]:
    """Return the partitions of one topic with those numbers, in their order.

    A controller that takes over makes tens of thousands: one by one they take twice as long.
    """
    return list(map(_partition, zip(repeat(topic), numbers, strict=False)))
