"""Samples of load, gathered into rates of partitions.

A partition may have been led by several brokers: what they counted adds up, and the time that their
samples cover counts once. Time that no sample covers, because a broker could not write it, counts
as if it had not been. What is kept takes 28 bytes per partition and sample.
"""

from array import array
from dataclasses import dataclass, field

import numpy as np

from ballast.model.load_samples import LoadSample
from ballast.planner.arrays import Floats, Ints

MS_PER_SECOND = 1000
_DECIMALS = 3


@dataclass(slots=True)
class _Rows:
    """One topic's samples, a row per partition and sample."""

    partitions: "array[int]" = field(default_factory=lambda: array("i"))
    starts_ms: "array[int]" = field(default_factory=lambda: array("q"))
    ends_ms: "array[int]" = field(default_factory=lambda: array("q"))
    bytes_in: "array[int]" = field(default_factory=lambda: array("q"))


class LoadHistory:
    """What is known of a while: samples go in, rates come out."""

    def __init__(self) -> None:
        self._topics: dict[str, _Rows] = {}
        self._first_ms: int | None = None
        self._last_ms = 0

    def add(self, sample: LoadSample) -> None:
        """Take in a sample."""
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
        """Whether no sample was taken in."""
        return not self._topics

    @property
    def span_ms(self) -> int:
        """From the begin of the first sample to the end of the last."""
        return 0 if self._first_ms is None else self._last_ms - self._first_ms

    def bytes_in_per_second(
        self, topic: str, partitions: int, percentile: int | None = None
    ) -> list[float]:
        """Return what was written to each of a topic's partitions: on average, or the percentile.

        The percentile is that of the samples' own rates, by the nearest rank. Of a partition that
        no sample tells of, 0.
        """
        rates = np.zeros(partitions, np.float64)
        rows = self._topics.get(topic)
        if rows is not None:
            told_of = np.frombuffer(rows.partitions, np.int32).astype(np.int64)
            known = told_of < partitions
            numbers = told_of[known]
            starts, ends, bytes_in = (
                np.frombuffer(column, np.int64)[known]
                for column in (rows.starts_ms, rows.ends_ms, rows.bytes_in)
            )
            if percentile is None:
                covered = _covered_ms(numbers, starts, ends, partitions)
                total = np.bincount(numbers, bytes_in, partitions)
                rates = MS_PER_SECOND * total / np.maximum(1, covered)
            else:
                own = MS_PER_SECOND * bytes_in / (ends - starts)
                rates = _percentile(numbers, own, partitions, percentile)
        told: list[float] = np.round(rates, _DECIMALS).tolist()
        return told


def _covered_ms(numbers: Ints, starts: Ints, ends: Ints, partitions: int) -> Ints:
    """Return how long each partition's samples cover together, what overlaps counted once."""
    if not len(numbers):
        return np.zeros(partitions, np.int64)
    origin = int(starts.min())
    stride = int(ends.max()) - origin + 1
    # Each partition gets a stretch of its own on one line of time: then one pass does for all.
    order = np.lexsort((starts, numbers))
    shift = numbers[order] * stride - origin
    starts, ends = starts[order] + shift, ends[order] + shift
    reached = np.maximum.accumulate(ends)
    before = np.concatenate([np.zeros(1, np.int64), reached[:-1]])
    new = np.maximum(0, ends - np.maximum(starts, before))
    return np.bincount(numbers[order], new, partitions).astype(np.int64)


def _percentile(numbers: Ints, rates: Floats, partitions: int, percentile: int) -> Floats:
    """Return each partition's percentile by the nearest rank; 0 where there is nothing."""
    ordered = rates[np.lexsort((rates, numbers))]
    counts = np.bincount(numbers, minlength=partitions)
    ranks = np.maximum(1, -(-counts * percentile // 100))
    places = np.cumsum(counts) - counts + ranks - 1
    found = np.zeros(partitions, np.float64)
    there = counts > 0
    found[there] = ordered[places[there]]
    return found
