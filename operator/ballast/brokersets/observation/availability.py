"""Which brokers may stop now, and why others may not.

Goal: no partition loses acknowledged records, or becomes unable to accept records, because a broker
is stopped on purpose.

Rule: a broker may stop if a controller can elect other leaders, if every other broker that holds
replicas of *its* partitions is up, and if each of those partitions keeps as many in-sync replicas
as it needs. A partition needs ``min.insync.replicas``; with no more replicas than that, it needs
all others, since it could never spare one. For the same reason a partition with a single replica
needs none. Replicas that a reassignment is adding do not count: copying can take hours, and
afterwards the partition has no more to spare than before. A single replica that is being moved
stays until the move is complete.

If a partition has fewer in-sync replicas than it needs, *all* brokers with a replica of it must
stay, in sync or not: a broker that is catching up must not be interrupted. Source: Strimzi's
KafkaAvailability, made stricter for partitions that cannot spare a replica.

A broker that was removed while it held replicas (policy Force) never returns. Its replicas count as
not assigned; otherwise its partitions would block all others without end.

Without a controller, or while ZooKeeper does not answer, no broker may stop: it cannot hand over
its leadership, and no leader is elected for its partitions.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from ballast.brokersets.observation.observation import Cluster
from ballast.brokersets.observation.shapes import Shape, shapes_of


class Obstacle(StrEnum):
    """Why a broker may not stop."""

    CLUSTER_UNKNOWN = "ClusterUnknown"
    NO_CONTROLLER = "NoController"
    BROKER_DOWN = "BrokerDown"
    UNDER_MIN_ISR = "UnderMinISR"
    AT_MIN_ISR = "AtMinISR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why one broker may not stop."""

    obstacle: Obstacle
    message: str


class Availability:
    """Which brokers of a cluster may stop at one moment."""

    def __init__(
        self,
        cluster: Cluster | None,
        *,
        members: Collection[int] | None = None,
        has_controller: bool = True,
        shapes: Collection[Shape] | None = None,
    ) -> None:
        """Without a ``cluster`` no broker may stop, since its replicas are unknown.

        ``members`` are the ids of the set; None = all with replicas.
        ``shapes`` are those of the cluster's partitions, where known.
        """
        self._general: Refusal | None = None
        if cluster is None:
            self._general = Refusal(obstacle=Obstacle.CLUSTER_UNKNOWN, message="no broker answers")
        elif not has_controller:
            self._general = Refusal(
                obstacle=Obstacle.NO_CONTROLLER,
                message="there is no controller that could elect other leaders",
            )
        self.live_brokers = frozenset() if cluster is None else cluster.live_brokers
        """Brokers that are registered and not terminating."""
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
        """Return why a broker may not stop now, or None."""
        return self._general or self._kept.get(broker_id)
