"""The broker's Prometheus metrics; no label is taken from a client's request."""

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Gauge, Histogram

from ballast.broker.metrics.counts import Count, Counts
from ballast.broker.metrics.request_times import RequestTimes
from ballast.broker.metrics.topic_metrics import TopicMetrics

PREFIX: Final = "ballast_broker_"

FLUSH_BOUNDS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class BrokerMetrics:
    """Counters that the components increment; gauges are read when they are scraped."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counts = Counts()
        self.registry.register(self._counts)
        self.bytes_in = self._counter("bytes_in", "Bytes of records appended from producers.")
        self.bytes_out = self._counter("bytes_out", "Bytes of records sent to consumers.")
        self.replication_bytes_in = self._counter(
            "replication_bytes_in", "Bytes of records appended from leaders."
        )
        self.replication_bytes_out = self._counter(
            "replication_bytes_out", "Bytes of records sent to followers."
        )
        self.produce_requests = self._counter("produce_requests", "Produce requests.")
        self.fetch_requests = self._counter("fetch_requests", "Fetch requests.")
        self.failed_produce = self._counter(
            "failed_produce_partitions", "Partitions of produce requests answered with an error."
        )
        self.failed_fetch = self._counter(
            "failed_fetch_partitions", "Partitions of fetch requests answered with an error."
        )
        self.isr_shrinks = self._counter("isr_shrinks", "Times that an ISR became smaller.")
        self.isr_expands = self._counter("isr_expands", "Times that an ISR became larger.")
        self.dropped_load_samples = self._counter(
            "dropped_load_samples", "Samples of load that could not be written."
        )
        self.flush_seconds = Histogram(
            PREFIX + "flush_seconds",
            "Time until the disk had kept what was flushed in the background.",
            buckets=FLUSH_BOUNDS_S,
            registry=self.registry,
        )
        self.topics = TopicMetrics(PREFIX)
        self.registry.register(self.topics)
        self.request_times = RequestTimes(PREFIX + "request_seconds")
        self.registry.register(self.request_times)
        self.session_expiries = self._counter(
            "zookeeper_session_expiries", "ZooKeeper sessions that ended."
        )

    def gauge(self, name: str, documentation: str, read: Callable[[], float]) -> None:
        """Add a gauge whose value is read at each scrape."""
        gauge = Gauge(PREFIX + name, documentation, registry=self.registry)
        gauge.set_function(read)

    def _counter(self, name: str, documentation: str) -> Count:
        return self._counts.make(PREFIX + name, documentation)
