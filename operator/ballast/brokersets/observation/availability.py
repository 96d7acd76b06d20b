"""Which broker may go now, and why another may not.

Goal: no partition loses its acknowledged writes or its ability to take them because a broker is
stopped on purpose.

Rule: a broker may go if a controller can elect leaders in its place, if every other broker that
holds replicas of *its* partitions is up, and if without it each of those keeps as many in-sync
replicas as it needs. A partition needs ``min.insync.replicas``, but of one with no more replicas
than that all others: it could never spare one, and waiting for more would be waiting for ever. A
partition with a single replica needs nothing for the same reason. Replicas that a move is adding do
not count here: it may take hours, and after it the partition has no more to spare than before. A
single replica that is being moved stays until it has been.

A partition that has fewer than it needs already waits for *all* brokers that hold a replica of it,
in sync or not: a broker that is catching up must not be interrupted. Source: Strimzi's
KafkaAvailability, made stricter for partitions that cannot spare a replica.

A broker that was taken out of the set while it held replicas (policy Force) never returns. Its
replicas count as if they were not assigned, else its partitions would wait for it for ever.

Without a controller, or while ZooKeeper does not answer, nobody goes: a broker cannot hand its
leadership over, and no leader is elected for what it led.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from ballast.brokersets.observation.observation import Cluster
from ballast.brokersets.observation.shapes import Shape, shapes_of


class Obstacle(StrEnum):
    """Why a broker may not go."""

    CLUSTER_UNKNOWN = "ClusterUnknown"
    NO_CONTROLLER = "NoController"
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

    def __init__(
        self,
        cluster: Cluster | None,
        *,
        members: Collection[int] | None = None,
        has_controller: bool = True,
        shapes: Collection[Shape] | None = None,
    ) -> None:
        """Without a ``cluster``, no broker may go: nothing is known of what it holds.

        ``members`` are the ids that belong to the set; None = all that are assigned replicas.
        ``shapes`` are those of the cluster's partitions, where known.
        """
        self._general: Refusal | None = None
        if cluster is None:
            self._general = Refusal(obstacle=Obstacle.CLUSTER_UNKNOWN, message="no broker answers")
        elif not has_controller:
            self._general = Refusal(
                obstacle=Obstacle.NO_CONTROLLER,
                message="nobody could elect leaders for what the broker leads",
            )
        self.live_brokers = frozenset() if cluster is None else cluster.live_brokers
        """Brokers that are registered and stay."""
        self._kept: dict[int, Refusal] = {}
        self._members = members
        if cluster is not None:
            for shape in shapes_of(cluster) if shapes is None else shapes:
                self._note(cluster, shape)

    def _note(self, cluster: Cluster, shape: Shape) -> None:
        tp, partition = shape.first, shape.partition
        replicas = partition.replicas
        if len(replicas) == 1:
            return
        live = cluster.live_brokers
        down = [broker_id for broker_id in replicas if broker_id not in live]
        if down and self._members is not None:
            down = [broker_id for broker_id in down if broker_id in self._members]
            replicas = tuple(i for i in replicas if i in live or i in self._members)
        for broker_id in down:
            self._keep(
                (other for other in replicas if other != broker_id),
                Refusal(
                    obstacle=Obstacle.BROKER_DOWN,
                    message=f"broker {broker_id} is down and holds {tp} as well",
                ),
            )
        adding = sum(broker_id in replicas for broker_id in shape.pending.adding)
        settled = len(replicas) - adding
        most = settled if settled > 1 else len(replicas)
        needed = min(shape.min_isr, most - 1)
        spare = len(partition.isr) - needed
        if spare > 0:
            return
        refusal = Refusal(
            obstacle=Obstacle.UNDER_MIN_ISR if spare < 0 else Obstacle.AT_MIN_ISR,
            message=f"{tp} has {len(partition.isr)} in-sync replicas and needs {needed}",
        )
        self._keep(replicas if spare < 0 else partition.isr, refusal)

    def _keep(self, broker_ids: Iterable[int], refusal: Refusal) -> None:
        for broker_id in broker_ids:
            self._kept.setdefault(broker_id, refusal)

    def refusal(self, broker_id: int) -> Refusal | None:
        """Return why a broker may not go now, or None."""
        return self._general or self._kept.get(broker_id)
