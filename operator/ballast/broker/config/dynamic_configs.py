"""The settings in force: static ones, with what was set on brokers and topics while they run.

Nearest wins (Kafka): topic, this broker, all brokers (``<default>``), properties file, default.
A value in ZooKeeper that cannot be used counts as not set, whoever wrote it.
"""

import logging
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

from ballast.broker.config.config import PROPERTIES, BrokerConfig
from ballast.broker.config.properties import parse_property
from ballast.broker.errors import ConfigError
from ballast.model.settings.judging import InvalidTopicConfig, check_topic_config
from ballast.model.settings.table import TOPIC_SETTINGS
from ballast.replication.quota import ThrottledReplicas, parse_throttled_replicas
from ballast.storage.log.config import LogConfig

log = logging.getLogger(__name__)


class ConfigSource(IntEnum):
    """DescribeConfigs' (key 32) names for where a value was set."""

    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5


class Setting(NamedTuple):
    """One place where a value is set."""

    name: str
    """The property's name in that place."""
    value: str
    source: ConfigSource
    unit_ms: int = 1
    """What one of the value is, in the unit of the property asked for: hours stand for ms too."""

    @property
    def in_unit(self) -> str:
        """The value in the unit of the property asked for; a negative number stays unlimited."""
        if self.unit_ms == 1:
            return self.value
        return str(_in_ms(int(self.value), self.unit_ms))


FLUSH_MS: Final = "flush.ms"

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS

_COARSER: Mapping[str, tuple[tuple[str, int], ...]] = {
    "log.retention.ms": (
        ("log.retention.minutes", _MINUTE_MS),
        ("log.retention.hours", _HOUR_MS),
    ),
    "log.roll.ms": (("log.roll.hours", _HOUR_MS),),
    "log.roll.jitter.ms": (("log.roll.jitter.hours", _HOUR_MS),),
    "log.flush.interval.ms": (("log.flush.scheduler.interval.ms", 1),),
}
"""Properties that stand in for one that is not set, and their units in ms."""


def _in_ms(value: int, unit_ms: int) -> int:
    return value * unit_ms if value >= 0 else -1


