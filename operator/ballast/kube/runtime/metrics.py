"""The Prometheus metrics of the objects that the operator reconciles.

Reconcilers record the status that they last wrote; series are made from it at each scrape. Labels
are bounded: no series is about one partition, and at most `MAX_OBJECTS` objects of a kind have
series of their own.
"""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from itertools import accumulate, islice
from typing import Any, Final

from prometheus_client import CollectorRegistry, Info, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS, ObjectKey, Resource
from ballast.reassign.state.conditions import FINAL_STATUS

MAX_OBJECTS: Final = 1_000
BUCKETS_S: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0)
PLAN_BUCKETS_S: Final = (1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0)

Status = Mapping[str, Any]

_OBJECT = ("namespace", "name")
_VERDICTS: Final = {"True": 1, "False": 0}
UNKNOWN_ENGINE: Final = "Unknown"
ENGINES: Final = ("InProcess", "Spark", UNKNOWN_ENGINE)
"""Values of ``plan.generate.engine``, and of a plan that failed before an engine was chosen."""
_SUMMARIES: Final = ((PARTITION_REASSIGNMENTS, "Succeeded"), (BROKER_SETS, "Ready"))
"""Each kind, and the condition whose reason is its state in one word."""


class OperatorMetrics:
    """The last status of each object, and counts of reconciliations and plans. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._statuses: dict[ObjectKey, Status] = {}
        self._results: Counter[tuple[str, str]] = Counter()
        self._durations: dict[str, list[int]] = {}
        """By kind: reconciliations per bucket; the last bucket has no upper bound."""
        self._seconds: Counter[str] = Counter()
        self._ends: Counter[str] = Counter({state.value: 0 for state in FINAL_STATUS})
        """Reassignments that ended, by final state. All series exist from the start: Prometheus
        does not count the first appearance of a series as an increase."""
        self._failed_plans: Counter[str] = Counter(dict.fromkeys(ENGINES, 0))
        self._plans: dict[tuple[str, str], tuple[list[int], float]] = {}
        """By engine and result: plans per bucket, and the sum of seconds."""

    def count_plan(self, engine: str, result: str, duration_s: float) -> None:
        """Count an attempt to make a plan; ``result`` is ``ok`` or the reason of the failure."""
        with self._lock:
            empty = [0] * (len(PLAN_BUCKETS_S) + 1)
            buckets, seconds = self._plans.setdefault((engine, result), (empty, 0.0))
            buckets[bisect_left(PLAN_BUCKETS_S, duration_s)] += 1
            self._plans[engine, result] = (buckets, seconds + duration_s)
            self._failed_plans[engine or UNKNOWN_ENGINE] += result != "ok"

    def count_end_between(self, key: ObjectKey, before: Status, after: Status) -> None:
        """Count a reassignment that reaches a final state between two statuses."""
        if key.plural != PARTITION_REASSIGNMENTS.plural:
            return
        state = _reason(after, "Succeeded")
        if state in FINAL_STATUS and _reason(before, "Succeeded") not in FINAL_STATUS:
            with self._lock:
                self._ends[state] += 1

    def record_status(self, key: ObjectKey, status: Status) -> None:
        """Show this status of an object; the caller must not change it afterwards."""
        with self._lock:
            self._statuses[key] = status

    def forget(self, key: ObjectKey) -> None:
        """Remove the series of an object that is gone."""
        with self._lock:
            self._statuses.pop(key, None)

    def forget_all(self) -> None:
        """Remove the series of all objects: another replica is the leader."""
        with self._lock:
            self._statuses.clear()

    def count_reconciliation(self, kind: str, result: str, duration_s: float) -> None:
        """Count one reconciliation of an object; ``result`` is ``ok`` or ``error``."""
        with self._lock:
            self._results[kind, result] += 1
            buckets = self._durations.setdefault(kind, [0] * (len(BUCKETS_S) + 1))
            buckets[bisect_left(BUCKETS_S, duration_s)] += 1
            self._seconds[kind] += duration_s  # type: ignore[assignment]  # a sum of floats

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics as they are now."""
        with self._lock:
            statuses = dict(self._statuses)
            results = dict(self._results)
            durations = {kind: list(buckets) for kind, buckets in self._durations.items()}
            seconds = dict(self._seconds)
            ends, failed_plans = dict(self._ends), dict(self._failed_plans)
            plans = {key: (list(counts), sum_s) for key, (counts, sum_s) in self._plans.items()}
        yield _reconciliations(results)
        yield _reconciliation_durations(durations, seconds)
        yield _plan_durations(plans)
        yield _counter(
            "ballast_reassignments_ended", "Reassignments that ended, by state.", "state", ends
        )
        yield _counter(
            "ballast_plans_failed", "Plans that could not be made.", "engine", failed_plans
        )
        yield _resources(statuses)
        yield from _reassignments(dict(_of_kind(statuses, PARTITION_REASSIGNMENTS)))
        yield from _broker_sets(dict(_of_kind(statuses, BROKER_SETS)))


def registry_of(*collectors: Collector) -> CollectorRegistry:
    """Return a registry of the collectors, of this process and of its build."""
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    ProcessCollector(registry=registry)
    build = Info("ballast_build", "The build of this process.", registry=registry)
    build.info({"version": version("ballast")})
    return registry


