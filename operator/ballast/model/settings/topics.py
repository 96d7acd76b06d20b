"""The settings that a topic may override (Kafka's LogConfig).

Each row takes its type, default, validator and support from the broker property that holds the
cluster-wide default. Brokers and controller candidates use the same rows, so that brokers carry out
what a controller accepts.
"""

from dataclasses import replace
from typing import Any, Final

from ballast.model.settings import cleaner, controller, logs
from ballast.model.settings.keys import LIST, LONG, RESERVED, ConfigKey, Support, honoured
from ballast.model.settings.values import LONG_MAX, number, throttled_replicas

_DAY_MS: Final = 24 * 60 * 60 * 1000

_BROKER: Final = {row.name: row for row in (*logs.ROWS, *cleaner.ROWS, *controller.ROWS)}


def _topic(name: str, broker_name: str, default: int | None = None, **others: Any) -> ConfigKey:
    """Return the row of ``name``, which ``broker_name`` sets for the topics that do not."""
    row = _BROKER[broker_name]
    is_honoured = row.support is Support.HONOURED
    return replace(
        row,
        name=name,
        default=row.default if default is None else str(default),
        # The reference page refers to the broker property; a refusal needs its reason.
        doc="" if is_honoured else row.doc,
        dynamic=is_honoured,
        for_all_brokers=False,
        synonyms=(),
        broker_name=broker_name,
        **others,
    )


def _throttle(name: str) -> ConfigKey:
    return honoured(name, LIST, "", "", parse=throttled_replicas, dynamic=True, broker_set=RESERVED)


ROWS: Final = (
    _topic("cleanup.policy", "log.cleanup.policy"),
    _topic("compression.type", "compression.type"),
    _topic("delete.retention.ms", "log.cleaner.delete.retention.ms"),
    _topic("file.delete.delay.ms", "log.segment.delete.delay.ms"),
    # Kafka accepts 0 for topics only; it means "flush each message", as 1 does.
    _topic("flush.messages", "log.flush.interval.messages", parse=number(LONG, 0)),
    _topic("flush.ms", "log.flush.interval.ms", LONG_MAX),
    _throttle("follower.replication.throttled.replicas"),
    _topic("index.interval.bytes", "log.index.interval.bytes"),
    _throttle("leader.replication.throttled.replicas"),
    _topic("max.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms"),
    _topic("max.message.bytes", "message.max.bytes"),
    _topic("message.downconversion.enable", "log.message.downconversion.enable"),
    _topic("message.format.version", "log.message.format.version"),
    _topic("message.timestamp.difference.max.ms", "log.message.timestamp.difference.max.ms"),
    _topic("message.timestamp.type", "log.message.timestamp.type"),
    _topic("min.cleanable.dirty.ratio", "log.cleaner.min.cleanable.ratio"),
    _topic("min.compaction.lag.ms", "log.cleaner.min.compaction.lag.ms"),
    _topic("min.insync.replicas", "min.insync.replicas"),
    _topic("preallocate", "log.preallocate"),
    _topic("retention.bytes", "log.retention.bytes", parse=number(LONG)),
    _topic("retention.ms", "log.retention.ms", 7 * _DAY_MS, parse=number(LONG, -1)),
    _topic("segment.bytes", "log.segment.bytes"),
    _topic("segment.index.bytes", "log.index.size.max.bytes"),
    _topic("segment.jitter.ms", "log.roll.jitter.ms", 0),
    _topic("segment.ms", "log.roll.ms", 7 * _DAY_MS),
    _topic("unclean.leader.election.enable", "unclean.leader.election.enable"),
)
