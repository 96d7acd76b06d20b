"""A row of the table of settings, and how the modules of this package write one."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from ballast.model.settings.values import DEFAULT_PARSERS, ConfigType, Parser


class Support(Enum):
    """What becomes of a value that is not the default."""

    HONOURED = "honoured"
    """It has the effect that Kafka documents."""
    HARMLESS = "harmless"
    """It is taken, and there is nothing here that it could change."""
    REPORTED = "reported"
    """It has no effect: brokers warn when they start, and the BrokerSet has a condition."""
    REFUSED = "refused"
    """It has no effect and means security or durability: the broker does not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKey:
    """One setting (Kafka's ConfigDef.ConfigKey)."""

    name: str
    type: ConfigType
    default: str | None
    """As it is written in a properties file; None when the setting has no default."""
    doc: str
    """What it means; of a setting that is not honoured: why."""
    parse: Parser
    """Reads a value; raises ``ValueError`` with the reason."""
    support: Support = Support.HONOURED
    dynamic: bool = False
    """Whether IncrementalAlterConfigs (44) may change it while the broker runs."""
    for_all_brokers: bool = False
    """Whether it can be set for all brokers only: controllers go by it, which are no brokers."""
    broker_name: str | None = None
    """Of a topic's setting: the broker's that gives the cluster-wide default."""
    is_honoured: Callable[[Any], bool] = field(default=lambda _: False)
    """Of a setting that is not honoured as a whole: which of its values have the documented
    effect."""


BOOLEAN: Final = ConfigType.BOOLEAN
STRING: Final = ConfigType.STRING
INT: Final = ConfigType.INT
SHORT: Final = ConfigType.SHORT
LONG: Final = ConfigType.LONG
DOUBLE: Final = ConfigType.DOUBLE
LIST: Final = ConfigType.LIST
CLASS: Final = ConfigType.CLASS
PASSWORD: Final = ConfigType.PASSWORD


def honoured(
    name: str,
    type_: ConfigType,
    default: str | int | None,
    doc: str,
    *,
    parse: Parser | None = None,
    dynamic: bool = False,
) -> ConfigKey:
    """Return the row of a setting that has the effect that Kafka documents."""
    return ConfigKey(
        name=name,
        type=type_,
        default=None if default is None else str(default),
        doc=doc,
        parse=parse or DEFAULT_PARSERS[type_],
        dynamic=dynamic,
    )


def without_effect(  # noqa: PLR0913  one row of the table
    support: Support,
    name: str,
    type_: ConfigType,
    default: str | int | None,
    why: str,
    *,
    parse: Parser | None = None,
    honours: Callable[[Any], bool] | None = None,
) -> ConfigKey:
    """Return the row of a setting that has no effect but for the values that ``honours`` takes."""
    return ConfigKey(
        name=name,
        type=type_,
        default=None if default is None else str(default),
        doc=why,
        parse=parse or DEFAULT_PARSERS[type_],
        support=support,
        is_honoured=honours or _none,
    )


def harmless(
    name: str,
    type_: ConfigType,
    default: str | int | None,
    why: str,
    *,
    parse: Parser | None = None,
) -> ConfigKey:
    """Return the row of a setting that could change nothing here."""
    return without_effect(Support.HARMLESS, name, type_, default, why, parse=parse)


def _none(_value: object) -> bool:
    return False
