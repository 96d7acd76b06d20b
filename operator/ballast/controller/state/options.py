"""The controller's configuration, under Kafka's own names."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields

from ballast.model.settings.fields import setting


def nothing_is_cordoned(broker_id: int) -> bool:  # noqa: ARG001 - the same for every broker
    """Accept every broker for new replicas."""
    return False


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


@dataclass(slots=True, kw_only=True)
class ControllerOptions:
    """The options of an elected controller. Each may change and is read when it is needed."""

    config: ControllerConfig = field(default_factory=ControllerConfig)
    """The default of all brokers in ZooKeeper (``<default>``) overrides its
    `unclean_leader_election_enable`, and a topic both."""
    is_cordoned: Callable[[int], bool] = nothing_is_cordoned
    """Whether a broker gets no replicas of new topics, because it is to be removed."""
    removed_ids_start: int | None = None
    """Brokers with this id or a higher one were removed and do not return: topic deletion does not
    wait for one that is not registered. None = every broker may return."""

    def update(self, other: "ControllerOptions") -> None:
        """Copy all values of ``other``."""
        for option in fields(self):
            setattr(self, option.name, getattr(other, option.name))
