"""Periodic election of preferred leaders, where too many partitions have another leader.

After a broker has failed and returned, other brokers still lead the partitions that prefer it. No
other procedure moves them back: elections replace a leader that is offline, and these are online.

Kafka: ``checkAndTriggerAutoLeaderRebalance``; one move elsewhere does not stop it (KAFKA-10149).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ballast.controller.machines.components import Components
from ballast.controller.machines.elections import ElectionStrategy, elect_preferred
from ballast.controller.state.context import ControllerContext
from ballast.model.ids import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """The partitions whose preferred replica is on one broker, topics to be deleted left out."""

    partitions: int
    """How many of them have a leader, or had one."""
    imbalanced: tuple[TopicPartition, ...]
    """Those that are led by another broker, or by none, in order."""

    def exceeds(self, percentage: int) -> bool:
        """Whether more than ``percentage`` of them have another leader."""
        return len(self.imbalanced) * 100 > percentage * self.partitions


def preferences(context: ControllerContext) -> Mapping[int, Preference]:
    """Return the preferences by broker id; a broker that no partition prefers is left out."""
    counts: dict[int, int] = {}
    imbalanced: dict[int, list[TopicPartition]] = {}
    for topic_partition, state in sorted(context.leadership.items()):
        if context.is_queued_for_deletion(topic_partition):
            continue
        preferred = context.assignment(topic_partition).preferred_replica
        counts[preferred] = counts.get(preferred, 0) + 1
        if state.leader != preferred:
            imbalanced.setdefault(preferred, []).append(topic_partition)
    return {
        broker_id: Preference(
            partitions=counts[broker_id], imbalanced=tuple(imbalanced.get(broker_id, ()))
        )
        for broker_id in sorted(counts)
    }


class LeaderRebalance:
    """Elects preferred leaders at regular times."""

    def __init__(self, components: Components) -> None:
        self._context = components.context
        self._partitions = components.partitions
        self._options = components.options

    async def run(self) -> None:
        """Elect the preferred leaders of each broker that exceeds the allowed imbalance.

        Partitions that are being reassigned are skipped, because their leader moves anyway, and
        so are those whose preferred replica is offline or not in sync.
        """
        electable = [
            topic_partition
            for preference in preferences(self._context).values()
            if preference.exceeds(self._options.config.leader_imbalance_per_broker_percentage)
            for topic_partition in preference.imbalanced
            if self._is_electable(topic_partition)
        ]
        if electable:
            await self._partitions.elect(electable, ElectionStrategy.PREFERRED)

    def _is_electable(self, topic_partition: TopicPartition) -> bool:
        if self._context.is_being_reassigned(topic_partition):
            return False
        replicas = self._context.assignment(topic_partition).replicas
        isr = self._context.leadership[topic_partition].isr
        online = self._context.online_among(topic_partition, replicas)
        return elect_preferred(replicas, isr, online) is not None
