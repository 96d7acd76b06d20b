"""Reads the cluster for one reconciliation, with as few requests as it needs."""

from collections.abc import Collection, Iterable, Mapping

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import Observation
from ballast.reassign.plan.plan import Plan
from ballast.reassign.plan.progress import Sizes
from ballast.reassign.ports import (
    BrokerUnavailable,
    ClusterAdmin,
    ClusterView,
    ReplicaLogDirs,
)
from ballast.reassign.spec.spec import ReassignmentSpec
from ballast.reassign.state.persisted_state import PersistedState
from ballast.reassign.throttle.throttle_values import BROKER_THROTTLES, TOPIC_THROTTLES

MIN_INSYNC_REPLICAS = "min.insync.replicas"
MIN_ISR_INTERVAL_S = 15.0
"""Topic settings rarely change, and cost one request per 200 topics."""
SIZES_INTERVAL_S = 1.0
"""Sizes only serve the order of moves and the display."""


class Observer:
    """Reads the cluster through its admin API; caches sizes and topic settings."""

    def __init__(self, admin: ClusterAdmin) -> None:
        self._admin = admin
        self._sizes: Sizes = {}
        self._sizes_at: float | None = None
        self._min_isr: Mapping[str, int] = {}
        self._min_isr_of: frozenset[str] = frozenset()
        self._min_isr_at: float | None = None

    async def observe(
        self, spec: ReassignmentSpec, state: PersistedState | None, now: float
    ) -> Observation:
        """Return the cluster as it is now. Raises `ClusterUnavailable`."""
        # Pending moves first: one that completes between the two requests still looks pending.
        pending = await self._admin.list_reassignments()
        started = state is not None and state.start_time_ms is not None
        topics = sorted({tp.topic for tp in spec.targets})
        cluster = await self._admin.describe_cluster(topics if started else None)
        visible = {tp.topic for tp in cluster.partitions}.intersection(topics)
        live = frozenset(broker.broker_id for broker in cluster.brokers)
        log_dirs = _named_log_dirs(spec)
        return Observation(
            cluster=cluster,
            pending=pending,
            topic_configs=await self._throttle_lists(spec, state, visible),
            min_isr_by_topic=await self._min_isr_by_topic(visible, now),
            broker_configs=await self._rates(_rate_brokers(spec, state) & live),
            sizes=await self._read_sizes(spec, cluster, live, now),
            log_dirs=await self._replica_log_dirs(log_dirs, live),
            known_log_dirs={} if started else await self._known_log_dirs(log_dirs, live),
        )

    async def _throttle_lists(
        self, spec: ReassignmentSpec, state: PersistedState | None, topics: Collection[str]
    ) -> Mapping[str, Mapping[str, str]]:
        """Read the lists if a throttle is to be set or restored."""
        rate = spec.settings.execution.throttle_bytes_per_second
        if state is None or (rate is None and not state.topic_throttles):
            return {}
        return await self._admin.topic_configs(topics, TOPIC_THROTTLES)

    async def _min_isr_by_topic(self, visible: Collection[str], now: float) -> Mapping[str, int]:
        """Read the effective values: most clusters set this one for all topics at once."""
        topics = frozenset(visible)
        is_fresh = self._min_isr_at is not None and now - self._min_isr_at < MIN_ISR_INTERVAL_S
        if is_fresh and topics <= self._min_isr_of:
            return self._min_isr
        configs = await self._admin.effective_topic_configs(topics, (MIN_INSYNC_REPLICAS,))
        self._min_isr = {
            topic: number
            for topic, values in configs.items()
            if (number := _positive(values.get(MIN_INSYNC_REPLICAS, "")))
        }
        self._min_isr_of, self._min_isr_at = topics, now
        return self._min_isr

    async def _rates(self, brokers: Collection[int]) -> dict[int, Mapping[str, str]]:
        rates = {}
        for broker in sorted(brokers):
            try:
                rates[broker] = await self._admin.broker_configs(broker, BROKER_THROTTLES)
            except BrokerUnavailable:
                continue
        return rates

    async def _replica_log_dirs(
        self, partitions: Mapping[int, Iterable[TopicPartition]], live: Collection[int]
    ) -> dict[int, Mapping[TopicPartition, ReplicaLogDirs]]:
        """Read the directories of replicas each time: completion is decided from them."""
        log_dirs = {}
        for broker in sorted(partitions.keys() & live):
            try:
                log_dirs[broker] = await self._admin.replica_log_dirs(
                    broker, _by_topic(partitions[broker])
                )
            except BrokerUnavailable:
                continue
        return log_dirs

    async def _known_log_dirs(
        self, brokers: Iterable[int], live: Collection[int]
    ) -> dict[int, Collection[str]]:
        log_dirs = {}
        for broker in sorted({*brokers} & {*live}):
            try:
                log_dirs[broker] = await self._admin.broker_log_dirs(broker)
            except BrokerUnavailable:
                continue
        return log_dirs

    async def _read_sizes(
        self, spec: ReassignmentSpec, cluster: ClusterView, live: Collection[int], now: float
    ) -> Sizes:
        if self._sizes_at is not None and now - self._sizes_at < SIZES_INTERVAL_S:
            return self._sizes
        hosts = _hosts(spec, cluster)
        sizes: dict[tuple[TopicPartition, int], int] = {}
        for broker in sorted(set(hosts) & set(live)):
            try:
                replicas = await self._admin.replica_sizes(broker, _by_topic(hosts[broker]))
            except BrokerUnavailable:
                # The last known sizes still show the progress there.
                last_sizes = ((k, v) for k, v in self._sizes.items() if k[1] == broker)
                sizes.update(last_sizes)
                continue
            sizes.update({(tp, broker): replica.size_bytes for tp, replica in replicas.items()})
        self._sizes, self._sizes_at = sizes, now
        return sizes


def _positive(text: str) -> int:
    """Return a positive number, or 0 for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def _rate_brokers(spec: ReassignmentSpec, state: PersistedState | None) -> set[int]:
    """Return the brokers whose throttle rates matter now."""
    if state is None:
        return set()
    brokers = set(state.broker_throttles)
    if spec.settings.execution.throttle_bytes_per_second is not None:
        brokers |= _brokers_of(state.plan)
    return brokers


def _brokers_of(plan: Plan) -> set[int]:
    return {b for m in plan.moves if m.brokers for b in (*m.origin, *m.target)}


def _named_log_dirs(spec: ReassignmentSpec) -> dict[int, list[TopicPartition]]:
    """Return, by broker, the partitions whose replica there has a directory in the spec."""
    partitions: dict[int, list[TopicPartition]] = {}
    for tp, moves in sorted(spec.assignments.log_dirs.items()):
        for move in moves:
            partitions.setdefault(move.broker_id, []).append(tp)
    return partitions


def _hosts(spec: ReassignmentSpec, cluster: ClusterView) -> dict[int, list[TopicPartition]]:
    """Return, by broker, the partitions of the spec that have or get a replica there."""
    hosts: dict[int, list[TopicPartition]] = {}
    for tp, target in sorted(spec.targets.items()):
        view = cluster.partitions.get(tp)
        for broker in sorted({*target, *(view.replicas if view else ())}):
            hosts.setdefault(broker, []).append(tp)
    return hosts


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for tp in partitions:
        topics.setdefault(tp.topic, []).append(tp.partition)
    return topics
