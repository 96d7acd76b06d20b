"""A row of the table of settings, and the functions that write one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from ballast.model.settings.values import DEFAULT_PARSERS, LIMITS, ConfigType, Parser, number


class ConfigError(ValueError):
    """A property's value cannot be used; the message begins with the property's name."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class Support(Enum):
    """The effect of a value that is not the default."""

    HONOURED = "honoured"
    """The value has the effect that Kafka documents."""
    HARMLESS = "harmless"
    """The value is accepted; Ballast has nothing that it could change."""
    REPORTED = "reported"
    """The value has no effect: brokers log a warning, and the BrokerSet has a condition."""
    REFUSED = "refused"
    """The value has no effect and concerns security or durability: the broker does not start."""


class BrokerSetRule(Enum):
    """Whether ``spec.config`` of a BrokerSet may name the property."""

    ALLOWED = auto()
    RESERVED = auto()
    """No: Ballast sets it (ids, addresses and directories per pod, throttles per reassignment)."""
    UNSERVED = auto()
    """No: it belongs to a part of Kafka that brokers do not have; the API server refuses it."""


class Synonym(NamedTuple):
    """Another property that supplies the value of one that is not set (Kafka's ConfigSynonym)."""

    name: str
    unit_ms: int = 1
    """Milliseconds per unit of the synonym's value; 1 where both have the same unit."""

    def convert(self, value: int) -> int:
        """Return the synonym's value in milliseconds; a negative value means unlimited, -1."""
        return value * self.unit_ms if value >= 0 else -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKey:
    """One setting (Kafka's ConfigDef.ConfigKey)."""

    name: str
    type: ConfigType
    default: str | None
    """As a properties file has it; None when the setting has no default."""
    doc: str
    """The meaning; for a setting that is not honoured, the reason."""
    parse: Parser
    """Parses and validates a value; raises ``ValueError`` with the reason."""
    required: bool = False
    """Whether a process does not start without it."""
    support: Support = Support.HONOURED
    dynamic: bool = False
    """Whether IncrementalAlterConfigs (44) may change it while the broker runs."""
    for_all_brokers: bool = False
    """Whether it can only be set for all brokers: controllers read it, which have no broker id."""
    synonyms: tuple[Synonym, ...] = ()
    """Broker properties that supply the value when this one is not set, in order."""
    broker_name: str | None = None
    """For a topic's setting: the broker property that holds the cluster-wide default."""
    broker_set: BrokerSetRule = BrokerSetRule.ALLOWED
    is_honoured: Callable[[Any], bool] = field(default=lambda _: False)
    """For a setting that is not honoured as a whole: which of its values have the documented
    effect."""

    def value_of(self, text: str) -> Any:
        """Return the parsed value; raises `ConfigError`, which names the property."""
        try:
            return self.parse(text.strip())
        except ValueError as error:
            raise ConfigError(self.name, str(error)) from error

    @property
    def default_value(self) -> Any:
        """The parsed default, None when there is none."""
        return None if self.default is None else self.parse(self.default)


BOOLEAN: Final = ConfigType.BOOLEAN
STRING: Final = ConfigType.STRING
INT: Final = ConfigType.INT
SHORT: Final = ConfigType.SHORT
LONG: Final = ConfigType.LONG
DOUBLE: Final = ConfigType.DOUBLE
LIST: Final = ConfigType.LIST
CLASS: Final = ConfigType.CLASS
PASSWORD: Final = ConfigType.PASSWORD

RESERVED: Final = BrokerSetRule.RESERVED
UNSERVED: Final = BrokerSetRule.UNSERVED


def honoured(  # noqa: PLR0913  one row of the table
    name: str,
    type_: ConfigType,
    default: str | int | None,
    doc: str = "",
    *,
    least: int | None = None,
    most: int | None = None,
    parse: Parser | None = None,
    **others: Any,
) -> ConfigKey:
    """Return the row of a setting that has the effect that Kafka documents.

    ``least`` and ``most`` bound a whole number; ``parse`` reads values that the type's own parser
    does not validate; ``others`` are further fields of `ConfigKey`.
    """
    return ConfigKey(
        name=name,
        type=type_,
        default=None if default is None else str(default),
        doc=doc,
        parse=parse or (number(type_, least, most) if type_ in LIMITS else DEFAULT_PARSERS[type_]),
        **others,
    )


def harmless(name: str, type_: ConfigType, default: str | int | None, **others: Any) -> ConfigKey:
    """Return the row of a setting that could change nothing here."""
    return honoured(name, type_, default, support=Support.HARMLESS, **others)


def refused(name: str, type_: ConfigType, default: str | int | None, **others: Any) -> ConfigKey:
    """Return the row of a setting with which no broker starts, unless `is_honoured` accepts it."""
    return honoured(name, type_, default, support=Support.REFUSED, **others)


def documented(docs: Mapping[ConfigKey, str]) -> tuple[ConfigKey, ...]:
    """Return the rows with their documentation; for a row that is not honoured, the reason."""
    return tuple(replace(row, doc=doc) for row, doc in docs.items())
