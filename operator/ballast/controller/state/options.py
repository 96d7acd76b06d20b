"""What an operator may set for the controller, under Kafka's own names."""

from collections.abc import Callable
from dataclasses import dataclass, fields


def nothing_is_cordoned(broker_id: int) -> bool:  # noqa: ARG001 - the same for every broker
    """Leave every broker open to new replicas."""
    return False


@dataclass(slots=True, kw_only=True)
class ControllerOptions:
    """Cluster-wide defaults, as the broker properties of the same names give them.

    They may change while a controller runs: each is read when it is needed.
    """

    num_partitions: int = 1
    """Partitions of a topic whose creator left the number open."""
    default_replication_factor: int = 1
    delete_topic_enable: bool = True
    unclean_leader_election_enable: bool = False
    """Whether a replica outside the ISR may lead when no member lives; ``<default>`` of the
    brokers' configs may override it, and a topic both."""
    auto_leader_rebalance_enable: bool = True
    """Whether leadership goes back to preferred replicas by itself."""
    leader_imbalance_check_interval_seconds: int = 300
    leader_imbalance_per_broker_percentage: int = 10
    """Share of a broker's partitions that others may lead before its leadership is given back."""
    is_cordoned: Callable[[int], bool] = nothing_is_cordoned
    """Whether a broker gets no replicas of new topics, because it is to go; asked each time."""
    removed_ids_start: int | None = None
    """Brokers with this id or a higher one were taken away and do not return: deletions of topics
    do not wait for one that is not registered. None = every broker may return."""

    def take_over(self, other: "ControllerOptions") -> None:
        """Become like the other."""
        for field in fields(self):
            setattr(self, field.name, getattr(other, field.name))
