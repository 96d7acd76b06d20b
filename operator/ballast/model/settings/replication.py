"""Settings of replication, of fetches, and of controlled shutdown."""

from typing import Final

from ballast.model.settings.keys import (
    BOOLEAN,
    INT,
    LONG,
    RESERVED,
    STRING,
    ConfigKey,
    documented,
    harmless,
    honoured,
    refused,
)
from ballast.model.settings.values import LONG_MAX

_PURGES: Final = (
    "A completed operation leaves the purgatory immediately: nothing remains to be purged."
)


def _purge(name: str, default: int) -> ConfigKey:
    return harmless(f"{name}.purgatory.purge.interval.requests", INT, default)


_FOLLOWERS: Final = {
    honoured(
        "replica.lag.time.max.ms", LONG, 30000, least=1
    ): "Time after which a follower that has not caught up leaves the ISR.",
    honoured(
        "replica.fetch.wait.max.ms", INT, 500, least=0
    ): "Maximum time that a leader delays the response to a follower's fetch.",
    honoured(
        "replica.fetch.min.bytes", INT, 1, least=0
    ): "Bytes that a leader collects before it answers a follower's fetch.",
    honoured(
        "replica.fetch.max.bytes", INT, 1048576, least=1
    ): "Bytes per partition that a follower requests.",
    honoured(
        "replica.fetch.response.max.bytes", INT, 10485760, least=1
    ): "Bytes per fetch that a follower requests.",
    honoured(
        "replica.fetch.backoff.ms", INT, 1000, least=0
    ): "Pause of a follower after a failed fetch.",
    honoured(
        "replica.socket.timeout.ms", INT, 30000, least=1
    ): "Time that a follower waits for its leader's response.",
    harmless(
        "replica.socket.receive.buffer.bytes", INT, 65536
    ): "Socket buffers have measured sizes, which change no response.",
    honoured(
        "replica.high.watermark.checkpoint.interval.ms", LONG, 5000, least=1
    ): "Interval at which high watermarks are saved to disk.",
    honoured(
        "num.replica.fetchers", INT, 1, least=1, most=64
    ): "Fetchers per source broker; partitions are distributed over them.",
    refused(
        "replica.selector.class",
        STRING,
        None,
        is_honoured=lambda name: name == "org.apache.kafka.common.replica.LeaderSelector",
    ): "Consumers are always sent to leaders.",
}

_READS: Final = {
    honoured(
        "fetch.max.bytes", INT, 57671680, least=1024
    ): "Maximum size of a fetch response in bytes, whatever the client requests.",
    honoured(
        "max.incremental.fetch.session.cache.slots", INT, 1000, least=0
    ): "Maximum number of fetch sessions (KIP-227).",
    _purge("fetch", 1000): _PURGES,
    _purge("producer", 1000): _PURGES,
    _purge("delete.records", 1): _PURGES,
}

_THROTTLES: Final = {
    honoured(
        "leader.replication.throttled.rate",
        LONG,
        LONG_MAX,
        least=1,
        dynamic=True,
        broker_set=RESERVED,
    ): (
        "Bytes per second at which followers may read throttled replicas that this broker leads "
        "(KIP-73)."
    ),
    honoured(
        "follower.replication.throttled.rate",
        LONG,
        LONG_MAX,
        least=1,
        dynamic=True,
        broker_set=RESERVED,
    ): "Bytes per second at which this broker may fetch throttled replicas (KIP-73).",
    honoured(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        LONG,
        LONG_MAX,
        least=1,
        dynamic=True,
        broker_set=RESERVED,
    ): "Bytes per second that may be copied between this broker's log directories (KIP-113).",
    honoured(
        "replication.quota.window.num", INT, 11, least=1
    ): "Number of samples over which the rate of throttled replicas is measured.",
    honoured(
        "replication.quota.window.size.seconds", INT, 1, least=1
    ): "Length of one such sample.",
    honoured(
        "alter.log.dirs.replication.quota.window.num", INT, 11, least=1
    ): "Number of samples over which the rate between log directories is measured.",
    honoured(
        "alter.log.dirs.replication.quota.window.size.seconds", INT, 1, least=1
    ): "Length of one such sample.",
}

_LEAVING: Final = {
    honoured(
        "controlled.shutdown.enable", BOOLEAN, "true", broker_set=RESERVED
    ): "Whether the broker transfers its leadership before it stops.",
    honoured(
        "controlled.shutdown.max.retries", INT, 3, least=0
    ): "Attempts to transfer leadership.",
    honoured(
        "controlled.shutdown.retry.backoff.ms", LONG, 5000, least=0
    ): "Pause between two such attempts.",
    honoured(
        "ballast.controlled.shutdown.timeout.ms", LONG, 90000, least=0
    ): "Total time for transferring leadership; after it the broker stops.",
}

ROWS: Final = documented(_FOLLOWERS | _READS | _THROTTLES | _LEAVING)
