"""Which properties ``spec.config`` of a BrokerSet may have, and which need no restart."""

from collections.abc import Mapping
from typing import Final

from ballast.model.settings.keys import BrokerSetRule, Support
from ballast.model.settings.table import BROKER_SETTINGS, TOPIC_SETTINGS
from ballast.model.settings.validation import support_of


def _names(rule: BrokerSetRule) -> frozenset[str]:
    rows = (*BROKER_SETTINGS.values(), *TOPIC_SETTINGS.values())
    return frozenset(row.name for row in rows if row.broker_set is rule)


FORBIDDEN: Final = _names(BrokerSetRule.RESERVED)
"""Ids, addresses and directories, which come from the pod, and throttles of reassignments."""

FORBIDDEN_PREFIXES: Final = ("zookeeper.", "ballast.", "listener.name.")

UNSERVED: Final = _names(BrokerSetRule.UNSERVED)
"""Properties with which no broker starts; the API server refuses them by name."""

UNSERVED_PREFIXES: Final = (
    "ssl.",
    "sasl.",
    "security.",
    "authorizer.",
    "delegation.token.",
    "password.encoder.",
    "quota.",
    "controller.quorum.",
)

ALLOWED_PREFIX: Final = "ballast.load."
"""Users of a set choose how much history of load is kept."""

MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"


def is_forbidden(name: str) -> bool:
    """Whether Ballast sets the property itself."""
    if name.startswith(ALLOWED_PREFIX):
        return False
    return name in FORBIDDEN or name.startswith(FORBIDDEN_PREFIXES)


def is_unserved(name: str) -> bool:
    """Whether the property belongs to a part of Kafka that brokers do not have."""
    return name in UNSERVED or name.startswith(UNSERVED_PREFIXES)


DYNAMIC: Final = frozenset(
    name for name, row in BROKER_SETTINGS.items() if row.dynamic and not is_forbidden(name)
)
"""The properties that IncrementalAlterConfigs changes in running brokers, except throttles."""


def refusal(name: str, text: str) -> str | None:
    """Return why a broker would not start with the property, or None if it would."""
    try:
        support, reason = support_of(name, text)
    except ValueError as error:
        return f"is not a legal value: {error}"
    return f"is not honoured: {reason}" if support is Support.REFUSED else None


def without_effect(config: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that brokers accept and that have no effect, with the reason.

    Every value must be legal.
    """
    supports = {name: support_of(name, text) for name, text in sorted(config.items())}
    return {name: why for name, (support, why) in supports.items() if support is Support.REPORTED}
