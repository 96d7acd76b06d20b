"""Elections on request: ElectLeaders (43) and /admin/preferred_replica_election."""

from collections.abc import Collection, Mapping

from ballast.controller.errors import RequestRefused
from ballast.controller.machines.components import Components
from ballast.controller.machines.elections import ElectionStrategy, ElectionType
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
    """Refuses partitions that need no election and elects the others in one pass."""

    def __init__(self, components: Components) -> None:
        self._context = components.context
        self._store = components.store
        self._partitions = components.partitions

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

    def _refusal(
        self, election_type: ElectionType, topic_partition: TopicPartition
    ) -> RequestRefused | None:
        if not self._context.has_partition(topic_partition):
            return RequestRefused("UNKNOWN_TOPIC_OR_PARTITION", "The partition does not exist.")
        if self._context.is_being_deleted(topic_partition):
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
