"""Which settings take effect: decided here and nowhere else, by the rows of the table.

A value counts as set when it differs from the default. A broker property that is not in the table
has no effect, as in Kafka; it is reported, because it may be misspelt.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ballast.model.settings.keys import ConfigKey, Support
from ballast.model.settings.security import REFUSED_PREFIXES
from ballast.model.settings.table import BROKER_SETTINGS, TOPIC_SETTINGS


class InvalidTopicConfig(ValueError):
    """A name or value that is refused for a topic's config; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IneffectiveProperties:
    """The properties of a broker that have no effect, each with the reason."""

    refused: Mapping[str, str] = field(default_factory=dict)
    """They concern security or durability: the broker must not start."""
    reported: Mapping[str, str] = field(default_factory=dict)
    harmless: Mapping[str, str] = field(default_factory=dict)


def check_topic_configs(configs: Mapping[str, str]) -> None:
    """Raise `InvalidTopicConfig` unless every name is known and every value can be honoured."""
    for name, text in configs.items():
        parse_topic_config(name, text)


def parse_topic_config(name: str, text: str) -> Any:
    """Return the value; raises `InvalidTopicConfig`, in Kafka's words, if it is not honoured."""
    row = TOPIC_SETTINGS.get(name)
    if row is None:
        raise InvalidTopicConfig(f"Unknown topic config name: {name}")
    try:
        value = row.parse(text)
    except ValueError as error:
        raise InvalidTopicConfig(
            f"Invalid value {text} for configuration {name}: {error}"
        ) from None
    if row.support in (Support.HONOURED, Support.HARMLESS) or _is_default_or_honoured(row, value):
        return value
    raise InvalidTopicConfig(f"Invalid value {text} for configuration {name}: {row.doc}")


def ineffective_properties(properties: Mapping[str, str]) -> IneffectiveProperties:
    """Return those of a broker's properties that have no effect; raises ``ValueError``."""
    reasons: dict[Support, dict[str, str]] = {support: {} for support in Support}
    for name, text in sorted(properties.items()):
        support, reason = support_of(name, text)
        reasons[support][name] = reason
    return IneffectiveProperties(
        refused=reasons[Support.REFUSED],
        reported=reasons[Support.REPORTED],
        harmless=reasons[Support.HARMLESS],
    )


def support_of(name: str, text: str) -> tuple[Support, str]:
    """Return the effect of one property of a broker, and the reason if it has none.

    Raises ``ValueError`` for an illegal value; the message does not name the property.
    """
    row = BROKER_SETTINGS.get(name)
    if row is not None:
        value = row.parse(text)
        is_unset = row.default is None and not text.strip()
        if row.support is Support.HONOURED or is_unset or _is_default_or_honoured(row, value):
            return Support.HONOURED, ""
        return row.support, row.doc
    for prefix, reason in REFUSED_PREFIXES.items():
        if name.startswith(prefix):
            return Support.REFUSED, reason
    return Support.REPORTED, "It is not a property of a broker."


def _is_default_or_honoured(row: ConfigKey, value: Any) -> bool:
    return (row.default is not None and value == row.default_value) or row.is_honoured(value)
