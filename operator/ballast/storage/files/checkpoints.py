"""Kafka's small text files: offset checkpoints, leader epochs, meta.properties, partition.metadata.

Encoders and decoders only; decoders raise `CorruptCheckpoint`.

    offsets (four files)         leader-epoch-checkpoint      missing-replicas
    0                            0                            0
    <count>                      <count>                      <count>
    <topic> <partition> <offset> <epoch> <start offset>       <topic> <partition>

The last is not Kafka's.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from ballast.model.ids import TopicPartition
from ballast.replication.leader_epochs import EpochEntry
from ballast.storage.errors import CorruptCheckpoint

_VERSION = "0"


def encode_offsets(offsets: Mapping[TopicPartition, int]) -> bytes:
    """Return an offset checkpoint, partitions in order."""
    return _encode_rows(
        [
            f"{partition.topic} {partition.partition} {offset}"
            for partition, offset in sorted(offsets.items())
        ]
    )


def decode_offsets(data: bytes) -> dict[TopicPartition, int]:
    """Return the offsets of a checkpoint (OffsetCheckpointFile)."""
    offsets = {}
    for row in _decode_rows(data, 3):
        offsets[TopicPartition(row[0], _natural(row[1]))] = _natural(row[2])
    return offsets


def encode_epochs(entries: Sequence[EpochEntry]) -> bytes:
    """Return a ``leader-epoch-checkpoint``."""
    return _encode_rows([f"{entry.epoch} {entry.start_offset}" for entry in entries])


def decode_epochs(data: bytes) -> list[EpochEntry]:
    """Return the entries of a ``leader-epoch-checkpoint`` (LeaderEpochCheckpointFile)."""
    return [EpochEntry(_natural(row[0]), _natural(row[1])) for row in _decode_rows(data, 2)]


def encode_partitions(partitions: Iterable[TopicPartition]) -> bytes:
    """Return a list of partitions, in order."""
    return _encode_rows([f"{name.topic} {name.partition}" for name in sorted(partitions)])


def decode_partitions(data: bytes) -> frozenset[TopicPartition]:
    """Return the partitions of a list."""
    rows = _decode_rows(data, 2)
    return frozenset(TopicPartition(topic, _natural(number)) for topic, number in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaProperties:
    """The owner of a log directory: ``meta.properties``, version 0."""

    cluster_id: str
    broker_id: int


def encode_meta_properties(meta: MetaProperties) -> bytes:
    """Return a ``meta.properties`` (BrokerMetadataCheckpoint, without the date comment)."""
    return f"cluster.id={meta.cluster_id}\nversion=0\nbroker.id={meta.broker_id}\n".encode()


def decode_meta_properties(data: bytes) -> MetaProperties:
    """Return the content of a ``meta.properties``."""
    properties = {}
    for line in _text(data).splitlines():
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            properties[key.strip()] = value.strip()
    if properties.get("version") != _VERSION:
        raise CorruptCheckpoint("meta.properties: version is not 0")
    try:
        return MetaProperties(
            cluster_id=properties["cluster.id"], broker_id=_natural(properties["broker.id"])
        )
    except KeyError as error:
        raise CorruptCheckpoint(f"meta.properties: {error} is missing") from None


def encode_partition_metadata(topic_id: UUID) -> bytes:
    """Return a ``partition.metadata`` (PartitionMetadataFile)."""
    text = base64.urlsafe_b64encode(topic_id.bytes).rstrip(b"=").decode()
    return f"version: 0\ntopic_id: {text}".encode()


def decode_partition_metadata(data: bytes) -> UUID:
    """Return the topic id in a ``partition.metadata``."""
    lines = [line.partition(": ") for line in _text(data).splitlines()]
    fields = {name: value for name, _, value in lines}
    if fields.get("version") != _VERSION:
        raise CorruptCheckpoint("partition.metadata: version is not 0")
    try:
        return UUID(bytes=base64.b64decode(fields.get("topic_id", "") + "==", b"-_", validate=True))
    except (ValueError, binascii.Error):
        raise CorruptCheckpoint("partition.metadata: no topic id") from None


def _encode_rows(rows: Sequence[str]) -> bytes:
    return "".join(f"{row}\n" for row in [_VERSION, str(len(rows)), *rows]).encode()


def _decode_rows(data: bytes, columns: int) -> list[list[str]]:
    lines = _text(data).splitlines()
    if len(lines) < 2 or lines[0] != _VERSION:
        raise CorruptCheckpoint("checkpoint: version is not 0")
    rows = [line.split() for line in lines[2:]]
    if len(rows) != _natural(lines[1]) or any(len(row) != columns for row in rows):
        raise CorruptCheckpoint("checkpoint: the rows are not what the count says")
    return rows


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise CorruptCheckpoint(f"checkpoint: {text!r} is no number")
    return int(text)


def _text(data: bytes) -> str:
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise CorruptCheckpoint("checkpoint: not text") from None
