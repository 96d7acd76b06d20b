"""The properties of a broker's logs: where they roll, how long they stay, when they are flushed.

A part of `ballast.broker.config.config.BrokerConfig`, whose table of properties these belong to.
"""

from dataclasses import dataclass

from ballast.broker.config.properties import setting


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    """The properties of logs, parsed. Times are milliseconds unless named otherwise.

    Without slots, so that a configuration can have it as one of several bases.
    """

    segment_bytes: int = setting("log.segment.bytes")
    roll_ms: int | None = setting("log.roll.ms", optional=True)
    roll_hours: int = setting("log.roll.hours")
    roll_jitter_ms: int | None = setting("log.roll.jitter.ms", optional=True)
    roll_jitter_hours: int = setting("log.roll.jitter.hours")
    index_size_max_bytes: int = setting("log.index.size.max.bytes")
    preallocate: bool = setting("log.preallocate")
    compression_type: str = setting("compression.type")
    timestamp_type: str = setting("log.message.timestamp.type")
    timestamp_difference_max_ms: int = setting("log.message.timestamp.difference.max.ms")
    flush_interval_messages: int = setting("log.flush.interval.messages")
    flush_interval_ms: int | None = setting("log.flush.interval.ms", optional=True)
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
    retention_ms: int | None = setting("log.retention.ms", optional=True)
    retention_minutes: int | None = setting("log.retention.minutes", optional=True)
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
