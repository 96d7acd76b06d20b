import pytest

from ballast.znodes import controller
from ballast.znodes.controller import ControllerInfo
from tests.unit.znodes.hostile import each_hostile_document, refused, refused_somewhere


def test_kafkas_fields_and_the_endpoint() -> None:
    info = ControllerInfo(controller_id=100, host="c-0.svc", port=9093, timestamp_ms=1690000000000)
    data = controller.encode(info)
    assert data == (
        b'{"version":1,"brokerid":100,"timestamp":"1690000000000","endpoint":"c-0.svc:9093"}'
    )
    assert controller.decode(data) == info


def test_ipv6() -> None:
    info = ControllerInfo(controller_id=1, host="fe80::1", port=9093)
    assert b'"endpoint":"[fe80::1]:9093"' in controller.encode(info)
    assert controller.decode(controller.encode(info)) == info


@pytest.mark.parametrize(
    "data",
    [
        b'{"version":1,"brokerid":1,"timestamp":"1690000000000"}',
        b'{"version":2,"brokerid":1,"timestamp":"1690000000000","kraftControllerEpoch":-1}',
    ],
)
def test_a_controller_of_apache_kafka_has_no_endpoint(data: bytes) -> None:
    assert controller.decode(data) == ControllerInfo(controller_id=1, timestamp_ms=1690000000000)
    assert controller.encode(controller.decode(data)).startswith(b'{"version":1,"brokerid":1,')


@each_hostile_document
def test_hostile(data: bytes) -> None:
    refused_somewhere(controller.decode, data, "/controller")


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b'{"brokerid":"1"}', "brokerid"),
        (b'{"brokerid":-2}', "brokerid"),
        (b'{"brokerid":99999999999999999999999}', "brokerid"),
        (b'{"brokerid":1,"timestamp":"soon"}', "timestamp"),
        (b'{"brokerid":1,"endpoint":"nowhere"}', "endpoint"),
        (b'{"brokerid":1,"endpoint":"h:99999"}', "endpoint"),
        (b'{"brokerid":1,"endpoint":"a b:1"}', "endpoint"),
    ],
)
def test_bad_fields(data: bytes, field: str) -> None:
    refused(controller.decode, data, "/controller", field)
