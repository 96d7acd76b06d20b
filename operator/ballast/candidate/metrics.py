"""What a candidate shows to Prometheus."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from ballast.candidate.candidate import Candidate


class CandidateCollector:
    """Reads a candidate's state at each scrape; nothing is counted twice or kept in between."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics as they are now."""
        candidate = self._candidate
        term = candidate.controller_term
        yield GaugeMetricFamily(
            "ballast_controller_active",
            "1 while this candidate is the controller.",
            int(candidate.is_active),
        )
        yield GaugeMetricFamily(
            "ballast_controller_epoch",
            "Controller epoch of the leadership under way; 0 without one.",
            term.elected.controller_epoch if term else 0,
        )
        yield GaugeMetricFamily(
            "ballast_controller_event_queue_size",
            "Events and requests that wait for the controller.",
            term.queued if term else 0,
        )
        yield from candidate.waits.collect()
        yield GaugeMetricFamily(
            "ballast_controller_offline_partitions",
            "Partitions without a leader.",
            term.offline_partitions if term else 0,
        )
        yield GaugeMetricFamily(
            "ballast_controller_reassigning_partitions",
            "Partitions with a reassignment pending.",
            term.reassigning_partitions if term else 0,
        )
        yield CounterMetricFamily(
            "ballast_controller_elections_won", "Elections won.", candidate.elections_won
        )
        yield CounterMetricFamily(
            "ballast_controller_failures",
            "Leaderships that ended by something unexpected, or could not begin.",
            candidate.failures,
        )
        handled = CounterMetricFamily(
            "ballast_controller_events", "Events and requests handled, by type.", labels=["type"]
        )
        counts = candidate.handled + term.handled if term else candidate.handled
        for name in sorted(counts):
            handled.add_metric([name], counts[name])
        yield handled
