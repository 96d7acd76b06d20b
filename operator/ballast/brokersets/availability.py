"""Which broker may go now, and why another may not.

Goal: no partition loses its acknowledged writes or its ability to take them because a broker is
stopped on purpose.

Rule: a broker may go if every other broker that holds replicas is up, and if without it each
partition keeps as many in-sync replicas as it needs. It needs ``min.insync.replicas``, but of a
partition with no more replicas than that all others: it could never spare one, and waiting for
more would be waiting for ever. A partition with a single replica needs nothing for the same reason.
Replicas that a move is adding do not count here: it may take hours, and after it the partition has
no more to spare than before. A single replica that is being moved stays until it has been.

A partition that has fewer than it needs already waits for *all* brokers that hold a replica of it,
in sync or not: whoever is catching up must not be interrupted. Source: Strimzi's KafkaAvailability,
made stricter for partitions that cannot spare a replica.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ballast.brokersets.census import Census
from ballast.brokersets.observed import Cluster
from ballast.model.ids import TopicPartition


class Obstacle(StrEnum):
    """Why a broker may not go."""

    CLUSTER_UNKNOWN = "ClusterUnknown"
    BROKER_DOWN = "BrokerDown"
    UNDER_MIN_ISR = "UnderMinISR"
    AT_MIN_ISR = "AtMinISR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One reason that keeps one broker."""

    obstacle: Obstacle
    message: str


class Availability:
    """Answers for all brokers of a cluster at one moment."""

    def __init__(self, cluster: Cluster | None, census: Census) -> None:
        """Without a ``cluster``, no broker may go: nothing is known of what it holds."""
        self._is_known = cluster is not None
        self._kept: dict[int, Refusal] = {}
        self._down: frozenset[int] = frozenset()
        if cluster is not None:
            self._down = frozenset(census.brokers) - cluster.live_brokers
            for tp in cluster.partitions:
                self._note(cluster, tp)

    def _note(self, cluster: Cluster, tp: TopicPartition) -> None:
        partition = cluster.partitions[tp]
        pending = cluster.pending.get(tp)
        settled = len(partition.replicas) - (len(pending.adding) if pending else 0)
        most = settled if settled > 1 else len(partition.replicas)
        needed = min(cluster.min_isr(tp.topic), most - 1)
        spare = len(partition.isr) - needed
        if len(partition.replicas) == 1 or spare > 0:
            return
        refusal = Refusal(
            obstacle=Obstacle.UNDER_MIN_ISR if spare < 0 else Obstacle.AT_MIN_ISR,
            message=f"{tp} has {len(partition.isr)} in-sync replicas and needs {needed}",
        )
        for broker_id in partition.replicas if spare < 0 else partition.isr:
            self._kept.setdefault(broker_id, refusal)

    def refusal(self, broker_id: int) -> Refusal | None:
        """Return why a broker may not go now, or None."""
        return self.first_refusal((broker_id,))

    def first_refusal(self, broker_ids: Iterable[int]) -> Refusal | None:
        """Return why not each of the brokers may go, or None."""
        if not self._is_known:
            return Refusal(obstacle=Obstacle.CLUSTER_UNKNOWN, message="no broker answers")
        refusals = (self._refusal(broker_id) for broker_id in broker_ids)
        return next((refusal for refusal in refusals if refusal is not None), None)

    def _refusal(self, broker_id: int) -> Refusal | None:
        down = min(self._down - {broker_id}, default=None)
        if down is not None:
            return Refusal(
                obstacle=Obstacle.BROKER_DOWN, message=f"broker {down} is down and holds replicas"
            )
        return self._kept.get(broker_id)
