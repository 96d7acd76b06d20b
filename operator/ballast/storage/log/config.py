"""The configuration of one log, under Kafka's names and with Kafka's defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from ballast.model.settings.fields import rows_of, setting, topic_setting
from ballast.model.settings.keys import ConfigKey
from ballast.model.settings.table import TOPIC_SETTINGS
from ballast.model.settings.validation import InvalidTopicConfig, parse_topic_config
from ballast.model.settings.values import LONG_MAX
from ballast.storage.errors import InvalidLogConfig

PRODUCER = "producer"
"""The ``compression.type`` under which each batch keeps its producer's codec."""

UNCOMPRESSED = "uncompressed"

LOG_APPEND_TIME = "LogAppendTime"
"""The ``message.timestamp.type`` under which records have the time of their append."""

DELETE = "delete"
"""The ``cleanup.policy`` that deletes old segments."""

COMPACT = "compact"
"""The ``cleanup.policy`` that keeps only the newest record of each key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """The configuration of one log (Kafka's LogConfig); each field is a row of the settings."""

    segment_bytes: int = topic_setting("segment.bytes")
    segment_ms: int = topic_setting("segment.ms")
    segment_jitter_ms: int = topic_setting("segment.jitter.ms")
    segment_index_bytes: int = topic_setting("segment.index.bytes")
    preallocate: bool = topic_setting("preallocate")
    index_interval_bytes: int = topic_setting("index.interval.bytes")
    max_message_bytes: int = topic_setting("max.message.bytes")
    compression_type: str = topic_setting("compression.type")
    timestamp_type: str = topic_setting("message.timestamp.type")
    timestamp_difference_max_ms: int = topic_setting("message.timestamp.difference.max.ms")
    flush_messages: int = topic_setting("flush.messages")
    flush_ms: int = topic_setting("flush.ms")
    cleanup_policy: tuple[str, ...] = topic_setting("cleanup.policy")
    retention_bytes: int = topic_setting("retention.bytes")
    """A negative number means no limit."""
    retention_ms: int = topic_setting("retention.ms")
    """A negative number means no limit."""
    min_cleanable_dirty_ratio: float = topic_setting("min.cleanable.dirty.ratio")
    min_compaction_lag_ms: int = topic_setting("min.compaction.lag.ms")
    max_compaction_lag_ms: int = topic_setting("max.compaction.lag.ms")
    delete_retention_ms: int = topic_setting("delete.retention.ms")
    file_delete_delay_ms: int = topic_setting("file.delete.delay.ms")
    producer_id_expiration_ms: int = setting("transactional.id.expiration.ms")
    """Kafka 2.8 has no property of its own for producers' expiration."""

    @property
    def has_append_time(self) -> bool:
        """Whether records have the time of their append."""
        return self.timestamp_type == LOG_APPEND_TIME

    @property
    def limits_timestamps(self) -> bool:
        """Whether a batch may be refused because of its timestamps."""
        return self.timestamp_difference_max_ms < LONG_MAX

    @property
    def preallocated_bytes(self) -> int:
        """The initial length of a new segment's file."""
        return self.segment_bytes if self.preallocate else 0

    @property
    def is_deleted(self) -> bool:
        """Whether old segments are deleted by age and size."""
        return DELETE in self.cleanup_policy

    @property
    def is_compacted(self) -> bool:
        """Whether only the newest record of each key is kept."""
        return COMPACT in self.cleanup_policy

    @property
    def max_segment_ms(self) -> int:
        """Age at which a segment rolls, so that it can be compacted in time (KIP-354)."""
        if self.is_compacted:
            return min(self.segment_ms, max(self.max_compaction_lag_ms, 1))
        return self.segment_ms

    def with_overrides(self, properties: Mapping[str, str]) -> "LogConfig":
        """Return this configuration with a topic's overrides; names that no log reads are skipped.

        Raises `InvalidLogConfig` naming the first setting whose value Kafka would refuse.
        """
        changes = {}
        for name, text in properties.items():
            if name in _FIELDS:
                try:
                    changes[_FIELDS[name]] = parse_topic_config(name, text)
                except InvalidTopicConfig as error:
                    raise InvalidLogConfig(str(error)) from error
        return replace(self, **changes) if changes else self


LOG_ROWS: Final[Mapping[str, ConfigKey]] = rows_of(LogConfig)
"""The row of each field of `LogConfig`."""

_FIELDS: Final[Mapping[str, str]] = {
    row.name: name for name, row in LOG_ROWS.items() if row.name in TOPIC_SETTINGS
}
"""The fields that a topic may override."""
