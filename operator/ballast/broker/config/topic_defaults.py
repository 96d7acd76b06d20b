"""The numbers of partitions and replicas that a creation request leaves open (KIP-464)."""

import msgspec

from ballast.broker.config.config import BrokerConfig
from ballast.protocol.messages.admin.create_topics import CreatableTopic


def with_defaults(config: BrokerConfig, topic: CreatableTopic) -> CreatableTopic:
    """Return the topic with this broker's properties for the numbers that are left open.

    If a property is not set, the controller uses the cluster's default.
    """
    if topic.assignments:
        return topic
    changes: dict[str, int] = {}
    if topic.num_partitions == -1 and "num.partitions" in config.originals:
        changes["num_partitions"] = config.num_partitions
    if topic.replication_factor == -1 and "default.replication.factor" in config.originals:
        changes["replication_factor"] = config.default_replication_factor
    return msgspec.structs.replace(topic, **changes) if changes else topic
