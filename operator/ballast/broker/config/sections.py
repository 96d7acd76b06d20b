"""The parts of a broker's configuration that belong to one component each.

They have no slots, so that `BrokerConfig` can inherit from all of them.
"""

from dataclasses import dataclass

from ballast.coordinator.ports import GroupOptions
from ballast.model.settings.fields import setting


@dataclass(frozen=True, kw_only=True)
class BrokerLogConfig:
    """The properties of logs: rolling, appending, flushing, retention, compaction.

    Times are milliseconds and sizes bytes where the name has no other unit.
    """

    log_dir_lock_timeout_ms: int = setting("ballast.log.dir.lock.timeout.ms")
    segment_bytes: int = setting("log.segment.bytes")
    roll_ms: int | None = setting("log.roll.ms")
    roll_hours: int = setting("log.roll.hours")
    roll_jitter_ms: int | None = setting("log.roll.jitter.ms")
    roll_jitter_hours: int = setting("log.roll.jitter.hours")
    index_size_max_bytes: int = setting("log.index.size.max.bytes")
    preallocate: bool = setting("log.preallocate")
    compression_type: str = setting("compression.type")
    timestamp_type: str = setting("log.message.timestamp.type")
    timestamp_difference_max_ms: int = setting("log.message.timestamp.difference.max.ms")
    flush_interval_messages: int = setting("log.flush.interval.messages")
    flush_interval_ms: int | None = setting("log.flush.interval.ms")
    flush_scheduler_interval_ms: int = setting("log.flush.scheduler.interval.ms")
    index_interval_bytes: int = setting("log.index.interval.bytes")
    producer_id_expiration_ms: int = setting("transactional.id.expiration.ms")
    message_max_bytes: int = setting("message.max.bytes")
    flush_checkpoint_interval_ms: int = setting("log.flush.offset.checkpoint.interval.ms")
    start_offset_checkpoint_interval_ms: int = setting(
        "log.flush.start.offset.checkpoint.interval.ms"
    )
    cleanup_policy: tuple[str, ...] = setting("log.cleanup.policy")
    retention_bytes: int = setting("log.retention.bytes")
    retention_ms: int | None = setting("log.retention.ms")
    retention_minutes: int | None = setting("log.retention.minutes")
    retention_hours: int = setting("log.retention.hours")
    retention_check_interval_ms: int = setting("log.retention.check.interval.ms")
    segment_delete_delay_ms: int = setting("log.segment.delete.delay.ms")
    cleaner_enable: bool = setting("log.cleaner.enable")
    cleaner_min_cleanable_ratio: float = setting("log.cleaner.min.cleanable.ratio")
    cleaner_min_compaction_lag_ms: int = setting("log.cleaner.min.compaction.lag.ms")
    cleaner_max_compaction_lag_ms: int = setting("log.cleaner.max.compaction.lag.ms")
    cleaner_delete_retention_ms: int = setting("log.cleaner.delete.retention.ms")
    cleaner_dedupe_buffer_size: int = setting("log.cleaner.dedupe.buffer.size")
    cleaner_io_max_bytes_per_second: float = setting("log.cleaner.io.max.bytes.per.second")
    cleaner_backoff_ms: int = setting("log.cleaner.backoff.ms")


@dataclass(frozen=True, kw_only=True)
class GroupConfig:
    """The properties of the group coordinator."""

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
        """The options of the coordinator's state machine."""
        return GroupOptions(
            min_session_timeout_ms=self.group_min_session_timeout_ms,
            max_session_timeout_ms=self.group_max_session_timeout_ms,
            max_size=self.group_max_size,
            initial_rebalance_delay_ms=self.group_initial_rebalance_delay_ms,
            offset_metadata_max_bytes=self.offset_metadata_max_bytes,
            offsets_retention_ms=self.offsets_retention_minutes * 60_000,
        )


@dataclass(frozen=True, kw_only=True)
class LoadConfig:
    """The properties of ``__ballast_load``, the history of load."""

    load_sample_interval_ms: int = setting("ballast.load.sample.interval.ms")
    load_topic_num_partitions: int = setting("ballast.load.topic.num.partitions")
    load_topic_replication_factor: int = setting("ballast.load.topic.replication.factor")
    load_retention_ms: int = setting("ballast.load.retention.ms")
    load_retention_bytes: int = setting("ballast.load.retention.bytes")
