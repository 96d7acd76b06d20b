"""Collects samples of load and computes rates of partitions from them.

Several brokers may have led a partition. Time that no sample covers, because a broker could not
write it, does not count. A sample takes 28 bytes per partition.

"""

from array import array
from dataclasses import dataclass, field

import numpy as np

from ballast.model.load_features import AVERAGE, LoadFeatures
from ballast.model.load_samples import LoadSample
from ballast.planner.snapshot.load_rates import Samples, partition_rates

_DECIMALS = 3


@dataclass(slots=True)
class _Rows:
    """One topic's samples, a row per partition and sample."""

    partitions: "array[int]" = field(default_factory=lambda: array("i"))
    starts_ms: "array[int]" = field(default_factory=lambda: array("q"))
    ends_ms: "array[int]" = field(default_factory=lambda: array("q"))
    bytes_in: "array[int]" = field(default_factory=lambda: array("q"))


class LoadHistory:
    """The samples of a period: `add` collects them, `rates` computes rates."""

    def __init__(self) -> None:
        self._topics: dict[str, _Rows] = {}
        self._first_ms: int | None = None
        self._last_ms = 0

    def add(self, sample: LoadSample) -> None:
        rows = self._topics.setdefault(sample.topic, _Rows())
        count = len(sample.partitions)
        rows.partitions.extend(sample.partitions)
        rows.starts_ms.extend([sample.start_ms] * count)
        rows.ends_ms.extend([sample.end_ms] * count)
        rows.bytes_in.extend(sample.bytes_in)
        first_ms = sample.start_ms if self._first_ms is None else self._first_ms
        self._first_ms = min(first_ms, sample.start_ms)
        self._last_ms = max(self._last_ms, sample.end_ms)

    @property
    def is_empty(self) -> bool:
        """Whether there is no sample."""
        return not self._topics

    @property
    def span_ms(self) -> int:
        """The time from the start of the first sample to the end of the last."""
        return 0 if self._first_ms is None else self._last_ms - self._first_ms

    def bytes_in_per_second(
        self, topic: str, partitions: int, features: LoadFeatures = AVERAGE
    ) -> list[float]:
        """Return the rate of each of a topic's partitions: by default the average.

        0 for a partition without samples.
        """
        rows = self._topics.get(topic)
        if rows is None:
            return [0.0] * partitions
        told_of = np.frombuffer(rows.partitions, np.int32).astype(np.int64)
        known = told_of < partitions
        starts, ends, bytes_in = (
            np.frombuffer(column, np.int64)[known]
            for column in (rows.starts_ms, rows.ends_ms, rows.bytes_in)
        )
        samples = Samples(groups=told_of[known], starts_ms=starts, ends_ms=ends, bytes_in=bytes_in)
        rates = partition_rates(samples, partitions, features)
        told: list[float] = np.round(rates, _DECIMALS).tolist()
        return told
