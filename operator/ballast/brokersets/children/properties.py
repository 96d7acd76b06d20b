"""The properties file that a set's pods share, and the digest of what needs a restart.

Configs that running brokers take are not in it: they are set on all brokers at once, in ZooKeeper
(`dynamic_config`). Were they in both, taking one back would bring the file's old value to light.
What differs from pod to pod (id, addresses, rack) is added by the broker itself.

The topic of consumer groups is made with three replicas, as Kafka's default is, but with as many as
there are brokers in a smaller set: else no group could ever be formed there. So is the history of
load, which shall outlive a broker. The number of brokers is no reason to restart them, so this is
not in the digest.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.model.settings.fields import default_of

_HEADER = (
    "# Made from a BrokerSet; changes here are undone. Ids, addresses and racks come from each\n"
    "# pod, and what Kafka can change in a running broker is set on all brokers at once.\n"
)
_MIN_RESERVE_SECONDS = 3
_OFFSETS_REPLICATION_FACTOR = "offsets.topic.replication.factor"
_LOAD_REPLICATION_FACTOR = "ballast.load.topic.replication.factor"
_OFFSETS_REPLICAS: Final[int] = default_of(_OFFSETS_REPLICATION_FACTOR)


def server_properties(spec: BrokerSetSpec) -> str:
    """Return the file ``server.properties``."""
    properties = _properties(spec)
    if spec.replicas < _OFFSETS_REPLICAS:
        properties.setdefault(_OFFSETS_REPLICATION_FACTOR, str(spec.replicas))
    replicas = min(_OFFSETS_REPLICAS, spec.replicas)
    properties.setdefault(_LOAD_REPLICATION_FACTOR, str(replicas))
    return _text(properties)


def restart_digest(spec: BrokerSetSpec) -> str:
    """Return a digest that changes when brokers must be restarted for a setting."""
    return hashlib.sha256(_text(_properties(spec)).encode()).hexdigest()


def _properties(spec: BrokerSetSpec) -> dict[str, str]:
    assert spec.zookeeper is not None, "an existing cluster has no properties file"
    return {
        **spec.static_config,
        "ballast.controlled.shutdown.timeout.ms": str(_hand_over_seconds(spec) * 1000),
        "zookeeper.connect": spec.zookeeper.connect_string,
        "zookeeper.session.timeout.ms": str(spec.zookeeper.session_timeout_seconds * 1000),
    }


def _text(properties: Mapping[str, str]) -> str:
    return _HEADER + "".join(f"{name}={properties[name]}\n" for name in sorted(properties))


def _hand_over_seconds(spec: BrokerSetSpec) -> int:
    """Return how long handing leadership over may take: the rest is for closing the logs."""
    grace = spec.grace_period_seconds
    return grace - max(_MIN_RESERVE_SECONDS, grace // 4)
