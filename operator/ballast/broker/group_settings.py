"""The part of a broker's configuration that is about groups, in Kafka's names."""

from dataclasses import dataclass

from ballast.broker.settings import (
    INT,
    INT_MAX,
    POSITIVE,
    POSITIVE_LONG,
    ConfigType,
    integer,
    setting,
)
from ballast.coordinator.options import GroupOptions


@dataclass(frozen=True, kw_only=True)
class GroupSettings:
    """The properties of the group coordinator, parsed. Times are milliseconds, sizes bytes."""

    group_min_session_timeout_ms: int = setting(
        "group.min.session.timeout.ms",
        ConfigType.INT,
        "6000",
        "The shortest session that a member may ask for.",
        parse=INT,
    )
    group_max_session_timeout_ms: int = setting(
        "group.max.session.timeout.ms",
        ConfigType.INT,
        "1800000",
        "The longest session that a member may ask for.",
        parse=INT,
    )
    group_initial_rebalance_delay_ms: int = setting(
        "group.initial.rebalance.delay.ms",
        ConfigType.INT,
        "3000",
        "How long an empty group waits for more members before its first rebalance.",
        parse=INT,
    )
    group_max_size: int = setting(
        "group.max.size",
        ConfigType.INT,
        str(INT_MAX),
        "Members that a group may have.",
        parse=POSITIVE,
    )
    offset_metadata_max_bytes: int = setting(
        "offset.metadata.max.bytes",
        ConfigType.INT,
        "4096",
        "Length of the text that may be kept with a committed offset.",
        parse=INT,
    )
    offsets_topic_replication_factor: int = setting(
        "offsets.topic.replication.factor",
        ConfigType.INT,
        "3",
        "Replicas of __consumer_offsets, which is not made while fewer brokers live.",
        parse=integer(1, 32767),
    )
    offsets_topic_num_partitions: int = setting(
        "offsets.topic.num.partitions",
        ConfigType.INT,
        "50",
        "Partitions of __consumer_offsets when it is made; it keeps them.",
        parse=POSITIVE,
    )
    offsets_topic_segment_bytes: int = setting(
        "offsets.topic.segment.bytes",
        ConfigType.INT,
        "104857600",
        "Size of a segment of __consumer_offsets.",
        parse=integer(14, INT_MAX),
    )
    offsets_retention_minutes: int = setting(
        "offsets.retention.minutes",
        ConfigType.INT,
        "10080",
        "How long the offsets of a group without members are kept.",
        parse=POSITIVE,
    )
    offsets_retention_check_interval_ms: int = setting(
        "offsets.retention.check.interval.ms",
        ConfigType.LONG,
        "600000",
        "How often offsets are looked for that are due to be forgotten.",
        parse=POSITIVE_LONG,
    )
    offsets_commit_timeout_ms: int = setting(
        "offsets.commit.timeout.ms",
        ConfigType.INT,
        "5000",
        "How long a commit waits for the replicas of __consumer_offsets.",
        parse=POSITIVE,
    )

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
