"""Configs that running brokers take: what is to be changed on all of them at once.

The set's config is the whole of what is set on all brokers (Kafka's entity-default), as far as
Ballast knows the names: what it does not name any more is taken back. Values set on single brokers,
and throttles, belong to others and are left alone.
"""

from ballast.brokersets.observation.observed import Cluster
from ballast.brokersets.spec.config_keys import DYNAMIC
from ballast.brokersets.spec.spec import BrokerSetSpec


def due_changes(spec: BrokerSetSpec, cluster: Cluster | None) -> dict[str, str | None] | None:
    """Return the changes that are due, empty when the config is in force; None when unknown."""
    if cluster is None or cluster.dynamic_defaults is None:
        return None
    wanted, present = spec.dynamic_config, cluster.dynamic_defaults
    return {
        name: wanted.get(name) for name in sorted(DYNAMIC) if wanted.get(name) != present.get(name)
    }


def is_in_force(spec: BrokerSetSpec, cluster: Cluster | None) -> bool:
    """Whether the brokers have the config, as far as is known."""
    changes = due_changes(spec, cluster)
    return not spec.dynamic_config if changes is None else not changes
