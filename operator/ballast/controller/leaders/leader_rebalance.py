"""Leadership goes back to the preferred replicas where too much of it has strayed.

After a broker has failed and come back, or was restarted, others lead what it is to lead. Nothing
else gives that back: an election replaces a leader that is gone, and no leader is gone.

Kafka: ``checkAndTriggerAutoLeaderRebalance``; one move elsewhere does not stop it (KAFKA-10149).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ballast.controller.machines.elections import ElectionStrategy, elect_preferred
from ballast.controller.machines.partition_states import PartitionStateMachine
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.options import ControllerOptions
from ballast.model.ids import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """The partitions that prefer one broker, without those of topics to be deleted."""

    partitions: int
    """How many of them have a leader, or had one."""
    strayed: tuple[TopicPartition, ...]
    """Those that are led by another broker, or by none, in order."""

    def exceeds(self, percentage: int) -> bool:
        """Whether more than ``percentage`` of them have strayed."""
        return len(self.strayed) * 100 > percentage * self.partitions


def preferences(context: ControllerContext) -> Mapping[int, Preference]:
    """Return what prefers each broker, by its id; a broker nobody prefers is left out."""
    counts: dict[int, int] = {}
    strayed: dict[int, list[TopicPartition]] = {}
    for topic_partition, state in sorted(context.leadership.items()):
        if context.is_queued_for_deletion(topic_partition):
            continue
        preferred = context.assignment(topic_partition).preferred_replica
        counts[preferred] = counts.get(preferred, 0) + 1
        if state.leader != preferred:
            strayed.setdefault(preferred, []).append(topic_partition)
    return {
        broker_id: Preference(
            partitions=counts[broker_id], strayed=tuple(strayed.get(broker_id, ()))
        )
        for broker_id in sorted(counts)
    }


class LeaderRebalance:
    """Elects preferred leaders without being asked."""

    def __init__(
        self,
        context: ControllerContext,
        partitions: PartitionStateMachine,
        options: ControllerOptions,
    ) -> None:
        self._context = context
        self._partitions = partitions
        self._options = options

    async def run(self) -> None:
        """Give each broker back what it should lead, if it lacks more than the share allowed.

        Left alone are partitions that are being reassigned, because their leader moves anyway,
        and those whose preferred replica is not there or not in sync.
        """
        electable = [
            topic_partition
            for preference in preferences(self._context).values()
            if preference.exceeds(self._options.config.leader_imbalance_per_broker_percentage)
            for topic_partition in preference.strayed
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
