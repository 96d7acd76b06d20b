"""The properties file that the pods of a set share, and the digest of what needs a restart.

Dynamic configs are not in the file but in ZooKeeper (`dynamic_config`): in both places, removing
one would restore the file's old value. Each broker adds its id, addresses and rack itself.

The offsets topic has three replicas, Kafka's default, or as many as a smaller set has brokers: with
fewer brokers than replicas it would not be created, and no consumer group could form. The same
holds for the load history. The number of brokers needs no restart, so it is not in the digest.
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
_MIN_RESERVE_S = 3
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
    """Return a digest that changes when a property needs a restart."""
    return hashlib.sha256(_text(_properties(spec)).encode()).hexdigest()


def _properties(spec: BrokerSetSpec) -> dict[str, str]:
    assert spec.zookeeper is not None, "an existing cluster has no properties file"
    return {
        **spec.static_config,
        "ballast.controlled.shutdown.timeout.ms": str(_leadership_transfer_s(spec) * 1000),
        "zookeeper.connect": spec.zookeeper.connect_string,
        "zookeeper.session.timeout.ms": str(spec.zookeeper.session_timeout_seconds * 1000),
    }


def _text(properties: Mapping[str, str]) -> str:
    return _HEADER + "".join(f"{name}={properties[name]}\n" for name in sorted(properties))


def _leadership_transfer_s(spec: BrokerSetSpec) -> int:
    """Return the time for transferring leadership; the rest of the grace period closes the logs."""
    grace = spec.grace_period_seconds
    return grace - max(_MIN_RESERVE_S, grace // 4)
