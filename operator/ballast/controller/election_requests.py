"""Elections that somebody asks for: key 43, the legacy znode, and the automatic rebalance."""

from collections.abc import Collection, Mapping

from ballast.controller.context import ControllerContext
from ballast.controller.elections import ElectionStrategy, ElectionType, elect_preferred
from ballast.controller.errors import RequestRefused
from ballast.controller.options import ControllerOptions
from ballast.controller.partition_states import PartitionStateMachine
from ballast.controller.ports import MetadataStore
from ballast.model.ids import NO_LEADER, TopicPartition

_STRATEGY = {
    ElectionType.PREFERRED: ElectionStrategy.PREFERRED,
    ElectionType.UNCLEAN: ElectionStrategy.OFFLINE_UNCLEAN,
}
_NOT_AVAILABLE = {
    ElectionType.PREFERRED: "PREFERRED_LEADER_NOT_AVAILABLE",
    ElectionType.UNCLEAN: "ELIGIBLE_LEADERS_NOT_AVAILABLE",
}


class ElectionRequests:
    """Sorts out what needs no election, and elects the rest in one pass."""

    def __init__(
        self,
        context: ControllerContext,
        store: MetadataStore,
        partitions: PartitionStateMachine,
        options: ControllerOptions,
    ) -> None:
        self._context = context
        self._store = store
        self._partitions = partitions
        self._imbalance_allowed = options.leader_imbalance_per_broker_percentage / 100

    async def elect(
        self, election_type: ElectionType, partitions: Collection[TopicPartition] | None
    ) -> Mapping[TopicPartition, RequestRefused | None]:
        """Elect leaders; return the refusals by partition.

        Preferred elections concern partitions led by another replica, unclean ones those without
        a live leader.
        """
        asked = self._context.partitions() if partitions is None else partitions
        answers: dict[TopicPartition, RequestRefused | None] = {
            topic_partition: self._refusal(election_type, topic_partition)
            for topic_partition in sorted(set(asked))
        }
        electable = [tp for tp, refusal in answers.items() if refusal is None]
        failed = await self._partitions.elect(electable, _STRATEGY[election_type])
        for topic_partition, failure in failed.items():
            error = _NOT_AVAILABLE[election_type]
            answers[topic_partition] = RequestRefused(error, str(failure))
        return answers

    async def on_legacy_request(self) -> None:
        """Serve /admin/preferred_replica_election, then delete it."""
        requested = await self._store.read_preferred_elections()
        if requested:
            await self.elect(ElectionType.PREFERRED, requested)
            await self._store.delete_preferred_elections()

    async def rebalance(self) -> None:
        """Elect preferred leaders for brokers that lead too few of the partitions they should.

        A partition takes part when its preferred replica lives and is in the ISR, and when it is
        neither being deleted nor reassigned (KAFKA-10149: others may be).
        """
        preferring: dict[int, list[TopicPartition]] = {}
        for topic_partition in self._context.partitions():
            preferred = self._context.assignment(topic_partition).preferred_replica
            if not self._context.is_queued_for_deletion(topic_partition):
                preferring.setdefault(preferred, []).append(topic_partition)
        for broker_id in sorted(preferring.keys() & self._context.live_brokers):
            all_of_broker = preferring[broker_id]
            elsewhere = [tp for tp in all_of_broker if self._leader(tp) != broker_id]
            if len(elsewhere) / len(all_of_broker) > self._imbalance_allowed:
                electable = [tp for tp in elsewhere if self._can_return(tp)]
                await self._partitions.elect(electable, ElectionStrategy.PREFERRED)

    def _refusal(
        self, election_type: ElectionType, topic_partition: TopicPartition
    ) -> RequestRefused | None:
        if not self._context.has_partition(topic_partition):
            return RequestRefused("UNKNOWN_TOPIC_OR_PARTITION", "The partition does not exist.")
        if self._context.is_queued_for_deletion(topic_partition):
            return RequestRefused("INVALID_TOPIC_EXCEPTION", "The topic is being deleted")
        leader = self._leader(topic_partition)
        if election_type is ElectionType.PREFERRED:
            is_valid = leader == self._context.assignment(topic_partition).preferred_replica
        else:
            is_valid = leader in self._context.live_brokers
        if is_valid:
            return RequestRefused(
                "ELECTION_NOT_NEEDED", "Leader election not needed for topic partition."
            )
        return None

    def _leader(self, topic_partition: TopicPartition) -> int:
        state = self._context.leadership.get(topic_partition)
        return NO_LEADER if state is None else state.leader

    def _can_return(self, topic_partition: TopicPartition) -> bool:
        state = self._context.leadership.get(topic_partition)
        if state is None or self._context.is_being_reassigned(topic_partition):
            return False
        replicas = self._context.assignment(topic_partition).replicas
        online = self._context.online_replicas(topic_partition)
        return elect_preferred(replicas, state.isr, online) is not None
