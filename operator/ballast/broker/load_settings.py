"""The part of a broker's configuration that is about the history of load."""

from dataclasses import dataclass

from ballast.broker.settings import INT_MAX, LONG, POSITIVE_LONG, ConfigType, integer, setting

_REPLICAS_MAX = 32767


def _replication_factor(text: str) -> int:
    value = integer(-1, _REPLICAS_MAX)(text)
    if value == 0:
        raise ValueError("neither -1 (default.replication.factor) nor at least 1")
    return value


@dataclass(frozen=True, kw_only=True)
class LoadSettings:
    """The properties of ``__ballast_load``, parsed. Times are milliseconds, sizes bytes."""

    load_sample_interval_ms: int = setting(
        "ballast.load.sample.interval.ms",
        ConfigType.LONG,
        "60000",
        "How often the load of led partitions is written to __ballast_load; 0 for never.",
        parse=LONG,
    )
    load_topic_num_partitions: int = setting(
        "ballast.load.topic.num.partitions",
        ConfigType.INT,
        "4",
        "Partitions of __ballast_load when it is made; it keeps them.",
        parse=integer(1, INT_MAX),
    )
    load_topic_replication_factor: int = setting(
        "ballast.load.topic.replication.factor",
        ConfigType.INT,
        "-1",
        "Replicas of __ballast_load; -1 for default.replication.factor.",
        parse=_replication_factor,
    )
    load_retention_ms: int = setting(
        "ballast.load.retention.ms",
        ConfigType.LONG,
        "604800000",
        "How long samples of load are kept.",
        parse=POSITIVE_LONG,
    )
    load_retention_bytes: int = setting(
        "ballast.load.retention.bytes",
        ConfigType.LONG,
        "1073741824",
        "Bytes of samples above which a partition of __ballast_load drops its oldest.",
        parse=POSITIVE_LONG,
    )
