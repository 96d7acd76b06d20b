"""Dynamic configs: the changes for all brokers of a set, which need no restart.

``spec.config`` is the desired state of the cluster-wide dynamic configs (Kafka's entity-default)
that are in the table of settings: a property that is removed from it is removed there. Values of
single brokers and throttles are not managed here.
"""

from ballast.brokersets.observation.observation import Cluster
from ballast.brokersets.spec.config_keys import DYNAMIC
from ballast.brokersets.spec.spec import BrokerSetSpec


def due_changes(spec: BrokerSetSpec, cluster: Cluster | None) -> dict[str, str | None] | None:
    """Return the due changes, empty when the config is in force; None when it is unknown."""
    if cluster is None or cluster.dynamic_defaults is None:
        return None
    desired, present = spec.dynamic_config, cluster.dynamic_defaults
    return {
        name: desired.get(name)
        for name in sorted(DYNAMIC)
        if desired.get(name) != present.get(name)
    }


def is_in_force(spec: BrokerSetSpec, cluster: Cluster | None) -> bool:
    """Whether the brokers have the config, as far as is known."""
    changes = due_changes(spec, cluster)
    return not spec.dynamic_config if changes is None else not changes
