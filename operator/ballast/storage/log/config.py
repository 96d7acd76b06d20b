"""A log's settings, under Kafka's names and with Kafka's defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ballast.model.settings.judging import InvalidTopicConfig, check_topic_config
from ballast.model.settings.table import TOPIC_SETTINGS
from ballast.model.settings.values import LONG_MAX
from ballast.storage.errors import InvalidLogConfig

PRODUCER = "producer"
"""The ``compression.type`` under which each batch keeps its producer's codec."""

UNCOMPRESSED = "uncompressed"

CREATE_TIME = "CreateTime"
LOG_APPEND_TIME = "LogAppendTime"
"""Values of ``message.timestamp.type``."""

DELETE = "delete"
"""The ``cleanup.policy`` under which old segments go."""

COMPACT = "compact"
"""The ``cleanup.policy`` under which of each key only the newest record stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """Settings of one log (Kafka's LogConfig)."""

    segment_bytes: int = 1 << 30
    """``segment.bytes``: a segment that would grow beyond it is rolled."""
    segment_ms: int = 7 * 24 * 3_600_000
    """``segment.ms``: a segment rolls when a batch's timestamp is that far beyond its first."""
    segment_jitter_ms: int = 0
    """``segment.jitter.ms``: by how much, at most, a segment rolls before `segment_ms`."""
    segment_index_bytes: int = 10 * 1024 * 1024
    """``segment.index.bytes``: a segment whose index has grown to it is rolled."""
    preallocate: bool = False
    """``preallocate``: a new segment's file is `segment_bytes` long from the beginning."""
    index_interval_bytes: int = 4096
    """``index.interval.bytes``: bytes of records between two index entries."""
    max_message_bytes: int = 1_048_588
    """``max.message.bytes``: the largest batch a producer may append."""
    compression_type: str = PRODUCER
    """``compression.type``: the codec of stored batches; ``producer`` keeps each as it came."""
    timestamp_type: str = CREATE_TIME
    """``message.timestamp.type``: whose times the records bear."""
    timestamp_difference_max_ms: int = LONG_MAX
    """``message.timestamp.difference.max.ms``: between a producer's time and the broker's."""
    flush_messages: int = LONG_MAX
    """``flush.messages``: so many records are not appended without a flush."""
    flush_ms: int = LONG_MAX
    """``flush.ms``: records are flushed when they are that old."""
    cleanup_policy: tuple[str, ...] = (DELETE,)
    """``cleanup.policy``: what becomes of old segments."""
    retention_bytes: int = -1
    """``retention.bytes``: size above which the oldest segments go; negative for no limit."""
    retention_ms: int = 7 * 24 * 3_600_000
    """``retention.ms``: age above which segments go; negative for no limit."""
    min_cleanable_dirty_ratio: float = 0.5
    """``min.cleanable.dirty.ratio``: the dirty part above which a log is compacted."""
    min_compaction_lag_ms: int = 0
    """``min.compaction.lag.ms``: younger records are not compacted."""
    max_compaction_lag_ms: int = LONG_MAX
    """``max.compaction.lag.ms``: older records are compacted, however few they are."""
    delete_retention_ms: int = 24 * 3_600_000
    """``delete.retention.ms``: how long a key's deletion can be read in a compacted log."""
    file_delete_delay_ms: int = 60_000
    """``file.delete.delay.ms``: how long the files of a dropped segment stay on disk."""
    producer_id_expiration_ms: int = 7 * 24 * 3_600_000
    """``producer.id.expiration.ms``; Kafka 2.8 takes ``transactional.id.expiration.ms``."""

    @property
    def has_append_time(self) -> bool:
        """Whether records bear the time of their append."""
        return self.timestamp_type == LOG_APPEND_TIME

    @property
    def limits_timestamps(self) -> bool:
        """Whether producers' times may be refused."""
        return self.timestamp_difference_max_ms < LONG_MAX

    @property
    def preallocated_bytes(self) -> int:
        """How long the file of a new segment is."""
        return self.segment_bytes if self.preallocate else 0

    @property
    def is_deleted(self) -> bool:
        """Whether segments go by age and size."""
        return DELETE in self.cleanup_policy

    @property
    def is_compacted(self) -> bool:
        """Whether of each key only the newest record stays."""
        return COMPACT in self.cleanup_policy

    @property
    def max_segment_ms(self) -> int:
        """Age at which a segment rolls, so that it can be compacted in time (KIP-354)."""
        if self.is_compacted:
            return min(self.segment_ms, max(self.max_compaction_lag_ms, 1))
        return self.segment_ms

    def with_overrides(self, properties: Mapping[str, str]) -> "LogConfig":
        """Return these settings changed by a topic's own; names of other parts are left alone.

        Raises `InvalidLogConfig` naming the first setting whose value Kafka would refuse.
        """
        changes: dict[str, Any] = {}
        for name, text in properties.items():
            if name in _FIELDS:
                try:
                    check_topic_config(name, text)
                except InvalidTopicConfig as error:
                    raise InvalidLogConfig(str(error)) from error
                changes[_FIELDS[name]] = TOPIC_SETTINGS[name].parse(text)
        return replace(self, **changes)


_FIELDS: Mapping[str, str] = {
    "segment.bytes": "segment_bytes",
    "segment.ms": "segment_ms",
    "segment.jitter.ms": "segment_jitter_ms",
    "segment.index.bytes": "segment_index_bytes",
    "preallocate": "preallocate",
    "compression.type": "compression_type",
    "message.timestamp.type": "timestamp_type",
    "message.timestamp.difference.max.ms": "timestamp_difference_max_ms",
    "flush.messages": "flush_messages",
    "flush.ms": "flush_ms",
    "index.interval.bytes": "index_interval_bytes",
    "max.message.bytes": "max_message_bytes",
    "cleanup.policy": "cleanup_policy",
    "retention.bytes": "retention_bytes",
    "retention.ms": "retention_ms",
    "min.cleanable.dirty.ratio": "min_cleanable_dirty_ratio",
    "min.compaction.lag.ms": "min_compaction_lag_ms",
    "max.compaction.lag.ms": "max_compaction_lag_ms",
    "delete.retention.ms": "delete_retention_ms",
    "file.delete.delay.ms": "file_delete_delay_ms",
}
"""The fields that topics' settings give."""
