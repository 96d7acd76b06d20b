"""The properties of a broker's logs: where they roll, how long they stay, when they are flushed.

A part of `ballast.broker.config.BrokerConfig`, whose table of properties these belong to.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ballast.broker.settings import (
    INT,
    INT_MAX,
    LONG,
    POSITIVE,
    POSITIVE_LONG,
    UNLIMITED,
    ConfigType,
    integer,
    setting,
)
from ballast.model.topic_configs import TOPIC_CONFIGS

_BYTES_OR_UNLIMITED = integer(-1, UNLIMITED)


def _time_or_unlimited(largest: int) -> Callable[[str], int]:
    """Return a parser of a time that is at least 1, or -1 for ever, as Kafka wants retentions."""
    number = integer(-1, largest)

    def parse(text: str) -> int:
        value = number(text)
        if value == 0:
            raise ValueError("neither -1 (unlimited) nor at least 1")
        return value

    return parse


def _rate(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError("not a number above 0")
    return value


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    """The properties of logs, parsed. Times are milliseconds unless named otherwise.

    Without slots, so that a configuration can have it as one of several bases.
    """

    segment_bytes: int = setting(
        "log.segment.bytes",
        ConfigType.INT,
        "1073741824",
        "Size at which a segment is rolled.",
        parse=integer(14, INT_MAX),
        dynamic=True,
    )
    roll_ms: int | None = setting(
        "log.roll.ms",
        ConfigType.LONG,
        None,
        "Age of a segment at which it is rolled; log.roll.hours by default.",
        parse=POSITIVE_LONG,
        dynamic=True,
        optional=True,
    )
    roll_hours: int = setting(
        "log.roll.hours",
        ConfigType.INT,
        "168",
        "Age of a segment at which it is rolled, in hours.",
        parse=POSITIVE,
    )
    index_interval_bytes: int = setting(
        "log.index.interval.bytes",
        ConfigType.INT,
        "4096",
        "Log bytes between two entries of the offset index.",
        parse=INT,
        dynamic=True,
    )
    message_max_bytes: int = setting(
        "message.max.bytes",
        ConfigType.INT,
        "1048588",
        "Largest batch that is taken from a producer.",
        parse=INT,
        dynamic=True,
    )
    flush_checkpoint_interval_ms: int = setting(
        "log.flush.offset.checkpoint.interval.ms",
        ConfigType.INT,
        "60000",
        "How often logs are flushed and recovery points saved.",
        parse=POSITIVE,
    )
    cleanup_policy: tuple[str, ...] = setting(
        "log.cleanup.policy",
        ConfigType.LIST,
        "delete",
        "What becomes of old segments: delete, compact, or both.",
        parse=TOPIC_CONFIGS["cleanup.policy"].parse,
        dynamic=True,
    )
    retention_bytes: int = setting(
        "log.retention.bytes",
        ConfigType.LONG,
        "-1",
        "Size of a partition's log above which its oldest segments go; -1 for no limit.",
        parse=_BYTES_OR_UNLIMITED,
        dynamic=True,
    )
    retention_ms: int | None = setting(
        "log.retention.ms",
        ConfigType.LONG,
        None,
        "How long records are kept, -1 for ever; log.retention.minutes by default.",
        parse=_time_or_unlimited(UNLIMITED),
        dynamic=True,
        optional=True,
    )
    retention_minutes: int | None = setting(
        "log.retention.minutes",
        ConfigType.INT,
        None,
        "How long records are kept, in minutes; log.retention.hours by default.",
        parse=_time_or_unlimited(INT_MAX),
        optional=True,
    )
    retention_hours: int = setting(
        "log.retention.hours",
        ConfigType.INT,
        "168",
        "How long records are kept, in hours.",
        parse=_time_or_unlimited(INT_MAX),
    )
    retention_check_interval_ms: int = setting(
        "log.retention.check.interval.ms",
        ConfigType.LONG,
        "300000",
        "How often logs are searched for segments that may go.",
        parse=POSITIVE_LONG,
    )
    segment_delete_delay_ms: int = setting(
        "log.segment.delete.delay.ms",
        ConfigType.LONG,
        "60000",
        "How long the files of a segment that was dropped stay on disk.",
        parse=LONG,
        dynamic=True,
    )
    cleaner_enable: bool = setting(
        "log.cleaner.enable",
        ConfigType.BOOLEAN,
        "true",
        "Whether logs with cleanup.policy=compact are compacted.",
    )
    cleaner_min_cleanable_ratio: float = setting(
        "log.cleaner.min.cleanable.ratio",
        ConfigType.DOUBLE,
        "0.5",
        "Share of a log that must be dirty before it is compacted.",
        parse=TOPIC_CONFIGS["min.cleanable.dirty.ratio"].parse,
        dynamic=True,
    )
    cleaner_min_compaction_lag_ms: int = setting(
        "log.cleaner.min.compaction.lag.ms",
        ConfigType.LONG,
        "0",
        "Age below which a record is not compacted.",
        parse=LONG,
        dynamic=True,
    )
    cleaner_max_compaction_lag_ms: int = setting(
        "log.cleaner.max.compaction.lag.ms",
        ConfigType.LONG,
        str(UNLIMITED),
        "Age above which a record is compacted, however few are dirty.",
        parse=POSITIVE_LONG,
        dynamic=True,
    )
    cleaner_delete_retention_ms: int = setting(
        "log.cleaner.delete.retention.ms",
        ConfigType.LONG,
        "86400000",
        "How long a key's deletion stays in a compacted log.",
        parse=LONG,
        dynamic=True,
    )
    cleaner_dedupe_buffer_size: int = setting(
        "log.cleaner.dedupe.buffer.size",
        ConfigType.LONG,
        "134217728",
        "Memory for the keys of one compaction, 200 bytes each; the rest waits for the next.",
        parse=POSITIVE_LONG,
        dynamic=True,
    )
    cleaner_io_max_bytes_per_second: float = setting(
        "log.cleaner.io.max.bytes.per.second",
        ConfigType.DOUBLE,
        "1.7976931348623157E308",
        "Bytes per second that compaction may read and write, together and on average.",
        parse=_rate,
        dynamic=True,
    )
    cleaner_backoff_ms: int = setting(
        "log.cleaner.backoff.ms",
        ConfigType.LONG,
        "15000",
        "Rest of the cleaner when no log is dirty enough.",
        parse=LONG,
        dynamic=True,
    )
