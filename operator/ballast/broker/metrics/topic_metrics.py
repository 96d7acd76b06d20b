"""What is shown per topic and per partition at a scrape: traffic, and where each log stands.

The label is the name of a topic that the controller gave this broker a replica of, never a name
that only a client sent. Nothing is kept per request: what partitions count is added up here.
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
"""What is shown per topic (Kafka's ``BrokerTopicMetrics``)."""


class TopicMetrics(Collector):
    """Collects at a scrape; keeps the traffic of replicas that left while their topic stays."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._partitions: Callable[[], Iterable[Partition]] = tuple
        self._gone: dict[str, list[int]] = {}
        """Of each topic, what replicas counted that are not here any more, as in `TRAFFIC`."""

    def show(self, partitions: Callable[[], Iterable[Partition]]) -> None:
        """Have the replicas shown that ``partitions`` returns."""
        self._partitions = partitions

    def replica_left(self, partition: Partition) -> None:
        """Keep what was counted, so that a topic's total does not fall."""
        _add(self._gone.setdefault(partition.name.topic, [0] * len(TRAFFIC)), partition)

    def topic_left(self, topic: str) -> None:
        """Forget a topic of which no replica is here any more."""
        self._gone.pop(topic, None)

    def describe(self) -> Iterable[Metric]:
        """Name nothing before the first scrape."""
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
