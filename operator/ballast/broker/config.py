"""A broker's configuration, in Kafka's names.

`BrokerConfig`'s fields are the table: each carries its property's name, type, default and doc,
so that the properties file, the flags and DescribeConfigs read from one place.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ballast.broker.controller_settings import ControllerSettings
from ballast.broker.errors import ConfigError
from ballast.broker.group_settings import GroupSettings
from ballast.broker.load_settings import LoadSettings
from ballast.broker.log_settings import LogSettings
from ballast.broker.settings import (
    INT,
    LONG,
    POSITIVE,
    POSITIVE_LONG,
    UNLIMITED,
    ConfigType,
    Property,
    integer,
    listeners_of,
    parse_host_port,
    parse_settings,
    properties_of,
    setting,
    zookeeper_of,
)
from ballast.model.brokers import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig(LogSettings, GroupSettings, LoadSettings, ControllerSettings):
    """The properties of one broker, parsed. Times are milliseconds, sizes bytes."""

    broker_id: int = setting(
        "broker.id", ConfigType.INT, None, "This broker's id, unique in its cluster.", parse=INT
    )
    log_dirs: tuple[str, ...] = setting(
        "log.dirs", ConfigType.LIST, None, "Folders that hold the logs, comma separated."
    )
    zookeeper_connect: str = setting(
        "zookeeper.connect",
        ConfigType.STRING,
        None,
        "ZooKeeper's host:port pairs, comma separated, with an optional /chroot.",
        parse=zookeeper_of,
    )
    zookeeper_session_timeout_ms: int = setting(
        "zookeeper.session.timeout.ms",
        ConfigType.INT,
        "18000",
        "How long ZooKeeper waits for a silent broker before it counts as dead.",
        parse=POSITIVE,
    )
    zookeeper_connection_timeout_ms: int | None = setting(
        "zookeeper.connection.timeout.ms",
        ConfigType.INT,
        None,
        "How long a broker that starts waits for ZooKeeper; one session's timeout by default.",
        parse=POSITIVE,
        optional=True,
    )
    listeners: tuple[Endpoint, ...] = setting(
        "listeners",
        ConfigType.STRING,
        "PLAINTEXT://:9092",
        "The address to listen on.",
        parse=listeners_of,
    )
    advertised_listeners: tuple[Endpoint, ...] | None = setting(
        "advertised.listeners",
        ConfigType.STRING,
        None,
        "The address that clients are told; by default that of listeners.",
        parse=listeners_of,
        optional=True,
    )
    http_listener: tuple[str, int] | None = setting(
        "ballast.http.listener",
        ConfigType.STRING,
        None,
        "host:port of /healthz, /readyz and /metrics; not served when absent.",
        parse=parse_host_port,
        optional=True,
    )
    rack: str | None = setting(
        "broker.rack", ConfigType.STRING, None, "The broker's failure domain.", optional=True
    )
    min_insync_replicas: int = setting(
        "min.insync.replicas",
        ConfigType.INT,
        "1",
        "In-sync replicas without which acks=all is refused.",
        parse=POSITIVE,
        dynamic=True,
    )
    auto_create_topics_enable: bool = setting(
        "auto.create.topics.enable",
        ConfigType.BOOLEAN,
        "true",
        "Whether a topic is created when a client asks for its metadata.",
    )
    replica_lag_time_max_ms: int = setting(
        "replica.lag.time.max.ms",
        ConfigType.LONG,
        "30000",
        "A follower that has not caught up for so long leaves the ISR.",
        parse=POSITIVE_LONG,
    )
    replica_fetch_wait_max_ms: int = setting(
        "replica.fetch.wait.max.ms",
        ConfigType.INT,
        "500",
        "How long a leader may hold a follower's fetch back.",
        parse=INT,
    )
    replica_fetch_min_bytes: int = setting(
        "replica.fetch.min.bytes",
        ConfigType.INT,
        "1",
        "Bytes that a leader gathers before it answers a follower.",
        parse=INT,
    )
    replica_fetch_max_bytes: int = setting(
        "replica.fetch.max.bytes",
        ConfigType.INT,
        "1048576",
        "Bytes per partition that a follower asks for.",
        parse=POSITIVE,
    )
    replica_fetch_response_max_bytes: int = setting(
        "replica.fetch.response.max.bytes",
        ConfigType.INT,
        "10485760",
        "Bytes per fetch that a follower asks for.",
        parse=POSITIVE,
    )
    replica_fetch_backoff_ms: int = setting(
        "replica.fetch.backoff.ms",
        ConfigType.INT,
        "1000",
        "Wait of a follower after a fetch that failed.",
        parse=INT,
    )
    replica_socket_timeout_ms: int = setting(
        "replica.socket.timeout.ms",
        ConfigType.INT,
        "30000",
        "How long a follower waits for its leader's answer.",
        parse=POSITIVE,
    )
    high_watermark_checkpoint_interval_ms: int = setting(
        "replica.high.watermark.checkpoint.interval.ms",
        ConfigType.LONG,
        "5000",
        "How often high watermarks are saved to disk.",
        parse=POSITIVE_LONG,
    )
    num_replica_fetchers: int = setting(
        "num.replica.fetchers",
        ConfigType.INT,
        "1",
        "Fetchers per leading broker; partitions are spread over them.",
        parse=integer(1, 64),
    )
    socket_request_max_bytes: int = setting(
        "socket.request.max.bytes",
        ConfigType.INT,
        "104857600",
        "Largest request that is read.",
        parse=POSITIVE,
    )
    connections_max_idle_ms: int = setting(
        "connections.max.idle.ms",
        ConfigType.LONG,
        "600000",
        "A connection that is idle for so long is closed.",
        parse=POSITIVE_LONG,
    )
    max_connections: int = setting(
        "max.connections",
        ConfigType.INT,
        "2147483647",
        "Connections held at once.",
        parse=INT,
    )
    max_connections_per_ip: int = setting(
        "max.connections.per.ip",
        ConfigType.INT,
        "2147483647",
        "Connections held at once from one address.",
        parse=INT,
    )
    controlled_shutdown_enable: bool = setting(
        "controlled.shutdown.enable",
        ConfigType.BOOLEAN,
        "true",
        "Whether leadership is handed over before the broker stops.",
    )
    controlled_shutdown_max_retries: int = setting(
        "controlled.shutdown.max.retries",
        ConfigType.INT,
        "3",
        "Attempts to hand leadership over.",
        parse=INT,
    )
    controlled_shutdown_retry_backoff_ms: int = setting(
        "controlled.shutdown.retry.backoff.ms",
        ConfigType.LONG,
        "5000",
        "Wait between two such attempts.",
        parse=LONG,
    )
    controlled_shutdown_timeout_ms: int = setting(
        "ballast.controlled.shutdown.timeout.ms",
        ConfigType.LONG,
        "90000",
        "How long handing leadership over may take in all; then the broker stops without.",
        parse=LONG,
    )
    leader_throttled_rate: int = setting(
        "leader.replication.throttled.rate",
        ConfigType.LONG,
        str(UNLIMITED),
        "Bytes per second that throttled replicas may be read with here (KIP-73).",
        parse=POSITIVE_LONG,
        dynamic=True,
    )
    follower_throttled_rate: int = setting(
        "follower.replication.throttled.rate",
        ConfigType.LONG,
        str(UNLIMITED),
        "Bytes per second that throttled replicas here may fetch with (KIP-73).",
        parse=POSITIVE_LONG,
        dynamic=True,
    )

    log_dirs_throttled_rate: int = setting(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        ConfigType.LONG,
        str(UNLIMITED),
        "Bytes per second that may be copied between log directories here (KIP-113).",
        parse=POSITIVE_LONG,
        dynamic=True,
    )

    given: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The properties as they were written, for DescribeConfigs: those not in it are defaults."""

    @property
    def advertised_endpoints(self) -> tuple[Endpoint, ...]:
        """The addresses that the broker registers."""
        return self.advertised_listeners or self.listeners

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> "tuple[BrokerConfig, list[str]]":
        """Return the configuration and the names that are not known.

        Raises `ConfigError`, naming the property, for a bad value or one that is missing.
        """
        values = parse_settings(cls, properties)
        unknown = sorted(name for name in properties if name not in PROPERTIES)
        given = {name: text for name, text in properties.items() if name in PROPERTIES}
        config = cls(**values, given=given)
        _check(config)
        return config, unknown

    def value(self, name: str) -> Any:
        """Return the parsed value of the property ``name``."""
        return getattr(self, _FIELDS[name])


def _check(config: BrokerConfig) -> None:
    """Raise `ConfigError` for what no broker could carry out."""
    if config.message_max_bytes > config.socket_request_max_bytes:
        raise ConfigError("message.max.bytes", "no request of socket.request.max.bytes holds it")
    if config.group_min_session_timeout_ms > config.group_max_session_timeout_ms:
        raise ConfigError("group.min.session.timeout.ms", "above group.max.session.timeout.ms")


_FIELDS: Final[Mapping[str, str]] = {
    row.name: field_name for field_name, row in properties_of(BrokerConfig).items()
}

PROPERTIES: Final[Mapping[str, Property]] = {
    row.name: row for row in properties_of(BrokerConfig).values()
}
"""Every property that a broker knows, by name."""
