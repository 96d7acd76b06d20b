"""The part of a broker's configuration that is about the history of load."""

from dataclasses import dataclass

from ballast.broker.config.properties import setting


@dataclass(frozen=True, kw_only=True)
class LoadSettings:
    """The properties of ``__ballast_load``, parsed. Times are milliseconds, sizes bytes."""

    load_sample_interval_ms: int = setting("ballast.load.sample.interval.ms")
    load_topic_num_partitions: int = setting("ballast.load.topic.num.partitions")
    load_topic_replication_factor: int = setting("ballast.load.topic.replication.factor")
    load_retention_ms: int = setting("ballast.load.retention.ms")
    load_retention_bytes: int = setting("ballast.load.retention.bytes")
