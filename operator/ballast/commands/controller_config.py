"""A controller candidate's configuration, in Kafka's names where Kafka has one."""

from collections.abc import Mapping
from dataclasses import dataclass

from ballast.broker.settings import (
    INT,
    POSITIVE,
    ConfigType,
    integer,
    parse_host_port,
    parse_settings,
    properties_of,
    setting,
    zookeeper_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfig:
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
    num_partitions: int = setting(
        "num.partitions", ConfigType.INT, "1", "Partitions by default.", parse=POSITIVE
    )
    default_replication_factor: int = setting(
        "default.replication.factor",
        ConfigType.INT,
        "1",
        "Replicas by default.",
        parse=integer(1, 32767),
    )
    delete_topic_enable: bool = setting(
        "delete.topic.enable", ConfigType.BOOLEAN, "true", "Whether topics can be deleted."
    )
    unclean_leader_election_enable: bool = setting(
        "unclean.leader.election.enable",
        ConfigType.BOOLEAN,
        "false",
        "Whether a replica that is not in sync may be elected when no other lives.",
    )
    auto_leader_rebalance_enable: bool = setting(
        "auto.leader.rebalance.enable",
        ConfigType.BOOLEAN,
        "true",
        "Whether leadership goes back to preferred replicas by itself.",
    )
    leader_imbalance_check_interval_seconds: int = setting(
        "leader.imbalance.check.interval.seconds",
        ConfigType.LONG,
        "300",
        "How often it is looked whether leadership has strayed.",
        parse=POSITIVE,
    )
    leader_imbalance_per_broker_percentage: int = setting(
        "leader.imbalance.per.broker.percentage",
        ConfigType.INT,
        "10",
        "Share of a broker's partitions that others may lead before its leadership is given back.",
        parse=integer(0, 100),
    )

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> "tuple[ControllerConfig, list[str]]":
        """Return the configuration and the names that are not known; raises `ConfigError`."""
        values = parse_settings(cls, properties)
        known = {row.name for row in properties_of(cls).values()}
        return cls(**values), sorted(set(properties) - known)
