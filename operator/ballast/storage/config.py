"""A log's settings, under Kafka's names and with Kafka's defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ballast.model.settings.judging import InvalidTopicConfig, check_topic_config
from ballast.model.settings.table import TOPIC_SETTINGS
from ballast.model.settings.values import LONG_MAX
from ballast.storage.errors import InvalidLogConfig

DELETE = "delete"
"""The ``cleanup.policy`` under which old segments go."""

COMPACT = "compact"
"""The ``cleanup.policy`` under which of each key only the newest record stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """Settings of one log (Kafka's LogConfig). ``message.timestamp.type`` is always CreateTime."""

    segment_bytes: int = 1 << 30
    """``segment.bytes``: a segment that would grow beyond it is rolled."""
    segment_ms: int = 7 * 24 * 3_600_000
    """``segment.ms``: a segment rolls when a batch's timestamp is that far beyond its first."""
    index_interval_bytes: int = 4096
    """``index.interval.bytes``: bytes of records between two index entries."""
    max_message_bytes: int = 1_048_588
    """``max.message.bytes``: the largest batch a producer may append."""
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
