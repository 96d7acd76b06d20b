"""A broker's configuration, in Kafka's names.

Each field of `BrokerConfig` is a row of the table of settings (`ballast.model.settings`), which the
properties file, command line overrides and DescribeConfigs share.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ballast.broker.config.sections import BrokerLogConfig, GroupConfig, LoadConfig
from ballast.broker.config.synonyms import with_synonyms
from ballast.model.brokers import Endpoint
from ballast.model.settings.controller_config import ControllerConfig
from ballast.model.settings.fields import parse_settings, rows_of, setting
from ballast.model.settings.keys import ConfigError, ConfigKey
from ballast.model.settings.table import BROKER_SETTINGS
from ballast.model.settings.validation import ineffective_properties


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig(BrokerLogConfig, GroupConfig, LoadConfig, ControllerConfig):
    """The properties of one broker, parsed. Times are milliseconds, sizes bytes."""

    broker_id: int = setting("broker.id")
    log_dirs: tuple[str, ...] = setting("log.dirs")
    zookeeper_connect: str = setting("zookeeper.connect")
    zookeeper_session_timeout_ms: int = setting("zookeeper.session.timeout.ms")
    zookeeper_connection_timeout_ms: int | None = setting("zookeeper.connection.timeout.ms")
    listeners: tuple[Endpoint, ...] = setting("listeners")
    advertised_listeners: tuple[Endpoint, ...] | None = setting("advertised.listeners")
    http_listener: tuple[str, int] | None = setting("ballast.http.listener")
    rack: str | None = setting("broker.rack")
    min_insync_replicas: int = setting("min.insync.replicas")
    auto_create_topics_enable: bool = setting("auto.create.topics.enable")
    replica_lag_time_max_ms: int = setting("replica.lag.time.max.ms")
    replica_fetch_wait_max_ms: int = setting("replica.fetch.wait.max.ms")
    replica_fetch_min_bytes: int = setting("replica.fetch.min.bytes")
    replica_fetch_max_bytes: int = setting("replica.fetch.max.bytes")
    replica_fetch_response_max_bytes: int = setting("replica.fetch.response.max.bytes")
    replica_fetch_backoff_ms: int = setting("replica.fetch.backoff.ms")
    replica_socket_timeout_ms: int = setting("replica.socket.timeout.ms")
    high_watermark_checkpoint_interval_ms: int = setting(
        "replica.high.watermark.checkpoint.interval.ms"
    )
    num_replica_fetchers: int = setting("num.replica.fetchers")
    socket_request_max_bytes: int = setting("socket.request.max.bytes")
    connections_max_idle_ms: int = setting("connections.max.idle.ms")
    max_connections: int = setting("max.connections")
    max_connections_per_ip: int = setting("max.connections.per.ip")
    max_connections_per_ip_overrides: tuple[tuple[str, int], ...] = setting(
        "max.connections.per.ip.overrides"
    )
    connections_per_s: int = setting("max.connection.creation.rate")
    queued_max_request_bytes: int = setting("queued.max.request.bytes")
    request_timeout_ms: int = setting("request.timeout.ms")
    controlled_shutdown_enable: bool = setting("controlled.shutdown.enable")
    controlled_shutdown_max_retries: int = setting("controlled.shutdown.max.retries")
    controlled_shutdown_retry_backoff_ms: int = setting("controlled.shutdown.retry.backoff.ms")
    controlled_shutdown_timeout_ms: int = setting("ballast.controlled.shutdown.timeout.ms")
    leader_throttled_rate: int = setting("leader.replication.throttled.rate")
    follower_throttled_rate: int = setting("follower.replication.throttled.rate")

    log_dirs_throttled_rate: int = setting("replica.alter.log.dirs.io.max.bytes.per.second")

    fetch_max_bytes: int = setting("fetch.max.bytes")
    fetch_session_cache_slots: int = setting("max.incremental.fetch.session.cache.slots")
    quota_window_num: int = setting("replication.quota.window.num")
    quota_window_size_seconds: int = setting("replication.quota.window.size.seconds")
    log_dirs_quota_window_num: int = setting("alter.log.dirs.replication.quota.window.num")
    log_dirs_quota_window_size_seconds: int = setting(
        "alter.log.dirs.replication.quota.window.size.seconds"
    )
    min_receive_rate: int = setting("ballast.connections.min.receive.rate")
    write_stall_timeout_ms: int = setting("ballast.connections.write.stall.timeout.ms")

    originals: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The properties as they were written, for DescribeConfigs; all others have their defaults."""

    @property
    def advertised_endpoints(self) -> tuple[Endpoint, ...]:
        """The addresses that the broker registers."""
        return self.advertised_listeners or self.listeners

    @classmethod
    def from_properties(
        cls, properties: Mapping[str, str]
    ) -> "tuple[BrokerConfig, Mapping[str, str]]":
        """Return the configuration, and the properties without effect, each with the reason.

        Raises `ConfigError`, which names the property, for an invalid value, a missing property,
        and a value that no broker starts with (`Support.REFUSED`).
        """
        without_effect = _check_support(properties)
        values = parse_settings(cls, with_synonyms(properties))
        originals = {name: text for name, text in properties.items() if name in PROPERTIES}
        config = cls(**values, originals=originals)
        _check(config)
        return config, without_effect

    def value(self, name: str) -> Any:
        """Return the parsed value of the property ``name``."""
        return getattr(self, _FIELDS[name])


def _check_support(properties: Mapping[str, str]) -> Mapping[str, str]:
    """Return the properties without effect; raises `ConfigError` for invalid and refused ones."""
    for name, text in properties.items():
        if name in BROKER_SETTINGS:
            BROKER_SETTINGS[name].value_of(text)
    ineffective = ineffective_properties(properties)
    for name, reason in ineffective.refused.items():
        raise ConfigError(name, f"this value is not honoured: {reason}")
    return ineffective.reported


def _check(config: BrokerConfig) -> None:
    """Raise `ConfigError` for properties that contradict one another."""
    if config.message_max_bytes > config.socket_request_max_bytes:
        raise ConfigError("message.max.bytes", "no request of socket.request.max.bytes holds it")
    if config.group_min_session_timeout_ms > config.group_max_session_timeout_ms:
        raise ConfigError("group.min.session.timeout.ms", "above group.max.session.timeout.ms")
    if 0 < config.queued_max_request_bytes < config.socket_request_max_bytes:
        raise ConfigError("queued.max.request.bytes", "below socket.request.max.bytes")
    if not config.max_connections_per_ip and not config.max_connections_per_ip_overrides:
        raise ConfigError("max.connections.per.ip", "0, and max.connections.per.ip.overrides empty")


_FIELDS: Final[Mapping[str, str]] = {
    row.name: field_name for field_name, row in rows_of(BrokerConfig).items()
}

PROPERTIES: Final[Mapping[str, ConfigKey]] = {
    row.name: row for row in rows_of(BrokerConfig).values()
}
"""Every property that a broker honours, by name."""
