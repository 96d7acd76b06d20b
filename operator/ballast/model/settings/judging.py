"""What becomes of a setting that somebody gave: the only place where that is decided.

A value counts as given when it differs from the default. A property of a broker that is not in the
table has no effect here, as it has none in Kafka; so it is reported, since it may be misspelt.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ballast.model.settings.keys import ConfigKey, Support
from ballast.model.settings.security import REFUSED_PREFIXES
from ballast.model.settings.table import BROKER_SETTINGS, TOPIC_SETTINGS


class InvalidTopicConfig(ValueError):
    """A name or value that is refused for a topic's config; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unheeded:
    """The properties given to a broker that have no effect there, each with the reason."""

    refused: Mapping[str, str] = field(default_factory=dict)
    """They mean security or durability: the broker must not start."""
    reported: Mapping[str, str] = field(default_factory=dict)
    harmless: Mapping[str, str] = field(default_factory=dict)


def check_topic_configs(configs: Mapping[str, str]) -> None:
    """Raise `InvalidTopicConfig` unless every name is known and every value can be honoured."""
    for name, text in configs.items():
        check_topic_config(name, text)


def check_topic_config(name: str, text: str) -> None:
    """Raise `InvalidTopicConfig`, in Kafka's words, unless the value can be honoured."""
    row = TOPIC_SETTINGS.get(name)
    if row is None:
        raise InvalidTopicConfig(f"Unknown topic config name: {name}")
    try:
        is_in_force = takes_effect(row, text)
    except ValueError as error:
        raise InvalidTopicConfig(
            f"Invalid value {text} for configuration {name}: {error}"
        ) from None
    if not is_in_force and row.support is not Support.HARMLESS:
        raise InvalidTopicConfig(f"Invalid value {text} for configuration {name}: {row.doc}")


def takes_effect(row: ConfigKey, text: str) -> bool:
    """Whether a value has the effect that Kafka documents; raises ``ValueError`` if illegal.

    The default does always: nothing else happens here.
    """
    value = row.parse(text)
    if row.support is Support.HONOURED:
        return True
    if row.default is None:
        return row.is_honoured(value) if text.strip() else True
    return value == row.parse(row.default) or row.is_honoured(value)


def unheeded(properties: Mapping[str, str]) -> Unheeded:
    """Return those of a broker's properties that have no effect there; raises ``ValueError``.

    The error's message names the property.
    """
    found: dict[Support, dict[str, str]] = {support: {} for support in Support}
    for name, text in sorted(properties.items()):
        support, reason = judge(name, text)
        if support is not Support.HONOURED:
            found[support][name] = reason
    return Unheeded(
        refused=found[Support.REFUSED],
        reported=found[Support.REPORTED],
        harmless=found[Support.HARMLESS],
    )


def judge(name: str, text: str) -> tuple[Support, str]:
    """Return what becomes of one property of a broker, and why if it has no effect.

    Raises ``ValueError`` for an illegal value; the message does not name the property.
    """
    row = BROKER_SETTINGS.get(name)
    if row is not None:
        is_in_force = takes_effect(row, text)
        return (Support.HONOURED, "") if is_in_force else (row.support, row.doc)
    for prefix, reason in REFUSED_PREFIXES.items():
        if name.startswith(prefix):
            return Support.REFUSED, reason
    return Support.REPORTED, "It is not a property of a broker."
