"""Settings of logs: rolling, appending, flushing, retention, and the log directories."""

from typing import Final

from ballast.model.settings.keys import (
    BOOLEAN,
    INT,
    LIST,
    LONG,
    STRING,
    Synonym,
    documented,
    harmless,
    honoured,
    refused,
)
from ballast.model.settings.values import (
    LONG_MAX,
    api_version,
    cleanup_policies,
    one_of,
    time_or_unlimited,
)

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS

CODECS: Final = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
TIMESTAMP_TYPES: Final = ("CreateTime", "LogAppendTime")
FIRST_WITH_MAGIC_2: Final = (0, 11, 0)
"""The first release whose batches have the one format that is served."""

NO_CONVERSION: Final = "Batches are never converted: clients of an older format are refused."

LEAST_INDEX_BYTES: Final = 12
"""The size of an entry of the time index: an index holds at least one."""

OLD_FORMATS: Final = "Only the format of 0.11.0 and later is written, to clients of every version."


ROLLING: Final = {
    honoured(
        "log.segment.bytes", INT, 1073741824, least=14, dynamic=True
    ): "Size at which a segment is rolled.",
    honoured(
        "log.roll.ms",
        LONG,
        None,
        least=1,
        dynamic=True,
        synonyms=(Synonym("log.roll.hours", HOUR_MS),),
    ): "Age of a segment at which it is rolled; log.roll.hours by default.",
    honoured(
        "log.roll.hours", INT, 168, least=1
    ): "Age of a segment at which it is rolled, in hours.",
    honoured(
        "log.roll.jitter.ms",
        LONG,
        None,
        least=0,
        dynamic=True,
        synonyms=(Synonym("log.roll.jitter.hours", HOUR_MS),),
    ): (
        "Maximum of the random time by which a segment is rolled earlier than log.roll.ms; "
        "log.roll.jitter.hours by default."
    ),
    honoured(
        "log.roll.jitter.hours", INT, 0, least=0
    ): "Maximum of the random time by which a segment is rolled earlier, in hours.",
    honoured(
        "log.index.interval.bytes", INT, 4096, least=0, dynamic=True
    ): "Bytes of the log between two entries of the offset index.",
    honoured(
        "log.index.size.max.bytes", INT, 10 * 1024 * 1024, least=LEAST_INDEX_BYTES, dynamic=True
    ): "Size of an index at which its segment is rolled.",
    honoured(
        "log.preallocate", BOOLEAN, "false", dynamic=True
    ): "Whether the file of a new segment is created with its full size.",
}

APPENDING: Final = {
    honoured(
        "message.max.bytes", INT, 1048588, least=0, dynamic=True
    ): "Size of the largest batch that a producer may append.",
    honoured(
        "compression.type", STRING, "producer", parse=one_of(*CODECS), dynamic=True
    ): "Codec of stored batches; producer keeps each producer's codec.",
    honoured(
        "log.message.timestamp.type",
        STRING,
        "CreateTime",
        parse=one_of(*TIMESTAMP_TYPES),
        dynamic=True,
    ): "Whether a record's timestamp is its producer's or the time of its append.",
    honoured("log.message.timestamp.difference.max.ms", LONG, LONG_MAX, least=0, dynamic=True): (
        "Maximum difference between a producer's timestamp and the broker's clock; other batches "
        "are refused."
    ),
    refused(
        "log.message.format.version",
        STRING,
        "2.8-IV1",
        parse=api_version,
        is_honoured=lambda release: release >= FIRST_WITH_MAGIC_2,
    ): OLD_FORMATS,
    refused(
        "inter.broker.protocol.version",
        STRING,
        "2.8-IV1",
        parse=api_version,
        is_honoured=lambda release: release == (2, 8),
    ): "Brokers speak the protocol of 2.8 to one another.",
    harmless("log.message.downconversion.enable", BOOLEAN, "true"): NO_CONVERSION,
}

FLUSHING: Final = {
    honoured("log.flush.interval.messages", LONG, LONG_MAX, least=1, dynamic=True): (
        "Number of unflushed records at which a log is flushed before further ones are "
        "acknowledged."
    ),
    honoured(
        "log.flush.interval.ms",
        LONG,
        None,
        least=0,
        dynamic=True,
        synonyms=(Synonym("log.flush.scheduler.interval.ms"),),
    ): (
        "Age of unflushed records at which a log is flushed; "
        "log.flush.scheduler.interval.ms by default."
    ),
    honoured(
        "log.flush.scheduler.interval.ms", LONG, LONG_MAX, least=1
    ): "Interval of the search for logs that are due by log.flush.interval.ms.",
    honoured(
        "log.flush.offset.checkpoint.interval.ms", INT, 60000, least=1
    ): "Interval at which logs are flushed and recovery points saved.",
    honoured(
        "log.flush.start.offset.checkpoint.interval.ms", INT, 60000, least=1
    ): "Interval at which log start offsets are saved, if shorter than that of recovery points.",
}

RETENTION: Final = {
    honoured(
        "log.cleanup.policy", LIST, "delete", parse=cleanup_policies, dynamic=True
    ): "Cleanup of old segments: delete, compact, or both.",
    honoured(
        "log.retention.bytes", LONG, -1, least=-1, dynamic=True
    ): "Size of a partition's log above which its oldest segments are deleted; -1 for no limit.",
    honoured(
        "log.retention.ms",
        LONG,
        None,
        parse=time_or_unlimited(LONG),
        dynamic=True,
        synonyms=(
            Synonym("log.retention.minutes", MINUTE_MS),
            Synonym("log.retention.hours", HOUR_MS),
        ),
    ): "Time that records are kept, -1 for no limit; log.retention.minutes by default.",
    honoured(
        "log.retention.minutes", INT, None, parse=time_or_unlimited(INT)
    ): "Time that records are kept, in minutes; log.retention.hours by default.",
    honoured(
        "log.retention.hours", INT, 168, parse=time_or_unlimited(INT)
    ): "Time that records are kept, in hours.",
    honoured(
        "log.retention.check.interval.ms", LONG, 300000, least=1
    ): "Interval of the search for segments to delete.",
    honoured(
        "log.segment.delete.delay.ms", LONG, 60000, least=0, dynamic=True
    ): "Time that the files of a deleted segment remain on disk.",
    honoured(
        "min.insync.replicas", INT, 1, least=1, dynamic=True
    ): "Number of in-sync replicas below which a produce request with acks=all is refused.",
}

DIRECTORIES: Final = {
    honoured("ballast.log.dir.lock.timeout.ms", LONG, 1000, least=0): (
        "Time that a starting broker waits for another process to release its log.dirs; then it "
        "does not start. In a pod of a BrokerSet the default is 300000."
    ),
}

ROWS: Final = documented(ROLLING | APPENDING | FLUSHING | RETENTION | DIRECTORIES)
