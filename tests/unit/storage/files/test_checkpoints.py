"""Exact bytes of Kafka's small text files."""

from uuid import UUID

import pytest

from ballast.model.ids import TopicPartition
from ballast.replication.leader_epochs import EpochEntry
from ballast.storage.errors import CorruptCheckpoint
from ballast.storage.files.checkpoints import (
    MetaProperties,
    decode_epochs,
    decode_meta_properties,
    decode_offsets,
    decode_partition_metadata,
    decode_partitions,
    encode_epochs,
    encode_meta_properties,
    encode_offsets,
    encode_partition_metadata,
    encode_partitions,
)


def test_offsets() -> None:
    offsets = {TopicPartition("b", 10): 7, TopicPartition("b", 2): 0, TopicPartition("a-x", 0): 9}
    data = encode_offsets(offsets)
    assert data == b"0\n3\na-x 0 9\nb 2 0\nb 10 7\n"
    assert decode_offsets(data) == offsets
    assert encode_offsets({}) == b"0\n0\n"


def test_epochs() -> None:
    entries = [EpochEntry(0, 0), EpochEntry(5, 120)]
    assert encode_epochs(entries) == b"0\n2\n0 0\n5 120\n"
    assert decode_epochs(b"0\n2\n0 0\n5 120\n") == entries


def test_partitions() -> None:
    named = {TopicPartition("b", 0), TopicPartition("a", 10), TopicPartition("a", 9)}
    assert encode_partitions(named) == b"0\n3\na 9\na 10\nb 0\n"
    assert decode_partitions(encode_partitions(named)) == named
    assert decode_partitions(encode_partitions([])) == frozenset()
    for damaged in (b"", b"0\n2\na 9\n", b"0\n1\na\n", b"0\n1\na x\n", b"0\n1\na 1 2\n"):
        with pytest.raises(CorruptCheckpoint):
            decode_partitions(damaged)


def test_meta_properties() -> None:
    meta = MetaProperties(cluster_id="iXCWpbrLTBmy0-YITZuTHg", broker_id=3)
    data = encode_meta_properties(meta)
    assert data == b"cluster.id=iXCWpbrLTBmy0-YITZuTHg\nversion=0\nbroker.id=3\n"
    assert decode_meta_properties(b"#\n#Sat Nov 21 2026\n" + data) == meta


def test_partition_metadata() -> None:
    topic_id = UUID("f0e1d2c3-b4a5-9687-7869-5a4b3c2dffbe")
    data = encode_partition_metadata(topic_id)
    assert data == b"version: 0\ntopic_id: 8OHSw7Sllod4aVpLPC3_vg"
    assert decode_partition_metadata(data) == topic_id
    assert decode_partition_metadata(data + b"\n") == topic_id


@pytest.mark.parametrize(
    "data",
    [b"", b"0", b"0\n", b"1\n0\n", b"0\n1\n", b"0\n0\na 0 0\n", b"0\n1\na 0\n", b"0\n1\na 0 -1\n",
     b"0\n1\na x 1\n", b"0\nx\n", b"\xff\n0\n", b"0\n1\na 0 1 1\n", "0\n1\na 0 ²\n".encode()],
)  # fmt: skip
def test_damaged_offsets(data: bytes) -> None:
    with pytest.raises(CorruptCheckpoint):
        decode_offsets(data)


@pytest.mark.parametrize(
    "data", [b"", b"version=1\ncluster.id=a\nbroker.id=1\n", b"version=0\nbroker.id=1\n",
             b"version=0\ncluster.id=a\nbroker.id=-1\n"]
)  # fmt: skip
def test_damaged_meta_properties(data: bytes) -> None:
    with pytest.raises(CorruptCheckpoint):
        decode_meta_properties(data)


@pytest.mark.parametrize(
    "data", [b"", b"version: 1\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", b"version: 0\n",
             b"version: 0\ntopic_id: AAAA", b"version: 0\ntopic_id: !!!!!!!!!!!!!!!!!!!!!!"]
)  # fmt: skip
def test_damaged_partition_metadata(data: bytes) -> None:
    with pytest.raises(CorruptCheckpoint):
        decode_partition_metadata(data)
