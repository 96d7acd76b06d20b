"""A broker's configuration, in Kafka's names.

Each of `BrokerConfig`'s fields names a row of the table of settings (`ballast.model.settings`), so
that the properties file, the flags and DescribeConfigs read from one place.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ballast.broker.config.controller_config import ControllerSettings
from ballast.broker.config.disk_config import DiskSettings
from ballast.broker.config.group_config import GroupSettings
from ballast.broker.config.load_config import LoadSettings
from ballast.broker.config.log_config import LogSettings
from ballast.broker.config.properties import parse_property, parse_settings, properties_of, setting
from ballast.broker.config.synonyms import with_synonyms
from ballast.broker.errors import ConfigError
from ballast.model.brokers import Endpoint
from ballast.model.settings.judging import unheeded
from ballast.model.settings.keys import ConfigKey
from ballast.model.settings.table import BROKER_SETTINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig(LogSettings, DiskSettings, GroupSettings, LoadSettings, ControllerSettings):
    """The properties of one broker, parsed. Times are milliseconds, sizes bytes."""

    broker_id: int = setting("broker.id")
    log_dirs: tuple[str, ...] = setting("log.dirs")
    zookeeper_connect: str = setting("zookeeper.connect")
    zookeeper_session_timeout_ms: int = setting("zookeeper.session.timeout.ms")
    zookeeper_connection_timeout_ms: int | None = setting(
        "zookeeper.connection.timeout.ms", optional=True
    )
    listeners: tuple[Endpoint, ...] = setting("listeners")
    advertised_listeners: tuple[Endpoint, ...] | None = setting(
        "advertised.listeners", optional=True
    )
    http_listener: tuple[str, int] | None = setting("ballast.http.listener", optional=True)
    rack: str | None = setting("broker.rack", optional=True)
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

    given: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The properties as they were written, for DescribeConfigs: those not in it are defaults."""

    @property
    def advertised_endpoints(self) -> tuple[Endpoint, ...]:
        """The addresses that the broker registers."""
        return self.advertised_listeners or self.listeners

    @classmethod
    def from_properties(
        cls, properties: Mapping[str, str]
    ) -> "tuple[BrokerConfig, Mapping[str, str]]":
        """Return the configuration, and why which of the properties have no effect.

        Raises `ConfigError`, naming the property, for a bad value, one that is missing, and one
        that a broker must not be without when it was asked for (`Support.REFUSED`).
        """
        without_effect = _judged(properties)
        values = parse_settings(cls, with_synonyms(properties))
        given = {name: text for name, text in properties.items() if name in PROPERTIES}
        config = cls(**values, given=given)
        _check(config)
        return config, without_effect

    def value(self, name: str) -> Any:
        """Return the parsed value of the property ``name``."""
        return getattr(self, _FIELDS[name])


def _judged(properties: Mapping[str, str]) -> Mapping[str, str]:
    for name, text in properties.items():
        if name in BROKER_SETTINGS:
            parse_property(BROKER_SETTINGS[name], text)
    found = unheeded(properties)
    for name, reason in found.refused.items():
        raise ConfigError(name, f"this value is not honoured: {reason}")
    return found.reported


def _check(config: BrokerConfig) -> None:
    """Raise `ConfigError` for what no broker could carry out."""
    if config.message_max_bytes > config.socket_request_max_bytes:
        raise ConfigError("message.max.bytes", "no request of socket.request.max.bytes holds it")
    if config.group_min_session_timeout_ms > config.group_max_session_timeout_ms:
        raise ConfigError("group.min.session.timeout.ms", "above group.max.session.timeout.ms")
    if 0 < config.queued_max_request_bytes < config.socket_request_max_bytes:
        raise ConfigError("queued.max.request.bytes", "below socket.request.max.bytes")
    if not config.max_connections_per_ip and not config.max_connections_per_ip_overrides:
        raise ConfigError("max.connections.per.ip", "0, and max.connections.per.ip.overrides empty")


_FIELDS: Final[Mapping[str, str]] = {
    row.name: field_name for field_name, row in properties_of(BrokerConfig).items()
}

PROPERTIES: Final[Mapping[str, ConfigKey]] = {
    row.name: row for row in properties_of(BrokerConfig).values()
}
"""Every property that a broker honours, by name."""
