"""``__consumer_offsets``: its creation, and the partition of each group."""

from typing import Final

from ballast.broker.cluster.auto_creation import AutoCreation
from ballast.broker.cluster.metadata_cache import MetadataCache
from ballast.broker.config.sections import GroupConfig
from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.model.topics import OFFSETS_TOPIC
from ballast.protocol.messages.admin.create_topics import CreatableTopic, CreatableTopicConfig

_MASK: Final = 0xFFFFFFFF
_SIGN: Final = 0x80000000


def creatable_offsets_topic(settings: GroupConfig) -> CreatableTopic:
    """Return the topic for CreateTopics."""
    configs = {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": str(settings.offsets_topic_segment_bytes),
    }
    return CreatableTopic(
        name=OFFSETS_TOPIC,
        num_partitions=settings.offsets_topic_num_partitions,
        replication_factor=settings.offsets_topic_replication_factor,
        configs=tuple(CreatableTopicConfig(name=n, value=v) for n, v in configs.items()),
    )


def java_hash(text: str) -> int:
    """Return Java's ``String.hashCode``: over UTF-16 units, in 32 signed bits."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for position in range(0, len(units), 2):
        value = (31 * value + (units[position] << 8) + units[position + 1]) & _MASK
    return value - 2 * _SIGN if value & _SIGN else value


class OffsetsTopic:
    """Finds the coordinator of a group."""

    def __init__(
        self, settings: GroupConfig, metadata: MetadataCache, auto_creation: AutoCreation
    ) -> None:
        self._settings = settings
        self._metadata = metadata
        self._auto_creation = auto_creation

    def partition_for(self, group_id: str) -> int:
        """Return the partition of a group (Kafka ``GroupMetadataManager.partitionFor``)."""
        known = len(self._metadata.topics.get(OFFSETS_TOPIC, ()))
        count = known or self._settings.offsets_topic_num_partitions
        number = java_hash(group_id)
        # The smallest integer has no positive counterpart; Kafka uses 0 for it.
        return 0 if number == -_SIGN else abs(number) % count

    async def find_coordinator(self, group_id: str) -> RegisteredBroker | None:
        """Return the broker that leads a group's partition; create the topic if it is missing.

        None: the leader is not known yet.
        """
        await self._metadata.wait_until_filled()
        if OFFSETS_TOPIC not in self._metadata.topics:
            await self._auto_creation.create([OFFSETS_TOPIC])
        name = TopicPartition(OFFSETS_TOPIC, self.partition_for(group_id))
        known = self._metadata.partition(name)
        return None if known is None else self._metadata.brokers.get(known.leader)
