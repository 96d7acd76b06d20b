"""The duration of requests, per API: from reading the request to its response.

Times are of the loop's clock. A request that is answered in the turn of the event loop in which it
was read counts as 0; `ballast.broker.metrics.loop_lag` measures the length of turns.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from ballast.protocol.api_keys import ApiKey

BOUNDS_S: Final = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
)


class RequestTimes(Collector):
    """A histogram per API, of plain numbers."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._counts: dict[int, list[int]] = {}
        self._sums: dict[int, float] = {}

    def observe(self, key: int, seconds: float) -> None:
        """Count an answered request of an API (its key)."""
        counts = self._counts.get(key)
        if counts is None:
            counts = self._counts[key] = [0] * (len(BOUNDS_S) + 1)
            self._sums[key] = 0.0
        counts[bisect_left(BOUNDS_S, seconds) if seconds > BOUNDS_S[0] else 0] += 1
        self._sums[key] += seconds

    def describe(self) -> Iterable[Metric]:
        """Return no names: they are known at a scrape."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the histogram."""
        family = HistogramMetricFamily(
            self._name, "Time from the reading of a request to its answer.", labels=("api",)
        )
        for key in sorted(self._counts):
            buckets = []
            total = 0
            for bound, count in zip((*BOUNDS_S, None), self._counts[key], strict=True):
                total += count
                buckets.append(("+Inf" if bound is None else str(bound), total))
            family.add_metric((ApiKey(key).name.lower(),), buckets, self._sums[key])
        yield family
