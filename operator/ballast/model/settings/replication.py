"""Settings of replication, of reads, and of a broker's leaving."""

from typing import Final

from ballast.model.settings.keys import (
    BOOLEAN,
    INT,
    LONG,
    RESERVED,
    STRING,
    ConfigKey,
    harmless,
    honoured,
    refused,
)
from ballast.model.settings.values import LONG_MAX

_PURGES: Final = "What waits is dropped when it completes: nothing is left to be purged."


def _purge(name: str, default: int) -> ConfigKey:
    return harmless(f"{name}.purgatory.purge.interval.requests", INT, default, _PURGES)


_FOLLOWERS: Final = (
    honoured(
        "replica.lag.time.max.ms",
        LONG,
        30000,
        "A follower that has not caught up for so long leaves the ISR.",
        least=1,
    ),
    honoured(
        "replica.fetch.wait.max.ms",
        INT,
        500,
        "How long a leader may hold a follower's fetch back.",
        least=0,
    ),
    honoured(
        "replica.fetch.min.bytes",
        INT,
        1,
        "Bytes that a leader gathers before it answers a follower.",
        least=0,
    ),
    honoured(
        "replica.fetch.max.bytes",
        INT,
        1048576,
        "Bytes per partition that a follower asks for.",
        least=1,
    ),
    honoured(
        "replica.fetch.response.max.bytes",
        INT,
        10485760,
        "Bytes per fetch that a follower asks for.",
        least=1,
    ),
    honoured(
        "replica.fetch.backoff.ms",
        INT,
        1000,
        "Wait of a follower after a fetch that failed.",
        least=0,
    ),
    honoured(
        "replica.socket.timeout.ms",
        INT,
        30000,
        "How long a follower waits for its leader's answer.",
        least=1,
    ),
    harmless(
        "replica.socket.receive.buffer.bytes",
        INT,
        65536,
        "The size of socket buffers is chosen by what was measured; it changes no answer.",
    ),
    honoured(
        "replica.high.watermark.checkpoint.interval.ms",
        LONG,
        5000,
        "How often high watermarks are saved to disk.",
        least=1,
    ),
    honoured(
        "num.replica.fetchers",
        INT,
        1,
        "Fetchers per leading broker; partitions are spread over them.",
        least=1,
        most=64,
    ),
    refused(
        "replica.selector.class",
        STRING,
        None,
        "Consumers are always sent to leaders.",
        is_honoured=lambda name: name == "org.apache.kafka.common.replica.LeaderSelector",
    ),
)

_READS: Final = (
    honoured(
        "fetch.max.bytes",
        INT,
        57671680,
        "Bytes that a fetch is answered with at most, however many are asked for.",
        least=1024,
    ),
    honoured(
        "max.incremental.fetch.session.cache.slots",
        INT,
        1000,
        "Fetch sessions that are kept (KIP-227).",
        least=0,
    ),
    _purge("fetch", 1000),
    _purge("producer", 1000),
    _purge("delete.records", 1),
)

_THROTTLES: Final = (
    honoured(
        "leader.replication.throttled.rate",
        LONG,
        LONG_MAX,
        "Bytes per second that throttled replicas may be read with here (KIP-73).",
        least=1,
        dynamic=True,
        broker_set=RESERVED,
    ),
    honoured(
        "follower.replication.throttled.rate",
        LONG,
        LONG_MAX,
        "Bytes per second that throttled replicas here may fetch with (KIP-73).",
        least=1,
        dynamic=True,
        broker_set=RESERVED,
    ),
    honoured(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        LONG,
        LONG_MAX,
        "Bytes per second that may be copied between log directories here (KIP-113).",
        least=1,
        dynamic=True,
        broker_set=RESERVED,
    ),
    honoured(
        "replication.quota.window.num",
        INT,
        11,
        "Samples that the rate of throttled replicas is measured over.",
        least=1,
    ),
    honoured(
        "replication.quota.window.size.seconds", INT, 1, "Length of one such sample.", least=1
    ),
    honoured(
        "alter.log.dirs.replication.quota.window.num",
        INT,
        11,
        "Samples that the rate between log directories is measured over.",
        least=1,
    ),
    honoured(
        "alter.log.dirs.replication.quota.window.size.seconds",
        INT,
        1,
        "Length of one such sample.",
        least=1,
    ),
)

_LEAVING: Final = (
    honoured(
        "controlled.shutdown.enable",
        BOOLEAN,
        "true",
        "Whether leadership is handed over before the broker stops.",
        broker_set=RESERVED,
    ),
    honoured(
        "controlled.shutdown.max.retries",
        INT,
        3,
        "Attempts to hand leadership over.",
        least=0,
    ),
    honoured(
        "controlled.shutdown.retry.backoff.ms",
        LONG,
        5000,
        "Wait between two such attempts.",
        least=0,
    ),
    honoured(
        "ballast.controlled.shutdown.timeout.ms",
        LONG,
        90000,
        "How long handing leadership over may take in all; then the broker stops without.",
        least=0,
    ),
)

ROWS: Final = (*_FOLLOWERS, *_READS, *_THROTTLES, *_LEAVING)
