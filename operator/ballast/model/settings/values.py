"""The parsers of settings: one per kind of value.

A parser returns the value, or raises ``ValueError`` with the reason, in Kafka's words where Kafka
has a message (ConfigDef.parseType, ConfigDef.Range, ConfigDef.ValidString).
"""

import math
import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, Final

SHORT_MAX: Final = 2**15 - 1
INT_MAX: Final = 2**31 - 1
LONG_MAX: Final = 2**63 - 1

Parser = Callable[[str], Any]


class ConfigType(IntEnum):
    """The types of values, with their codes in DescribeConfigs (key 32)."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


LIMITS: Final = {ConfigType.SHORT: SHORT_MAX, ConfigType.INT: INT_MAX, ConfigType.LONG: LONG_MAX}


def number(type_: ConfigType, lowest: int | None = None, highest: int | None = None) -> Parser:
    """Return a parser of a whole number of ``type_`` within bounds."""
    limit = LIMITS[type_]

    def parse(text: str) -> int:
        # int() takes '1_000' and Unicode digits too, which Kafka refuses.
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", text.strip()):
            raise ValueError(f"Not a number of type {type_.name}")
        value = int(text)
        if not -limit - 1 <= value <= limit:
            raise ValueError(f"Not a number of type {type_.name}")
        if lowest is not None and value < lowest:
            raise ValueError(f"Value must be at least {lowest}")
        if highest is not None and value > highest:
            raise ValueError(f"Value must be no more than {highest}")
        return value

    return parse


def time_or_unlimited(type_: ConfigType) -> Parser:
    """Return a parser of a retention time: at least 1, or -1 for no limit."""
    parse_number = number(type_, -1)

    def parse(text: str) -> int:
        value: int = parse_number(text)
        if value == 0:
            raise ValueError("Value must be -1 (unlimited) or at least 1")
        return value

    return parse


def real(lowest: float = -math.inf, highest: float = math.inf) -> Parser:
    """Return a parser of a finite floating-point number within bounds."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise ValueError("Not a number of type DOUBLE") from None
        if "_" in text or not math.isfinite(value):
            raise ValueError("Not a number of type DOUBLE")
        if value < lowest:
            raise ValueError(f"Value must be at least {lowest:g}")
        if value > highest:
            raise ValueError(f"Value must be no more than {highest:g}")
        return value

    return parse


def rate(text: str) -> float:
    """Return a number above 0."""
    value: float = real(0)(text)
    if value == 0:
        raise ValueError("Value must be above 0")
    return value


def boolean(text: str) -> bool:
    """Return the value of ``true`` or ``false`` in any case."""
    lowered = text.strip().lower()
    if lowered not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return lowered == "true"


def any_text(text: str) -> str:
    """Return the text without surrounding spaces."""
    return text.strip()


def some_text(text: str) -> str:
    """Return a text that is not empty."""
    if not text.strip():
        raise ValueError("Value must not be empty")
    return text.strip()


def one_of(*allowed: str) -> Parser:
    """Return a parser of an enumeration."""

    def parse(text: str) -> str:
        if text.strip() not in allowed:
            raise ValueError(f"String must be one of: {', '.join(allowed)}")
        return text.strip()

    return parse


def names(text: str) -> tuple[str, ...]:
    """Return the items of a list, of which there may be none."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def some_names(text: str) -> tuple[str, ...]:
    """Return the items of a list that is not empty."""
    items = names(text)
    if not items:
        raise ValueError("The list must not be empty")
    return items


def cleanup_policies(text: str) -> tuple[str, ...]:
    """Return the cleanup of old segments: ``delete``, ``compact`` or both."""
    policies = tuple(part.strip() for part in text.split(","))
    if any(policy not in ("compact", "delete") for policy in policies):
        raise ValueError("String must be one of: compact, delete")
    return policies


def throttled_replicas(text: str) -> tuple[str, ...]:
    """Return ``*``, or pairs ``partition:broker`` (KIP-73); empty means none."""
    pairs = names(text)
    if pairs == ("*",):
        return pairs
    if any(not re.fullmatch(r"[0-9]{1,10}:[0-9]{1,10}", pair) for pair in pairs):
        raise ValueError(
            "Must be the literal '*' or a list of replicas in the following format: "
            "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
        )
    return pairs


_IN_0: Final = ("0.8.0", "0.8.1", "0.8.2", "0.9.0", "0.10.0", "0.10.1", "0.10.2", "0.11.0")
_RELEASES: Final = (*_IN_0, "1.0", "1.1", *(f"2.{minor}" for minor in range(9)))


def api_version(text: str) -> tuple[int, ...]:
    """Return the release of a version up to 2.8, such as ``2.8``, ``2.8-IV1`` or ``2.8.2``."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)*)(?:-IV[0-9]+)?", text.strip())
    parts = match[1].split(".") if match else []
    # Kafka's ApiVersion.apply reads three numbers of 0.x versions and at two of later ones.
    release = parts[:3] if parts[:1] == ["0"] else parts[:2]
    if ".".join(release) not in _RELEASES:
        raise ValueError(f"Version {text} is not a valid version")
    return tuple(int(part) for part in release)


DEFAULT_PARSERS: Final[Mapping[ConfigType, Parser]] = {
    ConfigType.BOOLEAN: boolean,
    ConfigType.STRING: any_text,
    ConfigType.INT: number(ConfigType.INT),
    ConfigType.SHORT: number(ConfigType.SHORT),
    ConfigType.LONG: number(ConfigType.LONG),
    ConfigType.DOUBLE: real(),
    ConfigType.LIST: names,
    ConfigType.CLASS: any_text,
    ConfigType.PASSWORD: any_text,
}
"""The parser of a type whose row names no other."""
