"""Counters that cost one addition, and are read when they are scraped.

A request increments six of them; those of prometheus_client take a lock each time.
"""

from collections.abc import Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector


class Count:
    """One counter; incremented in the event loop's thread only."""

    __slots__ = ("documentation", "name", "value")

    def __init__(self, name: str, documentation: str) -> None:
        self.name = name
        self.documentation = documentation
        self.value = 0

    def inc(self, amount: int = 1) -> None:
        """Increment."""
        self.value += amount


class Counts(Collector):
    """The counters of one registry."""

    def __init__(self) -> None:
        self._counts: list[Count] = []

    def make(self, name: str, documentation: str) -> Count:
        """Return a new counter at 0."""
        made = Count(name, documentation)
        self._counts.append(made)
        return made

    def describe(self) -> Iterable[Metric]:
        """Return no names: they are known at a scrape."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield a family per counter."""
        for count in self._counts:
            yield CounterMetricFamily(count.name, count.documentation, value=count.value)
