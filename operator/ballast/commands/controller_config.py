"""A controller candidate's configuration, in Kafka's names where Kafka has one."""

from collections.abc import Mapping
from dataclasses import dataclass

from ballast.broker.controller_settings import ControllerSettings
from ballast.broker.settings import (
    INT,
    POSITIVE,
    ConfigType,
    parse_host_port,
    parse_settings,
    properties_of,
    setting,
    zookeeper_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfig(ControllerSettings):
    """The properties of one candidate, parsed. Times are milliseconds."""

    controller_id: int = setting(
        "controller.id", ConfigType.INT, None, "This candidate's id, unique.", parse=INT
    )
    listener: tuple[str, int] = setting(
        "controller.listener",
        ConfigType.STRING,
        None,
        "host:port on which brokers reach the candidate when it is the controller.",
        parse=parse_host_port,
    )
    advertised_listener: tuple[str, int] | None = setting(
        "controller.advertised.listener",
        ConfigType.STRING,
        None,
        "host:port that brokers are told; by default that of controller.listener.",
        parse=parse_host_port,
        optional=True,
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
        "How long ZooKeeper waits for a silent candidate before another is elected.",
        parse=POSITIVE,
    )
    http_listener: tuple[str, int] | None = setting(
        "ballast.http.listener",
        ConfigType.STRING,
        None,
        "host:port of /healthz, /readyz and /metrics; not served when absent.",
        parse=parse_host_port,
        optional=True,
    )

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> "tuple[ControllerConfig, list[str]]":
        """Return the configuration and the names that are not known; raises `ConfigError`."""
        values = parse_settings(cls, properties)
        known = {row.name for row in properties_of(cls).values()}
        return cls(**values), sorted(set(properties) - known)
