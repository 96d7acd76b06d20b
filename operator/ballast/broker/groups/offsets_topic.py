"""``__consumer_offsets``: how it is made, and which of its partitions a group belongs to."""

from typing import Final

from ballast.broker.cluster.auto_creation import AutoCreation
from ballast.broker.cluster.metadata_cache import MetadataCache
from ballast.broker.config.sections import GroupConfig
from ballast.model.brokers import Broker
from ballast.model.ids import TopicPartition
from ballast.model.topics import OFFSETS_TOPIC
from ballast.protocol.messages.admin.create_topics import CreatableTopic, CreatableTopicConfig

_MASK: Final = 0xFFFFFFFF
_SIGN: Final = 0x80000000


def creatable_offsets_topic(settings: GroupConfig) -> CreatableTopic:
    """Return the topic as a controller is asked to make it."""
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
    """Where the coordinator of a group is to be found."""

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
        # The least number has no positive counterpart in Java, where it counts as 0.
        return 0 if number == -_SIGN else abs(number) % count

    async def find_coordinator(self, group_id: str) -> Broker | None:
        """Return the broker that leads a group's partition; have the topic made if there is none.

        None: it is not known by now.
        """
        await self._metadata.wait_until_filled()
        if OFFSETS_TOPIC not in self._metadata.topics:
            await self._auto_creation.create([OFFSETS_TOPIC])
        name = TopicPartition(OFFSETS_TOPIC, self.partition_for(group_id))
        known = self._metadata.partition(name)
        return None if known is None else self._metadata.brokers.get(known.leader)
