"""The configs that a topic may override: names, defaults and what each takes (Kafka 2.8 LogConfig).

A broker and a controller candidate check against the same table, so that what one accepts the
other can carry out.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1


class InvalidTopicConfig(ValueError):
    """A name or value that Kafka refuses for a topic's config; the message says why."""


class ConfigKind(Enum):
    """Kafka's types of config values, by the code that DescribeConfigs (32) gives them."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


ConfigValue = bool | str | int | float | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig:
    """One config of a topic."""

    name: str
    kind: ConfigKind
    default: str
    """What a cluster without broker settings gives, as text."""
    broker_name: str | None
    """The broker's setting that gives the cluster-wide default; None for a topic-only config."""
    _parse: Callable[[str], ConfigValue]

    def parse(self, text: str) -> ConfigValue:
        """Return the value that ``text`` stands for; raises `InvalidTopicConfig`."""
        try:
            return self._parse(text)
        except ValueError as error:
            raise InvalidTopicConfig(
                f"Invalid value {text} for configuration {self.name}: {error}"
            ) from None


def check_topic_configs(configs: Mapping[str, str]) -> None:
    """Raise `InvalidTopicConfig` unless every name is known and every value is legal."""
    for name, value in configs.items():
        config = TOPIC_CONFIGS.get(name)
        if config is None:
            raise InvalidTopicConfig(f"Unknown topic config name: {name}")
        config.parse(value)


# -- parsers: each raises ValueError with Kafka's words ---------------------------------------


def _boolean(text: str) -> bool:
    lowered = text.strip().lower()
    if lowered not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return lowered == "true"


