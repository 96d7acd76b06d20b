"""The values in force: static properties, overridden by dynamic configs of brokers and topics.

The first of these that sets a value wins, as in Kafka: the topic, this broker, all brokers
(``<default>``), the properties file, the default. An invalid value in ZooKeeper counts as not set:
another program may have written it.
"""

import logging
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

from ballast.broker.config.config import PROPERTIES, BrokerConfig
from ballast.model.settings.keys import ConfigError, Synonym
from ballast.model.settings.table import TOPIC_SETTINGS
from ballast.model.settings.validation import InvalidTopicConfig, parse_topic_config
from ballast.replication.quota import ThrottledReplicas, parse_throttled_replicas
from ballast.storage.log.config import LOG_ROWS, LogConfig

log = logging.getLogger(__name__)


class ConfigSource(IntEnum):
    """The place that sets a value, by the codes of DescribeConfigs (key 32)."""

    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5


class ConfiguredValue(NamedTuple):
    """A value, and the place that sets it (DescribeConfigs' ConfigSynonym)."""

    name: str
    """The property's name in that place."""
    value: str
    source: ConfigSource
    unit_ms: int = 1
    """Milliseconds per unit of the value, where the property that is described has another unit."""

    @property
    def in_unit(self) -> str:
        """The value in the unit of the property that is described."""
        if self.unit_ms == 1:
            return self.value
        return str(Synonym(self.name, self.unit_ms).convert(int(self.value)))


_FLUSH_MS: Final = "flush.ms"


