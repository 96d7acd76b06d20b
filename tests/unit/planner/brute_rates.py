"""The rates of `ballast.model.load_features`, by plain loops over one partition's samples."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ballast.model.load_features import LoadFeatures
from ballast.model.load_samples import LoadSample

Row = tuple[int, int, int]
"""Start, end and bytes in."""


def rows_of(samples: Iterable[LoadSample], topic: str, partition: int) -> list[Row]:
    """Return what is told of one partition."""
    return [
        (sample.start_ms, sample.end_ms, bytes_in)
        for sample in samples
        if sample.topic == topic
        for number, bytes_in in zip(sample.partitions, sample.bytes_in, strict=True)
        if number == partition
    ]


def brute_rate(rows: Sequence[Row], features: LoadFeatures) -> float:
    """Return the rate of one partition, to thousandths."""
    if not rows:
        return 0.0
    parts = [rows]
    if features.by_hour_of_day:
        hours: dict[int, list[Row]] = {}
        for row in rows:
            hours.setdefault((row[1] - 1) // 3_600_000 % 24, []).append(row)
        parts = [*hours.values()]
    rate = max(_rate(part, features.percentile) for part in parts)
    if features.growth_seconds is not None:
        rate = min(rate + _growth(rows, features.growth_seconds * 1000), 10 * rate)
    return round(rate * 1000) / 1000


def _rate(rows: Sequence[Row], percentile: int | None) -> float:
    if percentile is None:
        return 1000 * float(sum(row[2] for row in rows)) / _covered_ms(rows)
    own = sorted(1000 * bytes_in / (end - start) for start, end, bytes_in in rows)
    return own[max(1, math.ceil(len(own) * percentile / 100)) - 1]


def _covered_ms(rows: Sequence[Row]) -> int:
    """Return the length of the union of intervals, from edge to edge."""
    edges = sorted({edge for start, end, _ in rows for edge in (start, end)})
    return sum(
        right - left
        for left, right in pairwise(edges)
        if any(start <= left and right <= end for start, end, _ in rows)
    )


def _growth(rows: Sequence[Row], ahead_ms: int) -> float:
    end = max(row[1] for row in rows)
    span = end - min(row[0] for row in rows)
    two_days = 2 * 86_400_000
    if span >= two_days:
        span = span // two_days * two_days
    # Twice the moments, since the middle of an odd time is half a millisecond.
    twice = [(2 * (row[1] - 1), row) for row in rows]
    begin, middle = 2 * (end - span), 2 * end - span
    earlier = [row for moment, row in twice if begin <= moment < middle]
    later = [row for moment, row in twice if moment >= middle]
    if not earlier or not later:
        return 0.0
    gained = max(0.0, _rate(later, None) - _rate(earlier, None))
    return gained * (span + 2 * ahead_ms) / span
