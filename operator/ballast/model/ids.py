"""Identifiers and the sentinels that Kafka gives them."""

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