class DynamicConfigs:
    """The overrides that this broker has read, and the values in force."""

    def __init__(self, config: BrokerConfig) -> None:
        self.static = config
        """The properties that the broker was started with."""
        self._broker: dict[str, str] = {}
        self._default: dict[str, str] = {}
        self._topics: dict[str, dict[str, str]] = {}
        self._min_insync: dict[str, int] = {}
        self._least_flush_ms: int | None = None
        self._log_defaults: LogConfig | None = None

    # -- overrides as ZooKeeper has them --------------------------------------------------------

    def set_broker(self, values: Mapping[str, str]) -> None:
        """Replace the overrides of this broker."""
        own = {name: text for name, text in values.items() if not _is_for_all(name)}
        self._broker = _valid_broker_values(own)
        for name in values.keys() - own.keys():
            log.warning("broker config %r is ignored: it can be set for all brokers only", name)
        self._drop_derived_values()

    def set_default(self, values: Mapping[str, str]) -> None:
        """Replace the overrides of all brokers."""
        self._default = _valid_broker_values(values)
        self._drop_derived_values()

    def _drop_derived_values(self) -> None:
        self._min_insync.clear()
        self._least_flush_ms = None
        self._log_defaults = None

    def set_topic(self, topic: str, values: Mapping[str, str]) -> None:
        """Replace the overrides of a topic."""
        self._topics[topic] = valid_topic_values(topic, values)
        self._min_insync.pop(topic, None)
        self._least_flush_ms = None

    def forget_topic(self, topic: str) -> None:
        """Drop a topic that is no longer hosted here."""
        self._topics.pop(topic, None)
        self._min_insync.pop(topic, None)
        self._least_flush_ms = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics whose overrides have been read, sorted."""
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

    def _value_or_synonym(self, name: str) -> Any:
        """Return the value in force, that of the first synonym if the property is not set."""
        value = self.broker_value(name)
        if value is not None:
            return value
        for synonym in PROPERTIES[name].synonyms:
            value = self.broker_value(synonym.name)
            if value is not None:
                return synonym.convert(value)
        return None

    def min_insync_replicas(self, topic: str) -> int:
        """Return how many replicas must be in sync for acks=all."""
        replicas = self._min_insync.get(topic)
        if replicas is None:
            text = self._topics.get(topic, {}).get("min.insync.replicas")
            replicas = int(text) if text else int(self.broker_value("min.insync.replicas"))
            self._min_insync[topic] = replicas
        return replicas

    def log_config(self, topic: str) -> LogConfig:
        """Return the configuration of a topic's logs."""
        if self._log_defaults is None:
            self._log_defaults = LogConfig(
                **{
                    field: self._value_or_synonym(row.broker_name or row.name)
                    for field, row in LOG_ROWS.items()
                }
            )
        return self._log_defaults.with_overrides(self._topics.get(topic, {}))

    @property
    def least_flush_ms(self) -> int:
        """The shortest age at which records of any topic are flushed."""
        if self._least_flush_ms is None:
            overrides = (values.get(_FLUSH_MS) for values in self._topics.values())
            ages_ms = [int(text) for text in overrides if text is not None]
            self._least_flush_ms = min([self._value_or_synonym("log.flush.interval.ms"), *ages_ms])
        return self._least_flush_ms

    def throttled_replicas(self, topic: str, name: str) -> ThrottledReplicas:
        """Return the list ``name`` (leader's or follower's) of a topic."""
        return parse_throttled_replicas(self._topics.get(topic, {}).get(name, ""))

    # -- where values come from -----------------------------------------------------------------

    def broker_values(self, name: str) -> Iterator[ConfiguredValue]:
        """Yield where a broker's property is set, nearest first; a default comes last."""
        for overrides, source in (
            (self._broker, ConfigSource.DYNAMIC_BROKER_CONFIG),
            (self._default, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
            (self.static.originals, ConfigSource.STATIC_BROKER_CONFIG),
        ):
            if name in overrides:
                yield ConfiguredValue(name, overrides[name], source)
        default = PROPERTIES[name].default
        if default is not None:
            yield ConfiguredValue(name, default, ConfigSource.DEFAULT_CONFIG)

    def topic_values(self, overrides: Mapping[str, str], name: str) -> Iterator[ConfiguredValue]:
        """Yield where a topic's property is set, nearest first, given the topic's overrides."""
        if name in overrides:
            yield ConfiguredValue(name, overrides[name], ConfigSource.DYNAMIC_TOPIC_CONFIG)
        row = TOPIC_SETTINGS[name]
        if row.broker_name is None or row.broker_name not in PROPERTIES:
            default = row.default or ""
            yield ConfiguredValue(row.broker_name or name, default, ConfigSource.DEFAULT_CONFIG)
            return
        yield from self.broker_values(row.broker_name)
        for synonym in PROPERTIES[row.broker_name].synonyms:
            for configured in self.broker_values(synonym.name):
                yield configured._replace(unit_ms=synonym.unit_ms)


def valid_topic_values(topic: str, values: Mapping[str, str]) -> dict[str, str]:
    """Return those of a topic's overrides that are valid; log the others."""
    valid = {}
    for name, text in values.items():
        reason = _topic_refusal(name, text)
        if reason is None:
            valid[name] = text
        else:
            log.warning("config %r of topic %s is ignored: %s", name, topic, reason)
    return valid


def topic_values_in_force(values: Mapping[str, str]) -> dict[str, str]:
    """Return those of a topic's overrides that take effect."""
    return {name: text for name, text in values.items() if _topic_refusal(name, text) is None}


def _topic_refusal(name: str, text: str) -> str | None:
    try:
        parse_topic_config(name, text)
    except InvalidTopicConfig as error:
        return str(error)
    return None


def _valid_broker_values(values: Mapping[str, str]) -> dict[str, str]:
    valid = {}
    for name, text in values.items():
        reason = _broker_refusal(name, text)
        if reason is None:
            valid[name] = text
        else:
            log.warning("broker config %r is ignored: %s", name, reason)
    return valid


def _is_for_all(name: str) -> bool:
    return name in PROPERTIES and PROPERTIES[name].for_all_brokers


def _broker_refusal(name: str, text: str) -> str | None:
    row = PROPERTIES.get(name)
    if row is None or not row.dynamic:
        return "cannot be set while a broker runs"
    try:
        row.value_of(text)
    except ConfigError as error:
        return error.reason
    return None
