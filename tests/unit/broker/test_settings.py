import pytest

from ballast.broker.settings import (
    INT_MAX,
    integer,
    listeners_of,
    parse_host_port,
    zookeeper_of,
)
from ballast.model.brokers import Endpoint


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


@pytest.mark.parametrize("text", ["", "1_0", "x", "-1", "2147483648", "\uff11", "1.5", " 1", "--1"])
def test_no_integer(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a number|not between"):
        integer(0, INT_MAX)(text)


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
