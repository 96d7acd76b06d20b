import pytest

from ballast.model.topics import InvalidTopicName
from ballast.znodes import configs
from tests.unit.znodes.hostile import DOCUMENTS, refused, refused_somewhere

HOSTILE = {name: data for name, data in DOCUMENTS.items() if data}


def decode(data: bytes) -> dict[str, str]:
    return configs.decode("topics/t", data)


def test_as_kafka_writes_it() -> None:
    values = {
        "leader.replication.throttled.replicas": "0:1,0:2",
        "follower.replication.throttled.replicas": "0:3",
    }
    data = configs.encode(values)
    assert data == (
        b'{"version":1,"config":{"leader.replication.throttled.replicas":"0:1,0:2",'
        b'"follower.replication.throttled.replicas":"0:3"}}'
    )
    assert decode(data) == values
    assert configs.encode({}) == b'{"version":1,"config":{}}'


def test_no_data_is_no_config() -> None:
    assert decode(b"") == {}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile(data: bytes) -> None:
    refused_somewhere(decode, data, "/config/topics/t")


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b'{"version":1,"config":{"a":1}}', "config[...]"),
        (b'{"version":1,"config":null}', "config"),
        (b'{"version":1,"config":{"":"x"}}', "config"),
    ],
)
def test_bad_fields(data: bytes, field: str) -> None:
    refused(decode, data, "/config/topics/t", field)


def test_entities() -> None:
    assert configs.path(configs.topic_entity("t")) == "/config/topics/t"
    assert configs.path(configs.broker_entity(1)) == "/config/brokers/1"
    assert configs.path(configs.broker_entity(None)) == "/config/brokers/<default>"
    with pytest.raises(InvalidTopicName):
        configs.topic_entity("../brokers/1")
