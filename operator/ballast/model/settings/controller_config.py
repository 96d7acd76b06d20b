"""The configuration that brokers and controller candidates share, under Kafka's own names."""

from dataclasses import dataclass

from ballast.model.settings.fields import setting


@dataclass(frozen=True, kw_only=True)
class ControllerConfig:
    """The properties that brokers and controller candidates share: topic defaults and elections.

    A broker describes them to its clients and a candidate acts on them; in Kafka both are one
    process. Without slots, so that a configuration can have it as one of several bases.
    """

    num_partitions: int = setting("num.partitions")
    default_replication_factor: int = setting("default.replication.factor")
    delete_topic_enable: bool = setting("delete.topic.enable")
    unclean_leader_election_enable: bool = setting("unclean.leader.election.enable")
    auto_leader_rebalance_enable: bool = setting("auto.leader.rebalance.enable")
    leader_imbalance_check_interval_seconds: int = setting(
        "leader.imbalance.check.interval.seconds"
    )
    leader_imbalance_per_broker_percentage: int = setting("leader.imbalance.per.broker.percentage")
    controller_socket_timeout_ms: int = setting("controller.socket.timeout.ms")
    connection_setup_timeout_ms: int = setting("socket.connection.setup.timeout.ms")
    connection_setup_timeout_max_ms: int = setting("socket.connection.setup.timeout.max.ms")
