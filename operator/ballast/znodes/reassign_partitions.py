"""/admin/reassign_partitions, persistent: the legacy trigger of reassignments.

``{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2]}]}``. Made by a tool; the
controller rewrites it as moves end, and deletes it after the last.
"""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from ballast.model.ids import TopicPartition
from ballast.znodes import documents

PATH = "/admin/reassign_partitions"


class _Partition(msgspec.Struct):
    topic: str
    partition: documents.PartitionNumber
    replicas: Annotated[tuple[documents.BrokerId, ...], msgspec.Meta(max_length=10_000)]


class _Document(msgspec.Struct):
    partitions: list[_Partition]


def encode(reassignments: Mapping[TopicPartition, tuple[int, ...]]) -> bytes:
    """Return the data of /admin/reassign_partitions, sorted by partition."""
    return documents.write(
        {
            "version": 1,
            "partitions": [
                {"topic": p.topic, "partition": p.partition, "replicas": replicas}
                for p, replicas in sorted(reassignments.items())
            ],
        }
    )


def decode(data: bytes) -> dict[TopicPartition, tuple[int, ...]]:
    """Return the replicas asked for; raises `ZnodeError`.

    Whether the partitions and brokers exist is the controller's to judge. Of a partition that is
    named twice the last entry counts, as in Kafka.
    """
    document = documents.read(PATH, data, _Document)
    return {
        documents.topic_partition(PATH, "partitions.topic", p.topic, p.partition): p.replicas
        for p in document.partitions
    }
