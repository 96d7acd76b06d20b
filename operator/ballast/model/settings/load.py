"""Ballast's settings of the load history, the topic ``__ballast_load``."""

from typing import Final

from ballast.model.settings.keys import INT, LONG, documented, honoured
from ballast.model.settings.values import SHORT_MAX, number


def _replication_factor(text: str) -> int:
    value: int = number(INT, -1, SHORT_MAX)(text)
    if value == 0:
        raise ValueError("Value must be -1 (default.replication.factor) or at least 1")
    return value


ROWS: Final = documented(
    {
        honoured("ballast.load.sample.interval.ms", LONG, 60000, least=0): (
            "Interval at which the load of a broker's leaders is written to __ballast_load; 0 to "
            "disable."
        ),
        honoured(
            "ballast.load.topic.num.partitions", INT, 4, least=1
        ): "Partitions of __ballast_load at its creation; later changes have no effect.",
        honoured(
            "ballast.load.topic.replication.factor", INT, -1, parse=_replication_factor
        ): "Replicas of __ballast_load; -1 for default.replication.factor.",
        honoured(
            "ballast.load.retention.ms", LONG, 604800000, least=1
        ): "Time that load samples are kept.",
        honoured(
            "ballast.load.retention.bytes", LONG, 1073741824, least=1
        ): "Size above which a partition of __ballast_load deletes its oldest samples.",
    }
)
