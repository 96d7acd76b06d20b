"""Computes the rates of `ballast.model.load_features` from samples of one topic's partitions.

Sums are of integers, exact up to 2**53, so that their order does not matter. The floating-point
operations after them are the same as on Spark.

"""

from dataclasses import dataclass

import numpy as np

from ballast.model.load_features import (
    DAY_MS,
    HOUR_MS,
    HOURS_PER_DAY,
    MAX_GROWTH,
    MS_PER_SECOND,
    LoadFeatures,
)
from ballast.planner.arrays import Bools, Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Columns with a row per sample of one group; a group is a partition, or an hour of one."""

    groups: Ints
    starts_ms: Ints
    ends_ms: Ints
    """Each is after its start."""
    bytes_in: Ints

    def of(self, rows: Bools) -> "Samples":
        """Return a part of the samples."""
        return Samples(
            groups=self.groups[rows],
            starts_ms=self.starts_ms[rows],
            ends_ms=self.ends_ms[rows],
            bytes_in=self.bytes_in[rows],
        )


def partition_rates(samples: Samples, partitions: int, features: LoadFeatures) -> Floats:
    """Return bytes per second of the partitions 0 … ``partitions`` - 1, the samples' groups.

    0 for a partition without samples.
    """
    if features.by_hour_of_day:
        rates = _busiest_hours(samples, partitions, features.percentile)
    else:
        rates = _rates(samples, partitions, features.percentile)
    if features.growth_seconds is None:
        return rates
    growth = _growth(samples, partitions, MS_PER_SECOND * features.growth_seconds)
    return np.minimum(rates + growth, MAX_GROWTH * rates)


def _rates(samples: Samples, groups: int, percentile: int | None) -> Floats:
    return (
        _averages(samples, groups) if percentile is None else _ranked(samples, groups, percentile)
    )


def _busiest_hours(samples: Samples, partitions: int, percentile: int | None) -> Floats:
    hours = (samples.ends_ms - 1) % DAY_MS // HOUR_MS
    by_hour = Samples(
        groups=samples.groups * HOURS_PER_DAY + hours,
        starts_ms=samples.starts_ms,
        ends_ms=samples.ends_ms,
        bytes_in=samples.bytes_in,
    )
    rates = _rates(by_hour, partitions * HOURS_PER_DAY, percentile)
    busiest: Floats = rates.reshape(partitions, HOURS_PER_DAY).max(axis=1)
    return busiest


def _growth(samples: Samples, partitions: int, ahead_ms: int) -> Floats:
    """Return the factor of each rate's growth until ``ahead_ms`` after the last sample."""
    lasts = np.zeros(partitions, np.int64)
    np.maximum.at(lasts, samples.groups, samples.ends_ms)
    first_occurrences = lasts.copy()
    np.minimum.at(first_occurrences, samples.groups, samples.starts_ms)
    spans = lasts - first_occurrences
    pairs_of_days = spans - spans % (2 * DAY_MS)
    spans = np.where(pairs_of_days > 0, pairs_of_days, spans)
    moments = samples.ends_ms - 1
    is_later = 2 * moments >= (2 * lasts - spans)[samples.groups]
    is_earlier = ~is_later & (moments >= (lasts - spans)[samples.groups])
    earlier, later = samples.of(is_earlier), samples.of(is_later)
    gained = np.maximum(0.0, _averages(later, partitions) - _averages(earlier, partitions))
    gained[np.bincount(earlier.groups, minlength=partitions) == 0] = 0
    # The middles of the halves are half a span apart; growth is extrapolated from the centre.
    grown: Floats = gained * (spans + 2 * ahead_ms) / np.maximum(1, spans)
    return grown


def _averages(samples: Samples, groups: int) -> Floats:
    total = np.bincount(samples.groups, samples.bytes_in, groups)
    averages: Floats = MS_PER_SECOND * total / np.maximum(1, _covered_ms(samples, groups))
    return averages


def _covered_ms(samples: Samples, groups: int) -> Ints:
    """Return the time that each group's samples cover; overlaps count once."""
    if not len(samples.groups):
        return np.zeros(groups, np.int64)
    origin = int(samples.starts_ms.min())
    stride = int(samples.ends_ms.max()) - origin + 1
    # Each group gets its own section of one time axis: then one pass handles all groups.
    order = np.lexsort((samples.starts_ms, samples.groups))
    shift = samples.groups[order] * stride - origin
    starts, ends = samples.starts_ms[order] + shift, samples.ends_ms[order] + shift
    reached = np.maximum.accumulate(ends)
    before = np.concatenate([np.zeros(1, np.int64), reached[:-1]])
    new = np.maximum(0, ends - np.maximum(starts, before))
    return np.bincount(samples.groups[order], new, groups).astype(np.int64)


def _ranked(samples: Samples, groups: int, percentile: int) -> Floats:
    """Return each group's percentile by the nearest rank; 0 for an empty group."""
    own = MS_PER_SECOND * samples.bytes_in / (samples.ends_ms - samples.starts_ms)
    ordered = own[np.lexsort((own, samples.groups))]
    counts = np.bincount(samples.groups, minlength=groups)
    ranks = np.maximum(1, -(-counts * percentile // 100))
    places = np.cumsum(counts) - counts + ranks - 1
    found = np.zeros(groups, np.float64)
    there = counts > 0
    found[there] = ordered[places[there]]
    return found
