"""One property of a broker: its row in the table of properties, and the parsers of values."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from ballast.broker.errors import ConfigError
from ballast.model.brokers import Endpoint

UNLIMITED: Final = 2**63 - 1
"""Kafka's default of a replication throttle: bytes per second that no disk reaches."""

INT_MAX: Final = 2**31 - 1


class ConfigType(IntEnum):
    """DescribeConfigs' (key 32) types of a value."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One property, as the table describes it."""

    name: str
    type: ConfigType
    parse: Callable[[str], Any]
    """Raises ``ValueError`` with the reason."""
    doc: str
    dynamic: bool
    """Whether IncrementalAlterConfigs (44) may change it while the broker runs."""
    default: str | None = None
    """As it is written in a properties file; None when the property has no default."""


def integer(minimum: int, maximum: int) -> Callable[[str], int]:
    """Return a parser of a decimal number within bounds."""

    def parse(text: str) -> int:
        # int() takes '1_000' and Unicode digits too, which Kafka refuses.
        if not text.removeprefix("-").isdecimal() or not text.isascii():
            raise ValueError(f"not a number: {text!r}")
        value = int(text)
        if not minimum <= value <= maximum:
            raise ValueError(f"{value} is not between {minimum} and {maximum}")
        return value

    return parse


def _boolean(text: str) -> bool:
    """Return the truth of ``true`` or ``false``."""
    if text.lower() not in ("true", "false"):
        raise ValueError(f"neither true nor false: {text!r}")
    return text.lower() == "true"


def _text(text: str) -> str:
    if not text:
        raise ValueError("empty")
    return text


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise ValueError("empty list")
    return names


def parse_host_port(text: str) -> tuple[str, int]:
    """Return the host (maybe empty) and port of ``host:port`` or ``[v6]:port``."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or not int(port) <= 65535:
        raise ValueError(f"not host:port: {text!r}")
    return host.strip("[]"), int(port)


def listeners_of(text: str) -> tuple[Endpoint, ...]:
    """Return the one listener of ``PLAINTEXT://host:port``."""
    endpoints = []
    for item in _names(text):
        name, found, address = item.partition("://")
        if not found:
            raise ValueError(f"not NAME://host:port: {item!r}")
        if name != "PLAINTEXT":
            raise ValueError(f"only PLAINTEXT is served, not {name!r}")
        host, port = parse_host_port(address)
        endpoints.append(Endpoint(host=host, port=port, listener_name=name))
    if len(endpoints) != 1:
        raise ValueError("exactly one listener is served")
    return tuple(endpoints)


def zookeeper_of(text: str) -> str:
    """Return ``host:port,host:port/chroot`` as it is, once it is checked."""
    servers, _, _ = text.partition("/")
    for server in _names(servers):
        parse_host_port(server)
    return text


_PARSERS: Final[Mapping[ConfigType, Callable[[str], Any]]] = {
    ConfigType.BOOLEAN: _boolean,
    ConfigType.STRING: _text,
    ConfigType.LIST: _names,
}
INT: Final = integer(0, INT_MAX)
POSITIVE: Final = integer(1, INT_MAX)
LONG: Final = integer(0, UNLIMITED)
POSITIVE_LONG: Final = integer(1, UNLIMITED)


def setting(  # noqa: PLR0913  one row of the table
    name: str,
    type_: ConfigType,
    default: str | None,
    doc: str,
    *,
    parse: Callable[[str], Any] | None = None,
    dynamic: bool = False,
    optional: bool = False,
) -> Any:
    """Return the field of one property; without a default and not optional it must be given."""
    parser = parse or _PARSERS[type_]
    row = Property(name=name, type=type_, parse=parser, doc=doc, dynamic=dynamic, default=default)
    metadata = {"property": row}
    if default is not None:
        return dataclasses.field(default=parser(default), metadata=metadata)
    if optional:
        return dataclasses.field(default=None, metadata=metadata)
    return dataclasses.field(metadata=metadata)


def parse_property(row: Property, text: str) -> Any:
    """Return the parsed value; raises `ConfigError`."""
    try:
        return row.parse(text.strip())
    except ValueError as error:
        raise ConfigError(row.name, str(error)) from error


def properties_of(config: type) -> dict[str, Property]:
    """Return the rows of a class whose fields are settings, by field."""
    return {
        field.name: field.metadata["property"]
        for field in dataclasses.fields(config)
        if "property" in field.metadata
    }


def parse_settings(config: type, properties: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the fields that the properties give.

    Raises `ConfigError`, naming the property, for a bad value or one that is missing.
    """
    without_default = {
        field.name
        for field in dataclasses.fields(config)
        if field.default is dataclasses.MISSING and "property" in field.metadata
    }
    values = {}
    for field_name, row in properties_of(config).items():
        if row.name in properties:
            values[field_name] = parse_property(row, properties[row.name])
        elif field_name in without_default:
            raise ConfigError(row.name, "must be given")
    return values
