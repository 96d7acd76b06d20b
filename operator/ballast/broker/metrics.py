"""The broker's Prometheus metrics; no label is taken from what a client sends."""

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge

PREFIX: Final = "ballast_broker_"


class BrokerMetrics:
    """Counters that the broker's parts count up; gauges are read when they are scraped."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
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
        self.session_expiries = self._counter(
            "zookeeper_session_expiries", "ZooKeeper sessions that ended."
        )

    def gauge(self, name: str, documentation: str, read: Callable[[], float]) -> None:
        """Add a gauge whose value is read at each scrape."""
        gauge = Gauge(PREFIX + name, documentation, registry=self.registry)
        gauge.set_function(read)

    def _counter(self, name: str, documentation: str) -> Counter:
        return Counter(PREFIX + name, documentation, registry=self.registry)
