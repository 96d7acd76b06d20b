"""Settings of compaction."""

from typing import Final

from ballast.model.settings.keys import (
    BOOLEAN,
    DOUBLE,
    INT,
    LONG,
    documented,
    harmless,
    honoured,
    refused,
)
from ballast.model.settings.values import LONG_MAX, rate, real

ROWS: Final = documented(
    {
        honoured(
            "log.cleaner.enable", BOOLEAN, "true"
        ): "Whether logs with cleanup.policy=compact are compacted.",
        honoured(
            "log.cleaner.min.cleanable.ratio", DOUBLE, "0.5", parse=real(0, 1), dynamic=True
        ): "Dirty share of a log above which it is compacted.",
        honoured(
            "log.cleaner.min.compaction.lag.ms", LONG, 0, least=0, dynamic=True
        ): "Age below which a record is not compacted.",
        honoured(
            "log.cleaner.max.compaction.lag.ms", LONG, LONG_MAX, least=1, dynamic=True
        ): "Age above which a record is compacted, even if the dirty share is small.",
        honoured(
            "log.cleaner.delete.retention.ms", LONG, 86400000, least=0, dynamic=True
        ): "Time that a tombstone remains in a compacted log.",
        honoured("log.cleaner.dedupe.buffer.size", LONG, 134217728, least=1, dynamic=True): (
            "Memory for the keys of one compaction, 200 bytes each; further keys wait for the next "
            "one."
        ),
        honoured(
            "log.cleaner.io.max.bytes.per.second",
            DOUBLE,
            "1.7976931348623157E308",
            parse=rate,
            dynamic=True,
        ): "Average rate in bytes per second at which compaction may read and write in total.",
        honoured(
            "log.cleaner.backoff.ms", LONG, 15000, least=0, dynamic=True
        ): "Pause of the cleaner when no log is due for compaction.",
        # Any number but 0, which would mean that nothing is compacted, changes the pace only.
        refused(
            "log.cleaner.threads", INT, 1, least=0, is_honoured=bool
        ): "One cleaner works while log.cleaner.enable is true; set that to false to have none.",
        harmless(
            "log.cleaner.io.buffer.size", INT, 524288, least=0
        ): "Compaction reads whole batches and sizes its buffer by them.",
        harmless(
            "log.cleaner.io.buffer.load.factor", DOUBLE, "0.9"
        ): "The map of keys grows as it fills; log.cleaner.dedupe.buffer.size bounds it.",
    }
)
