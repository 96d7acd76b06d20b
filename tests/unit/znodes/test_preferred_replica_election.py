from ballast.model.ids import TopicPartition
from ballast.znodes import preferred_replica_election
from tests.unit.znodes.hostile import each_hostile_document, refused, refused_somewhere

PATH = "/admin/preferred_replica_election"


def test_as_kafka_writes_it() -> None:
    partitions = frozenset({TopicPartition("u", 1), TopicPartition("t", 0)})
    data = preferred_replica_election.encode(partitions)
    assert data == (
        b'{"version":1,"partitions":[{"topic":"t","partition":0},{"topic":"u","partition":1}]}'
    )
    assert preferred_replica_election.decode(data) == partitions


def test_spaces_do_not_matter() -> None:
    # As the tool of Kafka 2.8 writes it.
    data = b'{"version": 1, "partitions": [{"topic": "t", "partition": 0}]}'
    assert preferred_replica_election.decode(data) == {TopicPartition("t", 0)}


@each_hostile_document
def test_hostile(data: bytes) -> None:
    refused_somewhere(preferred_replica_election.decode, data, PATH)


def test_bad_topic() -> None:
    data = b'{"version":1,"partitions":[{"topic":"a/b","partition":0}]}'
    refused(preferred_replica_election.decode, data, PATH, "partitions.topic")
