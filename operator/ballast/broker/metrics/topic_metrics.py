"""Metrics per topic and partition: traffic, and the offsets of each log.

Labels are names of topics that the controller assigned to this broker, never names from client
requests only. Nothing is kept per request: the counts of partitions are summed at a scrape.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ballast.broker.partitions.partition import LoadCounts, Partition

_Traffic = tuple[str, str, Callable[[LoadCounts], int]]

TRAFFIC: Final[tuple[_Traffic, ...]] = (
    ("bytes_in", "Bytes of records appended from producers.", lambda load: load.bytes_in),
    ("bytes_out", "Bytes of records sent to consumers.", lambda load: load.bytes_out),
    ("messages_in", "Records appended from producers.", lambda load: load.messages_in),
    ("produce_requests", "Appends of producers' records.", lambda load: load.produce_requests),
    ("fetch_requests", "Reads for consumers.", lambda load: load.fetch_requests),
)
"""The metrics per topic (Kafka's ``BrokerTopicMetrics``)."""


class TopicMetrics(Collector):
    """Collects at a scrape; keeps the traffic of removed replicas while their topic stays."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._partitions: Callable[[], Iterable[Partition]] = tuple
        self._gone: dict[str, list[int]] = {}
        """By topic, the counts of replicas that were removed, as in `TRAFFIC`."""

    def show(self, partitions: Callable[[], Iterable[Partition]]) -> None:
        """Set the function that returns the replicas."""
        self._partitions = partitions

    def replica_left(self, partition: Partition) -> None:
        """Keep the counts of a removed replica, so that the topic's totals do not decrease."""
        _add(self._gone.setdefault(partition.name.topic, [0] * len(TRAFFIC)), partition)

    def topic_left(self, topic: str) -> None:
        """Forget a topic without replicas here."""
        self._gone.pop(topic, None)

    def describe(self) -> Iterable[Metric]:
        """Return no names: they are known at a scrape."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield a family per number."""
        partitions = sorted(self._partitions(), key=lambda partition: partition.name)
        yield from self._traffic(partitions)
        for name, documentation, read in _LOG_GAUGES:
            gauge = GaugeMetricFamily(
                self._prefix + name, documentation, labels=("topic", "partition")
            )
            for partition in partitions:
                topic, number = partition.name
                gauge.add_metric((topic, str(number)), read(partition))
            yield gauge

    def _traffic(self, partitions: Iterable[Partition]) -> Iterator[Metric]:
        totals = {topic: list(gone) for topic, gone in self._gone.items()}
        for partition in partitions:
            _add(totals.setdefault(partition.name.topic, [0] * len(TRAFFIC)), partition)
        for number, (name, documentation, _) in enumerate(TRAFFIC):
            counter = CounterMetricFamily(
                f"{self._prefix}topic_{name}", documentation, labels=("topic",)
            )
            for topic in sorted(totals):
                counter.add_metric((topic,), totals[topic][number])
            yield counter


def _add(totals: list[int], partition: Partition) -> None:
    for number, (_, _, read) in enumerate(TRAFFIC):
        totals[number] += read(partition.load)


_LOG_GAUGES: Final[tuple[tuple[str, str, Callable[[Partition], float]], ...]] = (
    ("log_size_bytes", "Bytes of the log of a replica.", lambda p: p.log.size_bytes),
    ("log_start_offset", "First offset of the log of a replica.", lambda p: p.log.log_start_offset),
    ("log_end_offset", "Next offset of the log of a replica.", lambda p: p.log.log_end_offset),
)
