"""Settings of consumer groups, committed offsets and idempotent producers."""

from typing import Final

from ballast.model.settings.keys import (
    INT,
    LONG,
    SHORT,
    ConfigKey,
    harmless,
    honoured,
)
from ballast.model.settings.values import INT_MAX, ConfigType

_NO_TRANSACTIONS: Final = "Transactions are refused, so there is no transaction log."

_GROUPS: Final = (
    honoured(
        "group.min.session.timeout.ms",
        INT,
        6000,
        "The shortest session timeout that a member may request.",
        least=0,
    ),
    honoured(
        "group.max.session.timeout.ms",
        INT,
        1800000,
        "The longest session timeout that a member may request.",
        least=0,
    ),
    honoured(
        "group.initial.rebalance.delay.ms",
        INT,
        3000,
        "Time that an empty group waits for more members before its first rebalance.",
        least=0,
    ),
    honoured("group.max.size", INT, INT_MAX, "Maximum number of members of a group.", least=1),
)

_OFFSETS: Final = (
    honoured(
        "offset.metadata.max.bytes",
        INT,
        4096,
        "Maximum length of the metadata of a committed offset.",
        least=0,
    ),
    honoured(
        "offsets.topic.replication.factor",
        SHORT,
        3,
        "Replicas of __consumer_offsets, which is not created while fewer brokers are alive.",
        least=1,
    ),
    honoured(
        "offsets.topic.num.partitions",
        INT,
        50,
        "Partitions of __consumer_offsets at its creation; later changes have no effect.",
        least=1,
    ),
    honoured(
        "offsets.topic.segment.bytes",
        INT,
        104857600,
        "Size of a segment of __consumer_offsets.",
        least=14,
    ),
    honoured(
        "offsets.topic.compression.codec",
        INT,
        0,
        "Codec of __consumer_offsets: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.",
        least=0,
        most=4,
    ),
    honoured(
        "offsets.retention.minutes",
        INT,
        10080,
        "Time that the offsets of a group without members are kept.",
        least=1,
    ),
    honoured(
        "offsets.retention.check.interval.ms",
        LONG,
        600000,
        "Interval of the search for expired offsets.",
        least=1,
    ),
    honoured(
        "offsets.commit.timeout.ms",
        INT,
        5000,
        "Time that a commit waits for the replicas of __consumer_offsets.",
        least=1,
    ),
    harmless(
        "offsets.commit.required.acks",
        SHORT,
        -1,
        "All in-sync replicas acknowledge every commit, which is the maximum.",
        least=-1,
        most=32767,
    ),
    harmless(
        "offsets.load.buffer.size",
        INT,
        5242880,
        "__consumer_offsets is read in blocks of a fixed size.",
        least=1,
    ),
)


def _transactions(name: str, type_: ConfigType, default: int) -> ConfigKey:
    return harmless(f"transaction.{name}", type_, default, _NO_TRANSACTIONS, least=1)


_PRODUCERS: Final = (
    honoured(
        "transactional.id.expiration.ms",
        INT,
        604800000,
        "Time that the sequence numbers of an inactive idempotent producer are kept.",
        least=1,
    ),
    _transactions("abort.timed.out.transaction.cleanup.interval.ms", INT, 10000),
    _transactions("max.timeout.ms", INT, 900000),
    _transactions("remove.expired.transaction.cleanup.interval.ms", INT, 3600000),
    _transactions("state.log.load.buffer.size", INT, 5242880),
    _transactions("state.log.min.isr", INT, 2),
    _transactions("state.log.num.partitions", INT, 50),
    _transactions("state.log.replication.factor", SHORT, 3),
    _transactions("state.log.segment.bytes", INT, 104857600),
)

ROWS: Final = (*_GROUPS, *_OFFSETS, *_PRODUCERS)
