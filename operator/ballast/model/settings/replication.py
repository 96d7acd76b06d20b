"""Settings of replication, of fetches, and of controlled shutdown."""

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

_PURGES: Final = (
    "A completed operation leaves the purgatory immediately: nothing remains to be purged."
)


def _purge(name: str, default: int) -> ConfigKey:
    return harmless(f"{name}.purgatory.purge.interval.requests", INT, default, _PURGES)


_FOLLOWERS: Final = (
    honoured(
        "replica.lag.time.max.ms",
        LONG,
        30000,
        "Time after which a follower that has not caught up leaves the ISR.",
        least=1,
    ),
    honoured(
        "replica.fetch.wait.max.ms",
        INT,
        500,
        "Maximum time that a leader delays the response to a follower's fetch.",
        least=0,
    ),
    honoured(
        "replica.fetch.min.bytes",
        INT,
        1,
        "Bytes that a leader collects before it answers a follower's fetch.",
        least=0,
    ),
    honoured(
        "replica.fetch.max.bytes",
        INT,
        1048576,
        "Bytes per partition that a follower requests.",
        least=1,
    ),
    honoured(
        "replica.fetch.response.max.bytes",
        INT,
        10485760,
        "Bytes per fetch that a follower requests.",
        least=1,
    ),
    honoured(
        "replica.fetch.backoff.ms",
        INT,
        1000,
        "Pause of a follower after a failed fetch.",
        least=0,
    ),
    honoured(
        "replica.socket.timeout.ms",
        INT,
        30000,
        "Time that a follower waits for its leader's response.",
        least=1,
    ),
    harmless(
        "replica.socket.receive.buffer.bytes",
        INT,
        65536,
        "Socket buffers have measured sizes, which change no response.",
    ),
    honoured(
        "replica.high.watermark.checkpoint.interval.ms",
        LONG,
        5000,
        "Interval at which high watermarks are saved to disk.",
        least=1,
    ),
    honoured(
        "num.replica.fetchers",
        INT,
        1,
        "Fetchers per source broker; partitions are distributed over them.",
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
        "Maximum size of a fetch response in bytes, whatever the client requests.",
        least=1024,
    ),
    honoured(
        "max.incremental.fetch.session.cache.slots",
        INT,
        1000,
        "Maximum number of fetch sessions (KIP-227).",
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
        "Bytes per second at which followers may read throttled replicas that this broker leads "
        "(KIP-73).",
        least=1,
        dynamic=True,
        broker_set=RESERVED,
    ),
    honoured(
        "follower.replication.throttled.rate",
        LONG,
        LONG_MAX,
        "Bytes per second at which this broker may fetch throttled replicas (KIP-73).",
        least=1,
        dynamic=True,
        broker_set=RESERVED,
    ),
    honoured(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        LONG,
        LONG_MAX,
        "Bytes per second that may be copied between this broker's log directories (KIP-113).",
        least=1,
        dynamic=True,
        broker_set=RESERVED,
    ),
    honoured(
        "replication.quota.window.num",
        INT,
        11,
        "Number of samples over which the rate of throttled replicas is measured.",
        least=1,
    ),
    honoured(
        "replication.quota.window.size.seconds", INT, 1, "Length of one such sample.", least=1
    ),
    honoured(
        "alter.log.dirs.replication.quota.window.num",
        INT,
        11,
        "Number of samples over which the rate between log directories is measured.",
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
        "Whether the broker transfers its leadership before it stops.",
        broker_set=RESERVED,
    ),
    honoured(
        "controlled.shutdown.max.retries",
        INT,
        3,
        "Attempts to transfer leadership.",
        least=0,
    ),
    honoured(
        "controlled.shutdown.retry.backoff.ms",
        LONG,
        5000,
        "Pause between two such attempts.",
        least=0,
    ),
    honoured(
        "ballast.controlled.shutdown.timeout.ms",
        LONG,
        90000,
        "Total time for transferring leadership; after it the broker stops.",
        least=0,
    ),
)

ROWS: Final = (*_FOLLOWERS, *_READS, *_THROTTLES, *_LEAVING)
