"""Settings of consumer groups, committed offsets and idempotent producers."""

from typing import Final

from ballast.model.settings.keys import (
    INT,
    LONG,
    SHORT,
    ConfigKey,
    documented,
    harmless,
    honoured,
)
from ballast.model.settings.values import INT_MAX, ConfigType

_NO_TRANSACTIONS: Final = "Transactions are refused, so there is no transaction log."

_GROUPS: Final = {
    honoured(
        "group.min.session.timeout.ms", INT, 6000, least=0
    ): "The shortest session timeout that a member may request.",
    honoured(
        "group.max.session.timeout.ms", INT, 1800000, least=0
    ): "The longest session timeout that a member may request.",
    honoured(
        "group.initial.rebalance.delay.ms", INT, 3000, least=0
    ): "Time that an empty group waits for more members before its first rebalance.",
    honoured("group.max.size", INT, INT_MAX, least=1): "Maximum number of members of a group.",
}

_OFFSETS: Final = {
    honoured(
        "offset.metadata.max.bytes", INT, 4096, least=0
    ): "Maximum length of the metadata of a committed offset.",
    honoured(
        "offsets.topic.replication.factor", SHORT, 3, least=1
    ): "Replicas of __consumer_offsets, which is not created while fewer brokers are alive.",
    honoured(
        "offsets.topic.num.partitions", INT, 50, least=1
    ): "Partitions of __consumer_offsets at its creation; later changes have no effect.",
    honoured(
        "offsets.topic.segment.bytes", INT, 104857600, least=14
    ): "Size of a segment of __consumer_offsets.",
    honoured(
        "offsets.topic.compression.codec", INT, 0, least=0, most=4
    ): "Codec of __consumer_offsets: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.",
    honoured(
        "offsets.retention.minutes", INT, 10080, least=1
    ): "Time that the offsets of a group without members are kept.",
    honoured(
        "offsets.retention.check.interval.ms", LONG, 600000, least=1
    ): "Interval of the search for expired offsets.",
    honoured(
        "offsets.commit.timeout.ms", INT, 5000, least=1
    ): "Time that a commit waits for the replicas of __consumer_offsets.",
    harmless(
        "offsets.commit.required.acks", SHORT, -1, least=-1, most=32767
    ): "All in-sync replicas acknowledge every commit, which is the maximum.",
    harmless(
        "offsets.load.buffer.size", INT, 5242880, least=1
    ): "__consumer_offsets is read in blocks of a fixed size.",
}


def _transactions(name: str, type_: ConfigType, default: int) -> ConfigKey:
    return harmless(f"transaction.{name}", type_, default, least=1)


_PRODUCERS: Final = {
    honoured(
        "transactional.id.expiration.ms", INT, 604800000, least=1
    ): "Time that the sequence numbers of an inactive idempotent producer are kept.",
    _transactions("abort.timed.out.transaction.cleanup.interval.ms", INT, 10000): _NO_TRANSACTIONS,
    _transactions("max.timeout.ms", INT, 900000): _NO_TRANSACTIONS,
    _transactions("remove.expired.transaction.cleanup.interval.ms", INT, 3600000): _NO_TRANSACTIONS,
    _transactions("state.log.load.buffer.size", INT, 5242880): _NO_TRANSACTIONS,
    _transactions("state.log.min.isr", INT, 2): _NO_TRANSACTIONS,
    _transactions("state.log.num.partitions", INT, 50): _NO_TRANSACTIONS,
    _transactions("state.log.replication.factor", SHORT, 3): _NO_TRANSACTIONS,
    _transactions("state.log.segment.bytes", INT, 104857600): _NO_TRANSACTIONS,
}

ROWS: Final = documented(_GROUPS | _OFFSETS | _PRODUCERS)
