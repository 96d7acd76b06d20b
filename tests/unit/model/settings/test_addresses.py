import pytest

from ballast.model.brokers import Endpoint
from ballast.model.settings.addresses import (
    connections_by_address,
    listeners_of,
    parse_host_port,
    protocol_map,
    zookeeper_of,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("h:1", ("h", 1)), (":9092", ("", 9092)), ("[::1]:80", ("::1", 80)), ("h:0", ("h", 0))],
)
def test_host_and_port(text: str, expected: tuple[str, int]) -> None:
    assert parse_host_port(text) == expected


@pytest.mark.parametrize("text", ["", "h", "h:", "h:x", "h:65536", "h:-1", "h:\uff11"])
def test_no_host_and_port(text: str) -> None:
    with pytest.raises(ValueError, match="not host:port"):
        parse_host_port(text)


def test_one_plaintext_listener() -> None:
    assert listeners_of("PLAINTEXT://h:9092") == (Endpoint(host="h", port=9092),)


@pytest.mark.parametrize(
    "text", ["", "h:9092", "SSL://h:9092", "PLAINTEXT://h", "PLAINTEXT://a:1,PLAINTEXT://b:2"]
)
def test_other_listeners_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        listeners_of(text)


def test_zookeeper_connect_is_kept_as_it_is() -> None:
    assert zookeeper_of("a:1,b:2/kafka") == "a:1,b:2/kafka"
    with pytest.raises(ValueError, match="not host:port"):
        zookeeper_of("a:1,b/kafka")


def test_the_protocol_of_each_listener() -> None:
    assert protocol_map("PLAINTEXT:PLAINTEXT, A:SSL") == {"PLAINTEXT": "PLAINTEXT", "A": "SSL"}
    for text in ("", "A", "A:TLS", ":SSL"):
        with pytest.raises(ValueError, match=r"."):
            protocol_map(text)


def test_numbers_by_address() -> None:
    assert connections_by_address("") == ()
    assert connections_by_address("10.0.0.1:5, ::1:6,[fe80::0:2]:0") == (
        ("10.0.0.1", 5),
        ("::1", 6),
        ("fe80::2", 0),
    )
    for text in ("10.0.0.1", "10.0.0.1:", "10.0.0.1:-1", "host:5", "10.0.0.1:1,10.0.0.1:2"):
        with pytest.raises(ValueError, match=r"."):
            connections_by_address(text)
