"""What an operator may set for the controller, under Kafka's own names."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerOptions:
    """Cluster-wide defaults, as the broker properties of the same names give them."""

    num_partitions: int = 1
    """Partitions of a topic whose creator left the number open."""
    default_replication_factor: int = 1
    delete_topic_enable: bool = True
    unclean_leader_election_enable: bool = False
    """Whether a replica outside the ISR may lead when no member lives; a topic may override it."""
