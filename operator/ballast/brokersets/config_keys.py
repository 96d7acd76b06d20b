"""Which properties a broker set's config may have, and which of them go without a restart."""

import math
from collections.abc import Callable, Mapping
from typing import Final

from ballast.model.topic_configs import INT_MAX as _INT_MAX
from ballast.model.topic_configs import LONG_MAX as _LONG_MAX
from ballast.model.topic_configs import TOPIC_CONFIGS, InvalidTopicConfig

_LONG_DIGITS: Final = 19

FORBIDDEN: Final = frozenset(
    {
        "broker.id",
        "broker.id.generation.enable",
        "broker.rack",
        "listeners",
        "advertised.listeners",
        "listener.security.protocol.map",
        "inter.broker.listener.name",
        "control.plane.listener.name",
        "security.inter.broker.protocol",
        "host.name",
        "port",
        "advertised.host.name",
        "advertised.port",
        "log.dir",
        "log.dirs",
        "metadata.log.dir",
        "process.roles",
        "node.id",
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "leader.replication.throttled.replicas",
        "follower.replication.throttled.replicas",
        "replica.alter.log.dirs.io.max.bytes.per.second",
        "controlled.shutdown.enable",
    }
)
"""Ids, addresses and directories come from the pod, throttles from reassignments."""

FORBIDDEN_PREFIXES: Final = ("zookeeper.", "ballast.", "listener.name.")

ALLOWED_PREFIX: Final = "ballast.load."
"""How much history of load there is, is for the users of a set to say."""

MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"


def _integer(minimum: int, maximum: int = _INT_MAX) -> Callable[[str], str | None]:
    def refusal(text: str) -> str | None:
        digits = text.removeprefix("-")
        if not digits.isascii() or not digits.isdecimal() or len(digits) > _LONG_DIGITS:
            return "must be a whole number"
        if not minimum <= int(text) <= maximum:
            return f"must be between {minimum} and {maximum}"
        return None

    return refusal


def _retention(text: str) -> str | None:
    if text.lstrip("-0") == "" and "0" in text:
        return "must be at least 1, or -1 for no limit"
    return _integer(-1, _LONG_MAX)(text)


def _policy(text: str) -> str | None:
    try:
        TOPIC_CONFIGS["cleanup.policy"].parse(text)
    except InvalidTopicConfig:
        return "must be delete, compact, or both"
    return None


def _ratio(text: str) -> str | None:
    try:
        TOPIC_CONFIGS["min.cleanable.dirty.ratio"].parse(text)
    except InvalidTopicConfig:
        return "must be a number from 0 to 1"
    return None


def _rate(text: str) -> str | None:
    try:
        is_rate = 0 < float(text) < math.inf
    except ValueError:
        is_rate = False
    return None if is_rate else "must be a number above 0"


def _switch(text: str) -> str | None:
    return None if text.strip().lower() in ("true", "false") else "must be true or false"


DYNAMIC: Final[Mapping[str, Callable[[str], str | None]]] = {
    "log.cleaner.backoff.ms": _integer(0, _LONG_MAX),
    "log.cleaner.dedupe.buffer.size": _integer(1, _LONG_MAX),
    "log.cleaner.delete.retention.ms": _integer(0, _LONG_MAX),
    "log.cleaner.io.max.bytes.per.second": _rate,
    "log.cleaner.max.compaction.lag.ms": _integer(1, _LONG_MAX),
    "log.cleaner.min.cleanable.ratio": _ratio,
    "log.cleaner.min.compaction.lag.ms": _integer(0, _LONG_MAX),
    "log.cleanup.policy": _policy,
    "log.index.interval.bytes": _integer(0),
    "log.retention.bytes": _integer(-1, _LONG_MAX),
    "log.retention.ms": _retention,
    "log.roll.ms": _integer(1, _LONG_MAX),
    "log.segment.bytes": _integer(14),
    "log.segment.delete.delay.ms": _integer(0, _LONG_MAX),
    "message.max.bytes": _integer(0),
    MIN_INSYNC_REPLICAS: _integer(1),
    "unclean.leader.election.enable": _switch,
}
"""The properties that a running broker takes from IncrementalAlterConfigs, each with what says why
a value is refused. The same as the broker's own table, less the throttles."""


def is_forbidden(name: str) -> bool:
    """Whether a property is Ballast's own."""
    if name.startswith(ALLOWED_PREFIX):
        return False
    return name in FORBIDDEN or name.startswith(FORBIDDEN_PREFIXES)
