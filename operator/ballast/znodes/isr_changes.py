"""/isr_change_notification/isr_change_N, persistent and sequential: leaders changed ISRs.

The same document as a preferred election's. The controller reads the states named and deletes the
notification.
"""

from collections.abc import Collection

from ballast.model.ids import TopicPartition
from ballast.znodes import preferred_replica_election

PATH = "/isr_change_notification"
PREFIX = f"{PATH}/isr_change_"


def path(name: str) -> str:
    """Return the path of one notification."""
    return f"{PATH}/{name}"


def encode(partitions: Collection[TopicPartition]) -> bytes:
    """Return the data of one notification."""
    return preferred_replica_election.encode(partitions)


def decode(name: str, data: bytes) -> frozenset[TopicPartition]:
    """Return the partitions whose ISR changed; raises `ZnodeError`."""
    return preferred_replica_election.decode(data, path(name))
