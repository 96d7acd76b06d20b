"""The settings that a topic may override (Kafka 2.8 LogConfig).

Brokers and controller candidates judge by the same rows, so that what one accepts the other carries
out.
"""

from dataclasses import replace
from typing import Final

from ballast.model.settings.keys import (
    BOOLEAN,
    DOUBLE,
    INT,
    LIST,
    LONG,
    STRING,
    ConfigKey,
    Support,
    honoured,
    without_effect,
)
from ballast.model.settings.logs import (
    CODECS,
    FIRST_WITH_MAGIC_2,
    LEAST_INDEX_BYTES,
    NO_CONVERSION,
    OLD_FORMATS,
    TIMESTAMP_TYPES,
)
from ballast.model.settings.values import (
    LONG_MAX,
    ConfigType,
    Parser,
    api_version,
    cleanup_policies,
    number,
    one_of,
    real,
    throttled_replicas,
)

_DAY_MS: Final = 24 * 60 * 60 * 1000


def _key(
    name: str, type_: ConfigType, default: str | int, broker_name: str | None, parse: Parser | None
) -> ConfigKey:
    row = honoured(name, type_, default, "", parse=parse, dynamic=True)
    return replace(row, broker_name=broker_name)


def _int(name: str, default: int, lowest: int, broker_name: str) -> ConfigKey:
    return _key(name, INT, default, broker_name, number(INT, lowest))


def _long(name: str, default: int, lowest: int | None, broker_name: str) -> ConfigKey:
    return _key(name, LONG, default, broker_name, number(LONG, lowest))


def _flag(name: str, default: str, broker_name: str) -> ConfigKey:
    return _key(name, BOOLEAN, default, broker_name, None)


ROWS: Final = (
    _key("cleanup.policy", LIST, "delete", "log.cleanup.policy", cleanup_policies),
    _key("compression.type", STRING, "producer", "compression.type", one_of(*CODECS)),
    _long("delete.retention.ms", _DAY_MS, 0, "log.cleaner.delete.retention.ms"),
    _long("file.delete.delay.ms", 60_000, 0, "log.segment.delete.delay.ms"),
    # 0 is legal in Kafka 2.8's table and means "flush each message", as 1 does.
    _long("flush.messages", LONG_MAX, 0, "log.flush.interval.messages"),
    _long("flush.ms", LONG_MAX, 0, "log.flush.interval.ms"),
    _key("follower.replication.throttled.replicas", LIST, "", None, throttled_replicas),
    _int("index.interval.bytes", 4096, 0, "log.index.interval.bytes"),
    _key("leader.replication.throttled.replicas", LIST, "", None, throttled_replicas),
    _long("max.compaction.lag.ms", LONG_MAX, 1, "log.cleaner.max.compaction.lag.ms"),
    _int("max.message.bytes", 1024 * 1024 + 12, 0, "message.max.bytes"),
    replace(
        without_effect(
            Support.HARMLESS,
            "message.downconversion.enable",
            BOOLEAN,
            "true",
            NO_CONVERSION,
        ),
        broker_name="log.message.downconversion.enable",
    ),
    replace(
        without_effect(
            Support.REFUSED,
            "message.format.version",
            STRING,
            "2.8-IV1",
            OLD_FORMATS,
            parse=api_version,
            honours=lambda release: release >= FIRST_WITH_MAGIC_2,
        ),
        broker_name="log.message.format.version",
    ),
    _long(
        "message.timestamp.difference.max.ms",
        LONG_MAX,
        0,
        "log.message.timestamp.difference.max.ms",
    ),
    _key(
        "message.timestamp.type",
        STRING,
        "CreateTime",
        "log.message.timestamp.type",
        one_of(*TIMESTAMP_TYPES),
    ),
    _key(
        "min.cleanable.dirty.ratio",
        DOUBLE,
        "0.5",
        "log.cleaner.min.cleanable.ratio",
        real(0, 1),
    ),
    _long("min.compaction.lag.ms", 0, 0, "log.cleaner.min.compaction.lag.ms"),
    _int("min.insync.replicas", 1, 1, "min.insync.replicas"),
    _flag("preallocate", "false", "log.preallocate"),
    _long("retention.bytes", -1, None, "log.retention.bytes"),
    _long("retention.ms", 7 * _DAY_MS, -1, "log.retention.ms"),
    _int("segment.bytes", 1024 * 1024 * 1024, 14, "log.segment.bytes"),
    _int("segment.index.bytes", 10 * 1024 * 1024, LEAST_INDEX_BYTES, "log.index.size.max.bytes"),
    _long("segment.jitter.ms", 0, 0, "log.roll.jitter.ms"),
    _long("segment.ms", 7 * _DAY_MS, 1, "log.roll.ms"),
    _flag("unclean.leader.election.enable", "false", "unclean.leader.election.enable"),
)
