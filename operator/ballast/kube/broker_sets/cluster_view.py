"""What a broker set's core sees of the brokers' cluster, through Kafka's admin protocol.

Sizes and topics' settings change slowly and cost a request per broker or per 200 topics: they are
read again after a while only, and at once when topics come and go.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Final

from ballast.brokersets.observation.observation import Cluster, ControllerView, PendingChange
from ballast.brokersets.spec.config_keys import DYNAMIC, MIN_INSYNC_REPLICAS
from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.kube.runtime.context import ClosableAdmin
from ballast.model.assignments import ReplicaAssignment
from ballast.reassign.ports import BrokerUnavailable, Clock, ClusterUnavailable, ClusterView

log = logging.getLogger(__name__)

READ_S: Final = 10.0
"""The timeout of one read of the cluster."""
SETTINGS_PERIOD_S: Final = 15.0
SIZES_PERIOD_S: Final = 30.0
SIZES_READ_S: Final = 5.0
MAX_SIZED_PARTITIONS: Final = 100_000
"""Beyond, sizes are not asked for: the answers would be many megabytes."""


class ClusterReader:
    """One set's looks at its cluster, and what they remember of one another."""

    def __init__(self, admin: ClosableAdmin, clock: Clock) -> None:
        self._admin = admin
        self._clock = clock
        self._min_isr: Mapping[str, int] = {}
        self._settings_of: tuple[frozenset[str], str] = (frozenset(), "")
        """Of which topics, and under which default of all brokers, the settings were read."""
        self._settings_at: float | None = None
        self._bytes: Mapping[int, int] = {}
        self._sizes_at: float | None = None
        self.view: ClusterView | None = None
        """The metadata as last read; None when no broker answered."""
        self.error = ""
        """Why no broker answered the last time."""

    async def read(self, spec: BrokerSetSpec) -> Cluster | None:
        """Return the cluster as it is, None when no broker answers."""
        self.view, self.error = None, ""
        try:
            async with asyncio.timeout(READ_S):
                return await self._read(spec)
        except (ClusterUnavailable, TimeoutError) as error:
            log.info("the cluster does not answer: %s", error)
            self.view = None
            self.error = str(error) or f"no answer within {READ_S:.0f} s"
            return None

    async def _read(self, spec: BrokerSetSpec) -> Cluster:
        # Before the partitions: what is pending later is seen with its new replicas.
        pending = await self._admin.list_reassignments()
        self.view = view = await self._admin.describe_cluster()
        defaults = await self._defaults()
        default_min_isr = (defaults or {}).get(MIN_INSYNC_REPLICAS, "")
        await self._read_settings(frozenset(tp.topic for tp in view.partitions), default_min_isr)
        await self._read_sizes(view)
        return Cluster(
            live_brokers=frozenset(broker.broker_id for broker in view.brokers),
            partitions=view.partitions,
            pending={tp: _pending(assignment) for tp, assignment in pending.items()},
            default_min_isr=_positive(default_min_isr) or spec.default_min_isr,
            min_isr_by_topic=self._min_isr,
            dynamic_defaults=defaults,
            bytes_by_broker=self._bytes,
        )

    async def _defaults(self) -> Mapping[str, str] | None:
        try:
            return await self._admin.default_broker_configs(list(DYNAMIC))
        except ClusterUnavailable as error:
            log.info("the brokers' defaults could not be read: %s", error)
            return None

    async def _read_settings(self, topics: frozenset[str], default_min_isr: str) -> None:
        """Read min.insync.replicas as it is in force: brokers' own properties may set it too."""
        known = (topics, default_min_isr)
        if self._is_fresh(self._settings_at, SETTINGS_PERIOD_S) and known == self._settings_of:
            return
        configs = await self._admin.effective_topic_configs(topics, [MIN_INSYNC_REPLICAS])
        self._min_isr = {
            topic: minimum
            for topic, values in configs.items()
            if (minimum := _positive(values.get(MIN_INSYNC_REPLICAS, "")))
        }
        self._settings_of, self._settings_at = known, self._clock.now()

    async def _read_sizes(self, view: ClusterView) -> None:
        """Ask every live broker for the sizes of its logs; those that do not answer are left out.

        A cluster that takes long for that keeps the sizes that it had.
        """
        if self._is_fresh(self._sizes_at, SIZES_PERIOD_S):
            return
        self._sizes_at = self._clock.now()
        if len(view.partitions) > MAX_SIZED_PARTITIONS:
            self._bytes = {}
            return
        try:
            async with asyncio.timeout(SIZES_READ_S):
                self._bytes = await self._sizes(view)
        except TimeoutError:
            log.info("the brokers take too long to answer for the sizes of their logs")

    async def _sizes(self, view: ClusterView) -> Mapping[int, int]:
        hosted: dict[int, dict[str, list[int]]] = {broker.broker_id: {} for broker in view.brokers}
        for tp, seen in view.partitions.items():
            for broker_id in seen.replicas:
                if broker_id in hosted:
                    hosted[broker_id].setdefault(tp.topic, []).append(tp.partition)
        sizes = {}
        for broker_id, topics in hosted.items():
            try:
                replicas = await self._admin.replica_sizes(broker_id, topics)
            except BrokerUnavailable:
                continue
            sizes[broker_id] = sum(replica.size_bytes for replica in replicas.values())
        return sizes

    def _is_fresh(self, read_at: float | None, period_s: float) -> bool:
        return read_at is not None and self._clock.now() < read_at + period_s


def controller_of(view: ClusterView | None) -> ControllerView | None:
    """Return the controller that Metadata names: right for a cluster that runs elsewhere."""
    if view is None or view.controller_id < 0:
        return None
    return ControllerView(identity=f"broker-{view.controller_id}")


def _pending(assignment: ReplicaAssignment) -> PendingChange:
    return PendingChange(adding=assignment.adding_replicas, removing=assignment.removing_replicas)


def _positive(text: str) -> int:
    """Return a number above 0, or 0 for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 10 else 0
