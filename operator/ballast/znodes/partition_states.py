"""/brokers/topics/T/partitions/P/state, persistent: who leads a partition and who is in sync.

``{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1,2]}``; every write is on
condition of the znode's version.
"""

from collections.abc import Callable, Iterable
from typing import Annotated

import msgspec

from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.znodes import documents, topics
from ballast.znodes.errors import ZnodeError

_Isr = Annotated[tuple[documents.BrokerId, ...], msgspec.Meta(max_length=10_000)]


class _Document(msgspec.Struct, gc=False):
    controller_epoch: documents.Epoch
    leader: documents.BrokerIdOrNone
    leader_epoch: documents.Epoch
    isr: _Isr


def partition_path(partition: TopicPartition) -> str:
    """Return the path of a partition, the parent of its state."""
    return f"{topics.partitions_path(partition.topic)}/{partition.partition:d}"


def path(partition: TopicPartition) -> str:
    """Return the path of a partition's state."""
    return f"{topics.partitions_path(partition.topic)}/{partition.partition:d}/state"


def paths(partitions: Iterable[TopicPartition]) -> list[str]:
    """Return the paths of the states of many partitions, in their order."""
    parent = topics.partitions_path
    return [f"{parent(topic)}/{number}/state" for topic, number in partitions]


_documents = documents.Reader(_Document, path)


def encode(leadership: LeaderAndIsr) -> bytes:
    """Return the data of a state znode."""
    return documents.write(
        {
            "controller_epoch": leadership.controller_epoch,
            "leader": leadership.leader,
            "version": 1,
            "leader_epoch": leadership.leader_epoch,
            "isr": leadership.isr,
        }
    )


def decode(partition: TopicPartition, data: bytes, zk_version: int) -> LeaderAndIsr:
    """Return a state read at ``zk_version``; raises `ZnodeError`."""
    return _state(_documents.read(partition, data), zk_version)


def decode_all(
    znodes: Iterable[tuple[TopicPartition, bytes, int]],
    on_unreadable: Callable[[ZnodeError], None],
) -> dict[TopicPartition, LeaderAndIsr]:
    """Return the states that can be read; each znode with the version that it was read at.

    A controller that takes over reads the states of all partitions.
    """
    return {
        partition: _state(document, zk_version)
        for partition, document, zk_version in _documents.read_all(znodes, on_unreadable)
    }


def _state(document: _Document, zk_version: int) -> LeaderAndIsr:
    return LeaderAndIsr(
        leader=document.leader,
        leader_epoch=document.leader_epoch,
        isr=document.isr,
        controller_epoch=document.controller_epoch,
        zk_version=zk_version,
    )
