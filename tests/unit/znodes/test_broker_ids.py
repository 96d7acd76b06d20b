import pytest

from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.znodes import broker_ids
from tests.unit.znodes.hostile import each_hostile_document, refused, refused_somewhere


def decode(data: bytes) -> RegisteredBroker:
    return broker_ids.decode(1, data, 77)


def test_version_5_as_kafka_writes_it() -> None:
    broker = RegisteredBroker(
        broker_id=1, endpoints=(Endpoint(host="127.0.0.1", port=9091),), broker_epoch=77
    )
    data = broker_ids.encode(broker, 1690000000000)
    # From goldens cluster-start.
    assert data == (
        b'{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        b'"endpoints":["PLAINTEXT://127.0.0.1:9091"],"jmx_port":-1,"port":9091,'
        b'"host":"127.0.0.1","version":5,"timestamp":"1690000000000"}'
    )
    assert decode(data) == broker
    assert broker_ids.path(1) == "/brokers/ids/1"


def test_listeners_and_rack() -> None:
    broker = RegisteredBroker(
        broker_id=1,
        endpoints=(
            Endpoint(host="::1", port=9093, listener_name="CLIENT", security_protocol="SSL"),
            Endpoint(host="b", port=9094, listener_name="INTERNAL", security_protocol="SASL_SSL"),
        ),
        rack="zone a",
        broker_epoch=77,
    )
    data = broker_ids.encode(broker, 0)
    assert b'"endpoints":["CLIENT://[::1]:9093","INTERNAL://b:9094"]' in data
    assert b'"port":-1,"host":null' in data
    assert decode(data) == broker


@pytest.mark.parametrize(
    ("data", "endpoint", "rack"),
    [
        pytest.param(
            b'{"version":1,"host":"h","port":9092,"jmx_port":-1,"timestamp":"1"}',
            Endpoint(host="h", port=9092),
            None,
            id="version 1",
        ),
        pytest.param(
            b'{"version":3,"host":"h","port":9092,"endpoints":["PLAINTEXT://h:9092"],"rack":"r"}',
            Endpoint(host="h", port=9092),
            "r",
            id="version 3",
        ),
        pytest.param(
            b'{"version":4,"host":null,"port":-1,"endpoints":["ssl://h:1"],'
            b'"listener_security_protocol_map":{"SSL":"SSL"},"features":{"x":{}}}',
            Endpoint(host="h", port=1, listener_name="SSL", security_protocol="SSL"),
            None,
            id="version 4",
        ),
    ],
)
def test_older_versions(data: bytes, endpoint: Endpoint, rack: str | None) -> None:
    assert decode(data) == RegisteredBroker(
        broker_id=1, endpoints=(endpoint,), rack=rack, broker_epoch=77
    )


@each_hostile_document
def test_hostile(data: bytes) -> None:
    refused_somewhere(decode, data, "/brokers/ids/1")


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b'{"version":0}', "version"),
        (b'{"version":5}', "endpoints"),
        (b'{"version":5,"endpoints":[]}', "endpoints"),
        (b'{"version":5,"endpoints":["h:1"]}', "endpoints"),
        (b'{"version":5,"endpoints":["A://h:70000"]}', "endpoints"),
        (b'{"version":5,"endpoints":[1]}', "endpoints[0]"),
        (b'{"version":1,"host":"h","port":-5}', "port"),
        (b'{"version":5,"endpoints":["A://h:1"],"rack":' + b'"' + b"r" * 2000 + b'"}', "rack"),
    ],
)
def test_bad_fields(data: bytes, field: str) -> None:
    refused(decode, data, "/brokers/ids/1", field)


def test_children_that_are_no_brokers() -> None:
    names = ["1", "x", "-1", "01", "99999999999", ""]
    assert [broker_ids.broker_id_of(name) for name in names] == [1, *[None] * 5]