def _of_kind(
    statuses: Mapping[ObjectKey, Status], resource: Resource
) -> Iterator[tuple[ObjectKey, Status]]:
    found = ((key, statuses[key]) for key in sorted(statuses) if key.plural == resource.plural)
    return islice(found, MAX_OBJECTS)


def _reconciliations(results: Mapping[tuple[str, str], int]) -> Metric:
    family = CounterMetricFamily(
        "ballast_reconciliations", "Reconciliations of objects.", labels=["kind", "result"]
    )
    for labels in sorted(results):
        family.add_metric(labels, results[labels])
    return family


def _reconciliation_durations(
    durations: Mapping[str, list[int]], seconds: Mapping[str, float]
) -> Metric:
    family = HistogramMetricFamily(
        "ballast_reconciliation_duration_seconds", "Duration of reconciliations.", labels=["kind"]
    )
    bounds = [*map(str, BUCKETS_S), "+Inf"]
    for kind, buckets in sorted(durations.items()):
        family.add_metric(
            [kind], list(zip(bounds, accumulate(buckets), strict=True)), seconds[kind]
        )
    return family


def _plan_durations(plans: Mapping[tuple[str, str], tuple[list[int], float]]) -> Metric:
    family = HistogramMetricFamily(
        "ballast_plan_generation_duration_seconds",
        "Length of attempts to make a plan, from the snapshot to the stored plan.",
        labels=["engine", "result"],
    )
    bounds = [*map(str, PLAN_BUCKETS_S), "+Inf"]
    for labels, (buckets, seconds) in sorted(plans.items()):
        counts = list(zip(bounds, accumulate(buckets), strict=True))
        family.add_metric(list(labels), counts, seconds)
    return family


def _counter(name: str, text: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=[label])
    for value in sorted(counts):
        family.add_metric([value], counts[value])
    return family


def _resources(statuses: Mapping[ObjectKey, Status]) -> Metric:
    family = GaugeMetricFamily(
        "ballast_resources", "Objects, by their state.", labels=["kind", "state"]
    )
    for resource, summary in _SUMMARIES:
        states = Counter(
            _reason(status, summary)
            for key, status in statuses.items()
            if key.plural == resource.plural
        )
        for state in sorted(states):
            family.add_metric([resource.kind, state], states[state])
    return family


def _reason(status: Status, condition_type: str) -> str:
    for condition in status.get("conditions", ()):
        if condition["type"] == condition_type:
            return str(condition["reason"])
    return "Unknown"


def _reassignments(statuses: Mapping[ObjectKey, Status]) -> Iterator[Metric]:
    partitions = GaugeMetricFamily(
        "ballast_reassignment_partitions",
        "Partitions of a reassignment, by state.",
        labels=[*_OBJECT, "state"],
    )
    remaining = GaugeMetricFamily(
        "ballast_reassignment_bytes_remaining", "Bytes still to be copied.", labels=_OBJECT
    )
    moved = CounterMetricFamily(
        "ballast_reassignment_bytes_moved", "Bytes copied so far.", labels=_OBJECT
    )
    throttle = GaugeMetricFamily(
        "ballast_throttle_bytes_per_second",
        "Throttle that a reassignment has set on a broker.",
        labels=[*_OBJECT, "broker"],
    )
    for key, status in statuses.items():
        labels = [key.namespace, key.name]
        progress = status.get("progress", {})
        for state, count in progress.get("partitions", {}).items():
            partitions.add_metric([*labels, state], count)
        if "bytesRemaining" in progress:
            remaining.add_metric(labels, progress["bytesRemaining"])
        if "bytesMoved" in progress:
            moved.add_metric(labels, progress["bytesMoved"])
        rate = status.get("throttle", {}).get("appliedBytesPerSecond")
        for broker_id in status["throttle"].get("brokerIds", ()) if rate is not None else ():
            throttle.add_metric([*labels, str(broker_id)], rate)
    yield from (partitions, remaining, moved, throttle)


def _broker_sets(statuses: Mapping[ObjectKey, Status]) -> Iterator[Metric]:
    counts = {
        field: GaugeMetricFamily(f"ballast_partitions_{name}", text, labels=_OBJECT)
        for field, name, text in (
            ("underReplicated", "underreplicated", "Partitions with a replica out of sync."),
            ("underMinISR", "under_min_isr", "Partitions with fewer in sync than they need."),
            ("leaderless", "offline", "Partitions without a leader."),
            ("reassigning", "reassigning", "Partitions being reassigned."),
        )
    }
    brokers = GaugeMetricFamily(
        "ballast_broker_state",
        "1 for the state that a broker is in.",
        labels=[*_OBJECT, "broker", "state"],
    )
    conditions = GaugeMetricFamily(
        "ballast_broker_set_condition",
        "1 while the condition is True, 0 while it is False; nothing while it is unknown.",
        labels=[*_OBJECT, "type"],
    )
    for key, status in statuses.items():
        labels = [key.namespace, key.name]
        for condition in status.get("conditions", ()):
            if condition["status"] in _VERDICTS:
                verdict = _VERDICTS[condition["status"]]
                conditions.add_metric([*labels, condition["type"]], verdict)
        for field, family in counts.items():
            count = status.get("partitions", {}).get(field)
            if count is not None:
                family.add_metric(labels, count)
        for broker in status.get("brokers", ()):
            brokers.add_metric([*labels, str(broker["id"]), str(broker["state"])], 1)
    yield from (*counts.values(), brokers, conditions)
