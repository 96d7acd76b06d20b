"""/admin/preferred_replica_election, persistent: the legacy trigger of preferred elections.

``{"version":1,"partitions":[{"topic":"t","partition":0}]}``; the controller deletes it when done.
"""

from collections.abc import Collection

import msgspec

from ballast.model.ids import TopicPartition
from ballast.znodes import documents

PATH = "/admin/preferred_replica_election"


class PartitionEntry(msgspec.Struct):
    """A partition named in a document."""

    topic: str
    partition: documents.PartitionNumber


class PartitionList(msgspec.Struct):
    """A document that names partitions."""

    partitions: list[PartitionEntry]


def encode(partitions: Collection[TopicPartition]) -> bytes:
    """Return a document that names the partitions, sorted."""
    return documents.write(
        {
            "version": 1,
            "partitions": [
                {"topic": p.topic, "partition": p.partition} for p in sorted(partitions)
            ],
        }
    )


def decode(data: bytes, path: str = PATH) -> frozenset[TopicPartition]:
    """Return the partitions named; raises `ZnodeError`."""
    document = documents.read(path, data, PartitionList)
    return frozenset(
        documents.topic_partition(path, "partitions.topic", p.topic, p.partition)
        for p in document.partitions
    )
