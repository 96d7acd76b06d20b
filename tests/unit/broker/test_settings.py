from dataclasses import dataclass

import pytest

from ballast.broker.errors import ConfigError
from ballast.broker.settings import (
    INT_MAX,
    POSITIVE,
    ConfigType,
    integer,
    listeners_of,
    parse_host_port,
    parse_settings,
    properties_of,
    setting,
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


@dataclass(frozen=True, kw_only=True)
class Config:
    needed: int = setting("needed", ConfigType.INT, None, "", parse=POSITIVE)
    optional: bool | None = setting("an.option", ConfigType.BOOLEAN, None, "", optional=True)
    usual: str = setting("usual", ConfigType.STRING, "as ever", "")
    other: int = 5
    """No property."""


def test_a_class_of_settings_is_the_table_of_its_properties() -> None:
    rows = properties_of(Config)
    assert {field: row.name for field, row in rows.items()} == {
        "needed": "needed",
        "optional": "an.option",
        "usual": "usual",
    }
    assert [row.default for row in rows.values()] == [None, None, "as ever"]


def test_settings_are_taken_from_properties() -> None:
    given = {"needed": " 3 ", "an.option": "TRUE", "unknown": "x"}
    assert parse_settings(Config, given) == {"needed": 3, "optional": True}
    assert Config(**parse_settings(Config, {"needed": "1"})) == Config(needed=1)


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [({}, "needed: must be given"), ({"needed": "0"}, "needed: 0 is not between 1 and 2147483647")],
)
def test_a_bad_or_missing_setting_is_named(properties: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_settings(Config, properties)
    assert str(refused.value) == complaint
