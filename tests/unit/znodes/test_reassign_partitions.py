import pytest

from ballast.model.ids import TopicPartition
from ballast.znodes import reassign_partitions
from tests.unit.znodes.hostile import each_hostile_document, refused, refused_somewhere

PATH = "/admin/reassign_partitions"


def test_as_kafkas_tool_writes_it() -> None:
    moves = {TopicPartition("t", 0): (1, 3)}
    data = reassign_partitions.encode(moves)
    assert data == b'{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,3]}]}'
    assert reassign_partitions.decode(data) == moves


def test_the_last_of_two_entries_counts() -> None:
    data = (
        b'{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1],"log_dirs":["any"]},'
        b'{"topic":"t","partition":0,"replicas":[2]}]}'
    )
    assert reassign_partitions.decode(data) == {TopicPartition("t", 0): (2,)}


def test_a_hundred_thousand_entries() -> None:
    moves = {TopicPartition("t", number): (1, 2) for number in range(30_000)}
    assert reassign_partitions.decode(reassign_partitions.encode(moves)) == moves


@each_hostile_document
def test_hostile(data: bytes) -> None:
    refused_somewhere(reassign_partitions.decode, data, PATH)


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        (b'{"topic":"../ids","partition":0,"replicas":[1]}', "partitions.topic"),
        (b'{"topic":"t","partition":-1,"replicas":[1]}', "partitions[0].partition"),
        (b'{"topic":"t","partition":"0","replicas":[1]}', "partitions[0].partition"),
        (b'{"topic":"t","partition":0,"replicas":[-1]}', "partitions[0].replicas[0]"),
        (b'{"topic":"t","partition":0}', "partitions[0].replicas"),
        (b"7", "partitions[0]"),
    ],
)
def test_bad_entries(entry: bytes, field: str) -> None:
    refused(reassign_partitions.decode, b'{"version":1,"partitions":[' + entry + b"]}", PATH, field)
