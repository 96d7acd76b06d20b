"""Names in a log directory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.model.ids import TopicPartition
from ballast.storage.errors import UnsafePath
from ballast.storage.files.layout import (
    deleted_directory,
    future_directory,
    parse_future_directory,
    parse_partition_directory,
    parse_segment_file,
    partition_directory,
    segment_file,
)


@pytest.mark.parametrize(
    ("topic", "partition", "name"),
    [("a", 0, "a-0"), ("a-1", 12, "a-1-12"), ("__consumer_offsets", 49, "__consumer_offsets-49")],
)
def test_partition_directories(topic: str, partition: int, name: str) -> None:
    assert partition_directory(TopicPartition(topic, partition)) == name
    assert parse_partition_directory(name) == TopicPartition(topic, partition)


@pytest.mark.parametrize(
    ("topic", "partition"),
    [("..", 0), (".", 0), ("../../etc", 0), ("a/b", 0), ("a\0b", 0), ("a\n", 0), ("", 0),
     ("%2e%2e/", 0), ("a" * 250, 0), ("é", 0), ("a", -1), ("a" * 249, 1_000_000)],
)  # fmt: skip
def test_bad_names_are_refused(topic: str, partition: int) -> None:
    with pytest.raises(UnsafePath):
        partition_directory(TopicPartition(topic, partition))


@pytest.mark.parametrize(
    "name",
    ["", "a", "-0", "a-", "a-x", "a-01", "a--1x", ".-0", "meta.properties",
     "a-0.0123456789abcdef0123456789abcdef-delete", "recovery-point-offset-checkpoint"],
)  # fmt: skip
def test_other_names_are_no_partitions(name: str) -> None:
    assert parse_partition_directory(name) is None


@given(st.text(max_size=30), st.integers(-5, 99))
def test_no_name_leaves_the_directory(topic: str, partition: int) -> None:
    try:
        name = partition_directory(TopicPartition(topic, partition))
    except UnsafePath:
        return
    assert name not in (".", "..")
    assert "/" not in name
    assert parse_partition_directory(name) == TopicPartition(topic, partition)


def test_deleted_directories_fit_a_file_name() -> None:
    unique = "0123456789abcdef" * 2
    assert deleted_directory(TopicPartition("t", 3), unique) == f"t-3.{unique}-delete"
    name = deleted_directory(TopicPartition("t" * 249, 99999), unique)
    assert len(name) == 255
    assert parse_partition_directory(name) is None


def test_segment_files() -> None:
    assert segment_file(42, ".log") == "00000000000000000042.log"
    assert parse_segment_file("00000000000000000042.log", ".log") == 42
    for name in ("42.log", "00000000000000000042.index", "0000000000000000004x.log", ".log"):
        assert parse_segment_file(name, ".log") is None


def test_future_directories() -> None:
    partition = TopicPartition("a-b.c", 12)
    unique = "0123456789abcdef" * 2
    name = future_directory(partition, unique)
    assert name == f"a-b.c-12.{unique}-future"
    assert parse_future_directory(name) == partition
    assert parse_partition_directory(name) is None
    for other in ("a-0", f"a-0.{unique}-delete", "a-0.x-future", f"a.{unique}-future", "-future"):
        assert parse_future_directory(other) is None
    with pytest.raises(UnsafePath):
        future_directory(TopicPartition("a" * 240, 0), unique)
