from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.model.assignments import ReplicaAssignment
from ballast.model.topics import InvalidTopicName, TopicAssignment
from ballast.znodes import topics
from tests.unit.znodes.hostile import each_hostile_document, refused, refused_somewhere

TOPIC_ID = UUID("d1f9b2a4-0c1e-4f5a-9b7c-3e2d1c0b9a88")
TOPIC_ID_TEXT = "0fmypAweT1qbfD4tHAuaiA"


def decode(data: bytes) -> TopicAssignment:
    return topics.decode("t", data, 4)


def test_version_3_in_kafkas_order() -> None:
    topic = TopicAssignment(
        topic="t",
        topic_id=TOPIC_ID,
        partitions={
            10: ReplicaAssignment.of(3, 1),
            2: ReplicaAssignment(replicas=(2, 3, 1), adding_replicas=(2,), removing_replicas=(1,)),
        },
        version=4,
    )
    data = topics.encode(topic)
    assert data.decode() == (
        '{"partitions":{"2":[2,3,1],"10":[3,1]},"topic_id":"' + TOPIC_ID_TEXT + '",'
        '"adding_replicas":{"2":[2]},"removing_replicas":{"2":[1]},"version":3}'
    )
    assert decode(data) == topic


def test_older_versions() -> None:
    one = decode(b'{"version":1,"partitions":{"0":[1,2]}}')
    assert one.partitions == {0: ReplicaAssignment.of(1, 2)}
    assert one.topic_id is None
    assert topics.encode(one) == (
        b'{"partitions":{"0":[1,2]},"adding_replicas":{},"removing_replicas":{},"version":2}'
    )
    assert decode(topics.encode(one)) == one


def test_unknown_fields_are_kept() -> None:
    data = (
        b'{"version":3,"partitions":{"0":[1]},"confluent":{"x":[1.5,null]},"z":'
        + b"9" * 30
        + b',"topic_id":"'
        + TOPIC_ID_TEXT.encode()
        + b'"}'
    )
    topic = decode(data)
    assert topic.extra == {"confluent": {"x": [1.5, None]}, "z": int("9" * 30)}
    again = topics.encode(topic)
    assert again.endswith(b'"version":3,"confluent":{"x":[1.5,null]},"z":' + b"9" * 30 + b"}")
    assert decode(again) == topic


@each_hostile_document
def test_hostile(data: bytes) -> None:
    refused_somewhere(decode, data, "/brokers/topics/t")


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b'{"version":1}', "partitions"),
        (b'{"version":1,"partitions":[]}', "partitions"),
        (b'{"version":1,"partitions":{"x":[1]}}', "partitions"),
        (b'{"version":1,"partitions":{"00":[1]}}', "partitions"),
        (b'{"version":1,"partitions":{"-1":[1]}}', "partitions"),
        (b'{"version":1,"partitions":{"0":[1,"2"]}}', "partitions[...][1]"),
        (b'{"version":1,"partitions":{"0":[-1]}}', "partitions[...][0]"),
        (b'{"version":1,"partitions":{"0":[]}}', "partitions.0"),
        (b'{"version":1,"partitions":{"0":[1,1]}}', "partitions.0"),
        (b'{"version":2,"partitions":{"0":[1]},"adding_replicas":{"0":[2]}}', "adding_replicas.0"),
        (b'{"version":2,"partitions":{"0":[1]},"adding_replicas":{"1":[1]}}', "adding_replicas"),
        (
            b'{"version":2,"partitions":{"0":[1]},"adding_replicas":{"0":[1]},'
            b'"removing_replicas":{"0":[1]}}',
            "adding_replicas.0",
        ),
        (
            b'{"version":2,"partitions":{"0":[1]},"removing_replicas":{"0":[1,1]}}',
            "removing_replicas.0",
        ),
        (b'{"version":3,"partitions":{"0":[1]},"topic_id":"short"}', "topic_id"),
        (b'{"version":3,"partitions":{"0":[1]},"topic_id":"\xc3\xa4"}', "topic_id"),
        (b'{"version":3,"partitions":{"0":[1]},"topic_id":7}', "topic_id"),
    ],
)
def test_bad_fields(data: bytes, field: str) -> None:
    refused(decode, data, "/brokers/topics/t", field)


def test_a_hundred_thousand_partitions_are_read() -> None:
    data = (
        b'{"version":1,"partitions":{'
        + b",".join(b'"%d":[1,2,3]' % number for number in range(100_000))
        + b"}}"
    )
    assert len(decode(data).partitions) == 100_000


def test_paths() -> None:
    assert topics.partitions_path("t") == "/brokers/topics/t/partitions"
    assert topics.topic_of("/brokers/topics/t") == "t"
    assert topics.topic_of("/brokers/topics/t/partitions/0/state") == "t"
    assert [topics.is_topic_name(name) for name in ("t", "..", "a b")] == [True, False, False]
    with pytest.raises(InvalidTopicName):
        topics.path("../ids")


@given(st.uuids())
def test_topic_ids_survive(topic_id: UUID) -> None:
    text = topics.encode_topic_id(topic_id)
    assert len(text) == 22
    assert topics.decode_topic_id("/x", text) == topic_id