class DynamicConfigs:
    """The overrides known to this broker, and the values that they lead to."""

    def __init__(self, config: BrokerConfig) -> None:
        self.static = config
        """The properties that the broker was started with."""
        self._broker: dict[str, str] = {}
        self._default: dict[str, str] = {}
        self._topics: dict[str, dict[str, str]] = {}
        self._min_insync: dict[str, int] = {}
        self._least_flush_ms: int | None = None

    # -- overrides as ZooKeeper has them --------------------------------------------------------

    def set_broker(self, values: Mapping[str, str]) -> None:
        """Replace the overrides of this broker."""
        own = {name: text for name, text in values.items() if not _is_for_all(name)}
        self._broker = _usable_broker_values(own)
        for name in values.keys() - own.keys():
            log.warning("broker config %r is ignored: it can be set for all brokers only", name)
        self._min_insync.clear()
        self._least_flush_ms = None

    def set_default(self, values: Mapping[str, str]) -> None:
        """Replace the overrides of all brokers."""
        self._default = _usable_broker_values(values)
        self._min_insync.clear()
        self._least_flush_ms = None

    def set_topic(self, topic: str, values: Mapping[str, str]) -> None:
        """Replace the overrides of a topic."""
        self._topics[topic] = usable_topic_values(topic, values)
        self._min_insync.pop(topic, None)
        self._least_flush_ms = None

    def forget_topic(self, topic: str) -> None:
        """Drop a topic that is no longer hosted here."""
        self._topics.pop(topic, None)
        self._min_insync.pop(topic, None)
        self._least_flush_ms = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics whose overrides are known, sorted."""
        return tuple(sorted(self._topics))

    def knows_topic(self, topic: str) -> bool:
        """Whether the topic's overrides have been read."""
        return topic in self._topics

    # -- values in force ------------------------------------------------------------------------

    def broker_value(self, name: str) -> Any:
        """Return the value in force of a broker's property."""
        for overrides in (self._broker, self._default):
            if name in overrides:
                return PROPERTIES[name].parse(overrides[name])
        return self.static.value(name)

    def _time_ms(self, name: str) -> int:
        """Return a time that may be given in coarser units too."""
        for candidate, unit_ms in ((name, 1), *_COARSER[name]):
            value = self.broker_value(candidate)
            if value is not None:
                return _in_ms(value, unit_ms)
        raise AssertionError(f"{name}: the coarsest has a default")

    def min_insync_replicas(self, topic: str) -> int:
        """Return how many replicas must be in sync for acks=all."""
        known = self._min_insync.get(topic)
        if known is None:
            text = self._topics.get(topic, {}).get("min.insync.replicas")
            known = int(text) if text else int(self.broker_value("min.insync.replicas"))
            self._min_insync[topic] = known
        return known

    def log_config(self, topic: str) -> LogConfig:
        """Return the settings of a topic's logs."""
        return LogConfig(
            segment_bytes=self.broker_value("log.segment.bytes"),
            segment_ms=self._time_ms("log.roll.ms"),
            segment_jitter_ms=self._time_ms("log.roll.jitter.ms"),
            segment_index_bytes=self.broker_value("log.index.size.max.bytes"),
            preallocate=self.broker_value("log.preallocate"),
            compression_type=self.broker_value("compression.type"),
            timestamp_type=self.broker_value("log.message.timestamp.type"),
            timestamp_difference_max_ms=self.broker_value(
                "log.message.timestamp.difference.max.ms"
            ),
            flush_messages=self.broker_value("log.flush.interval.messages"),
            flush_ms=self._time_ms("log.flush.interval.ms"),
            index_interval_bytes=self.broker_value("log.index.interval.bytes"),
            max_message_bytes=self.broker_value("message.max.bytes"),
            cleanup_policy=self.broker_value("log.cleanup.policy"),
            retention_bytes=self.broker_value("log.retention.bytes"),
            retention_ms=self._time_ms("log.retention.ms"),
            min_cleanable_dirty_ratio=self.broker_value("log.cleaner.min.cleanable.ratio"),
            min_compaction_lag_ms=self.broker_value("log.cleaner.min.compaction.lag.ms"),
            max_compaction_lag_ms=self.broker_value("log.cleaner.max.compaction.lag.ms"),
            delete_retention_ms=self.broker_value("log.cleaner.delete.retention.ms"),
            file_delete_delay_ms=self.broker_value("log.segment.delete.delay.ms"),
            producer_id_expiration_ms=self.static.producer_id_expiration_ms,
        ).with_overrides(self._topics.get(topic, {}))

    @property
    def least_flush_ms(self) -> int:
        """The shortest age at which records of any known topic are flushed."""
        if self._least_flush_ms is None:
            of_topics = (values.get(FLUSH_MS) for values in self._topics.values())
            given = [int(text) for text in of_topics if text is not None]
            self._least_flush_ms = min([self._time_ms("log.flush.interval.ms"), *given])
        return self._least_flush_ms

    def throttled_replicas(self, topic: str, name: str) -> ThrottledReplicas:
        """Return the list ``name`` (leader's or follower's) of a topic."""
        return parse_throttled_replicas(self._topics.get(topic, {}).get(name, ""))

    # -- where values come from -----------------------------------------------------------------

    def broker_settings(self, name: str) -> Iterator[Setting]:
        """Yield where a broker's property is set, nearest first; a default comes last."""
        if name in self._broker:
            yield Setting(name, self._broker[name], ConfigSource.DYNAMIC_BROKER_CONFIG)
        if name in self._default:
            yield Setting(name, self._default[name], ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)
        if name in self.static.given:
            yield Setting(name, self.static.given[name], ConfigSource.STATIC_BROKER_CONFIG)
        default = PROPERTIES[name].default
        if default is not None:
            yield Setting(name, default, ConfigSource.DEFAULT_CONFIG)

    def topic_settings(self, values: Mapping[str, str], name: str) -> Iterator[Setting]:
        """Yield where a topic's property is set, given the topic's own ``values``."""
        if name in values:
            yield Setting(name, values[name], ConfigSource.DYNAMIC_TOPIC_CONFIG)
        row = TOPIC_SETTINGS[name]
        if row.broker_name is not None and row.broker_name in PROPERTIES:
            yield from self.broker_settings(row.broker_name)
            for coarser, unit_ms in _COARSER.get(row.broker_name, ()):
                for setting in self.broker_settings(coarser):
                    yield setting._replace(unit_ms=unit_ms)
        else:
            default = row.default or ""
            yield Setting(row.broker_name or name, default, ConfigSource.DEFAULT_CONFIG)


def usable_topic_values(topic: str, values: Mapping[str, str]) -> dict[str, str]:
    """Return those of a topic's overrides that are known and legal; log the others."""
    usable = {}
    for name, text in values.items():
        reason = _topic_refusal(name, text)
        if reason is None:
            usable[name] = text
        else:
            log.warning("config %r of topic %s is ignored: %s", name, topic, reason)
    return usable


def topic_values_in_force(values: Mapping[str, str]) -> dict[str, str]:
    """Return those of a topic's overrides that brokers go by."""
    return {name: text for name, text in values.items() if _topic_refusal(name, text) is None}


def _topic_refusal(name: str, text: str) -> str | None:
    try:
        check_topic_config(name, text)
    except InvalidTopicConfig as error:
        return str(error)
    return None


def _usable_broker_values(values: Mapping[str, str]) -> dict[str, str]:
    usable = {}
    for name, text in values.items():
        reason = _broker_refusal(name, text)
        if reason is None:
            usable[name] = text
        else:
            log.warning("broker config %r is ignored: %s", name, reason)
    return usable


def _is_for_all(name: str) -> bool:
    return name in PROPERTIES and PROPERTIES[name].for_all_brokers


def _broker_refusal(name: str, text: str) -> str | None:
    row = PROPERTIES.get(name)
    if row is None or not row.dynamic:
        return "cannot be set while a broker runs"
    try:
        parse_property(row, text)
    except ConfigError as error:
        return error.reason
    return None
