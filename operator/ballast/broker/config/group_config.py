"""The part of a broker's configuration that is about groups, in Kafka's names."""

from dataclasses import dataclass

from ballast.broker.config.properties import setting
from ballast.coordinator.options import GroupOptions


@dataclass(frozen=True, kw_only=True)
class GroupSettings:
    """The properties of the group coordinator, parsed. Times are milliseconds, sizes bytes."""

    group_min_session_timeout_ms: int = setting("group.min.session.timeout.ms")
    group_max_session_timeout_ms: int = setting("group.max.session.timeout.ms")
    group_initial_rebalance_delay_ms: int = setting("group.initial.rebalance.delay.ms")
    group_max_size: int = setting("group.max.size")
    offset_metadata_max_bytes: int = setting("offset.metadata.max.bytes")
    offsets_topic_replication_factor: int = setting("offsets.topic.replication.factor")
    offsets_topic_num_partitions: int = setting("offsets.topic.num.partitions")
    offsets_topic_segment_bytes: int = setting("offsets.topic.segment.bytes")
    offsets_topic_compression_codec: int = setting("offsets.topic.compression.codec")
    offsets_retention_minutes: int = setting("offsets.retention.minutes")
    offsets_retention_check_interval_ms: int = setting("offsets.retention.check.interval.ms")
    offsets_commit_timeout_ms: int = setting("offsets.commit.timeout.ms")

    @property
    def group_options(self) -> GroupOptions:
        """The coordinator's own options."""
        return GroupOptions(
            min_session_timeout_ms=self.group_min_session_timeout_ms,
            max_session_timeout_ms=self.group_max_session_timeout_ms,
            max_size=self.group_max_size,
            initial_rebalance_delay_ms=self.group_initial_rebalance_delay_ms,
            offset_metadata_max_bytes=self.offset_metadata_max_bytes,
            offsets_retention_ms=self.offsets_retention_minutes * 60_000,
        )
