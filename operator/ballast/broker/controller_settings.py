"""The properties that brokers and controller candidates share: defaults of topics, and elections.

A broker shows them to its clients, a candidate acts on them; in Kafka both are one process.
"""

from dataclasses import dataclass

from ballast.broker.settings import POSITIVE, ConfigType, integer, setting


@dataclass(frozen=True, kw_only=True)
class ControllerSettings:
    """The properties, parsed. Times are in the unit of their name.

    Without slots, so that a configuration can have it as one of several bases.
    """

    num_partitions: int = setting(
        "num.partitions",
        ConfigType.INT,
        "1",
        "Partitions of a topic whose creator names no number.",
        parse=POSITIVE,
    )
    default_replication_factor: int = setting(
        "default.replication.factor",
        ConfigType.INT,
        "1",
        "Replicas of a topic whose creator names no number.",
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
        dynamic=True,
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