def _number(kind: str, lowest: int) -> Callable[[str], int]:
    limit = INT_MAX if kind == "INT" else LONG_MAX

    def parse(text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", text.strip()):
            raise ValueError(f"Not a number of type {kind}")
        value = int(text)
        if not -limit - 1 <= value <= limit:
            raise ValueError(f"Not a number of type {kind}")
        if value < lowest:
            raise ValueError(f"Value must be at least {lowest}")
        return value

    return parse


def _ratio(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError("Not a number of type DOUBLE") from None
    if math.isnan(value) or value < 0:
        raise ValueError("Value must be at least 0")
    if value > 1:
        raise ValueError("Value must be no more than 1")
    return value


def _one_of(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.strip() not in allowed:
            raise ValueError(f"String must be one of: {', '.join(allowed)}")
        return text.strip()

    return parse


def _policies(text: str) -> tuple[str, ...]:
    policies = tuple(part.strip() for part in text.split(","))
    if any(policy not in ("compact", "delete") for policy in policies):
        raise ValueError("String must be one of: compact, delete")
    return policies


def _message_format(text: str) -> str:
    if not re.fullmatch(r"[0-9]+\.[0-9]+(\.[0-9]+)*(-IV[0-9]+)?", text):
        raise ValueError(f"Version {text} is not a valid version")
    return text


def _throttled_replicas(text: str) -> tuple[str, ...]:
    """Read ``*``, or ``partition:broker`` pairs (KIP-73); empty means none."""
    pairs = tuple(part.strip() for part in text.split(",") if part.strip())
    if pairs == ("*",):
        return pairs
    if any(not re.fullmatch(r"[0-9]{1,10}:[0-9]{1,10}", pair) for pair in pairs):
        raise ValueError(
            "Must be the literal '*' or a list of replicas in the following format: "
            "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
        )
    return pairs


# -- the table ---------------------------------------------------------------------------------


def _int(name: str, default: int, lowest: int, broker_name: str) -> TopicConfig:
    return TopicConfig(
        name=name,
        kind=ConfigKind.INT,
        default=str(default),
        broker_name=broker_name,
        _parse=_number("INT", lowest),
    )


def _long(name: str, default: int, lowest: int, broker_name: str) -> TopicConfig:
    return TopicConfig(
        name=name,
        kind=ConfigKind.LONG,
        default=str(default),
        broker_name=broker_name,
        _parse=_number("LONG", lowest),
    )


def _flag(name: str, default: str, broker_name: str) -> TopicConfig:
    return TopicConfig(
        name=name,
        kind=ConfigKind.BOOLEAN,
        default=default,
        broker_name=broker_name,
        _parse=_boolean,
    )


def _text(
    name: str, default: str, broker_name: str, parse: Callable[[str], ConfigValue]
) -> TopicConfig:
    return TopicConfig(
        name=name,
        kind=ConfigKind.STRING,
        default=default,
        broker_name=broker_name,
        _parse=parse,
    )


def _list(
    name: str, default: str, broker_name: str | None, parse: Callable[[str], ConfigValue]
) -> TopicConfig:
    return TopicConfig(
        name=name, kind=ConfigKind.LIST, default=default, broker_name=broker_name, _parse=parse
    )


_DAY_MS = 24 * 60 * 60 * 1000

_ROWS = (
    _list("cleanup.policy", "delete", "log.cleanup.policy", _policies),
    _text(
        "compression.type",
        "producer",
        "compression.type",
        _one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    ),
    _long("delete.retention.ms", _DAY_MS, 0, "log.cleaner.delete.retention.ms"),
    _long("file.delete.delay.ms", 60_000, 0, "log.segment.delete.delay.ms"),
    # 0 is legal in Kafka 2.8's table and means "flush each message", as 1 does.
    _long("flush.messages", LONG_MAX, 0, "log.flush.interval.messages"),
    _long("flush.ms", LONG_MAX, 0, "log.flush.interval.ms"),
    _list("follower.replication.throttled.replicas", "", None, _throttled_replicas),
    _int("index.interval.bytes", 4096, 0, "log.index.interval.bytes"),
    _list("leader.replication.throttled.replicas", "", None, _throttled_replicas),
    _long("max.compaction.lag.ms", LONG_MAX, 1, "log.cleaner.max.compaction.lag.ms"),
    _int("max.message.bytes", 1024 * 1024 + 12, 0, "message.max.bytes"),
    _flag("message.downconversion.enable", "true", "log.message.downconversion.enable"),
    _text("message.format.version", "2.8-IV1", "log.message.format.version", _message_format),
    _long(
        "message.timestamp.difference.max.ms",
        LONG_MAX,
        0,
        "log.message.timestamp.difference.max.ms",
    ),
    _text(
        "message.timestamp.type",
        "CreateTime",
        "log.message.timestamp.type",
        _one_of("CreateTime", "LogAppendTime"),
    ),
    TopicConfig(
        name="min.cleanable.dirty.ratio",
        kind=ConfigKind.DOUBLE,
        default="0.5",
        broker_name="log.cleaner.min.cleanable.ratio",
        _parse=_ratio,
    ),
    _long("min.compaction.lag.ms", 0, 0, "log.cleaner.min.compaction.lag.ms"),
    _int("min.insync.replicas", 1, 1, "min.insync.replicas"),
    _flag("preallocate", "false", "log.preallocate"),
    _long("retention.bytes", -1, -LONG_MAX - 1, "log.retention.bytes"),
    _long("retention.ms", 7 * _DAY_MS, -1, "log.retention.ms"),
    _int("segment.bytes", 1024 * 1024 * 1024, 14, "log.segment.bytes"),
    _int("segment.index.bytes", 10 * 1024 * 1024, 0, "log.index.size.max.bytes"),
    _long("segment.jitter.ms", 0, 0, "log.roll.jitter.ms"),
    _long("segment.ms", 7 * _DAY_MS, 1, "log.roll.ms"),
    _flag("unclean.leader.election.enable", "false", "unclean.leader.election.enable"),
)

TOPIC_CONFIGS: Mapping[str, TopicConfig] = MappingProxyType({row.name: row for row in _ROWS})
"""Every config that a topic may override, by name."""
