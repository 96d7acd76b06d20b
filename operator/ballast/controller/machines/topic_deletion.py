"""Topic deletion: replicas first, then the metadata, which stays until all replicas are gone.

A topic is queued by its name under /admin/delete_topics. Its deletion waits (it is *ineligible*)
while a replica's broker or disk is down, or while one of its partitions is being reassigned::

    queued ─► UpdateMetadata with leader -2 ─► replicas Offline ─► DeletionStarted
           ─► every broker answered: Successful ─► states, topic, config, request deleted
           └► a broker or disk failed: Ineligible ─► retried when it is back

Kafka's ``TopicDeletionManager`` waits for every broker. Here a broker that was removed for good
(`ControllerOptions.removed_ids_start`) is not waited for. If its data returns nevertheless, it has
the id of a deleted topic: no replica of a later topic with that name is made of it.
"""

from collections.abc import Collection, Iterable, Mapping

from ballast.controller.errors import RequestRefused
from ballast.controller.machines.control_request_batch import ControlRequestBatch
from ballast.controller.machines.partition_states import PartitionStateMachine
from ballast.controller.machines.replica_states import ReplicaStateMachine
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.events import StopReplicaAnswered
from ballast.controller.state.options import ControllerOptions
from ballast.controller.state.ports import BrokerChannels, MetadataStore
from ballast.controller.state.states import PartitionState, Replica, ReplicaState
from ballast.model.ids import TopicPartition


class TopicDeletionManager:
    """Deletes queued topics as soon as nothing delays them."""

    def __init__(
        self,
        context: ControllerContext,
        store: MetadataStore,
        channels: BrokerChannels,
        partitions: PartitionStateMachine,
        replicas: ReplicaStateMachine,
        options: ControllerOptions,
    ) -> None:
        self._context = context
        self._store = store
        self._channels = channels
        self._partitions = partitions
        self._replicas = replicas
        self._options = options

    async def request(self, topics: Collection[str]) -> Mapping[str, RequestRefused | None]:
        """Queue topics for deletion (key 20); return the refusal of each topic, or None."""
        answers: dict[str, RequestRefused | None] = {}
        for topic in sorted(set(topics)):
            answers[topic] = self._refusal(topic)
            if answers[topic] is None and topic not in self._context.queued_for_deletion:
                await self._store.create_topic_deletion(topic)
        await self.enqueue([topic for topic, refusal in answers.items() if refusal is None])
        return answers

    async def on_topic_deletion(self) -> None:
        """React to /admin/delete_topics: queue the topics named there."""
        await self.enqueue(await self.read_requests())

    async def read_requests(self) -> list[str]:
        """Return the topics to be deleted; drop requests that are disabled or name no topic.

        A request without a topic may be left by a controller that failed in the last step, so
        the rest of the topic (its config) is deleted with it.
        """
        requested = await self._store.read_topic_deletions()
        if not self._options.config.delete_topic_enable:
            if requested:
                await self._store.remove_topic_deletions(sorted(requested))
            return []
        for topic in sorted(requested - self._context.topics.keys()):
            await self._store.delete_topic(topic)
        return sorted(requested & self._context.topics.keys())

    def remember_requests(self, topics: Iterable[str]) -> None:
        """Queue topics in the context, those with a pending reassignment as ineligible."""
        self._context.queued_for_deletion.update(topics)
        self.hold(self._context.being_reassigned)

    async def enqueue(self, topics: Iterable[str]) -> None:
        """Queue topics and start the deletion of those that are eligible."""
        self.remember_requests(topics)
        await self.resume()

    def hold(self, partitions: Iterable[TopicPartition]) -> None:
        """Make the topics of partitions ineligible: a reassignment starts."""
        topics = {topic_partition.topic for topic_partition in partitions}
        self._context.ineligible_for_deletion |= topics & self._context.queued_for_deletion

    async def release(self, partitions: Iterable[TopicPartition]) -> None:
        """Make the topics of partitions eligible, if no other reassignment of them is pending."""
        topics = {topic_partition.topic for topic_partition in partitions}
        topics -= {topic_partition.topic for topic_partition in self._context.being_reassigned}
        if topics & self._context.queued_for_deletion:
            self._context.ineligible_for_deletion -= topics
            await self.resume()

    async def fail(self, replicas: Collection[Replica]) -> None:
        """Make the topics of replicas ineligible until the replicas' broker is back."""
        queued = self._context.queued_for_deletion
        successful = ReplicaState.DELETION_SUCCESSFUL
        affected = {
            r: state
            for r in replicas
            if r.topic_partition.topic in queued
            and (state := self._context.replica_state(r)) is not successful
        }
        started = [r for r, state in affected.items() if state is ReplicaState.DELETION_STARTED]
        self._replicas.fail_deletion(sorted(started))
        self._context.ineligible_for_deletion |= {r.topic_partition.topic for r in affected}
        await self.resume()

    async def on_stop_replica_answered(self, event: StopReplicaAnswered) -> None:
        """Advance the replicas that the broker has deleted, or failed to delete.

        A response with STALE_BROKER_EPOCH is of an earlier process of the broker and says nothing
        about the present one: the restart is an event of its own.
        """
        if event.error == "STALE_BROKER_EPOCH":
            return
        started = [
            Replica(topic_partition, event.broker_id)
            for topic_partition in sorted(event.deleted)
            if self._context.replica_state(Replica(topic_partition, event.broker_id))
            is ReplicaState.DELETION_STARTED
        ]
        if not started:
            return
        errors = event.partition_errors
        deleted = [
            replica
            for replica in started
            if event.error == "NONE" and errors.get(replica.topic_partition, "NONE") == "NONE"
        ]
        self._replicas.finish_deletion(deleted)
        failed = sorted({*started} - {*deleted})
        await (self.fail(failed) if failed else self.resume())

    async def resume(self) -> None:
        """Complete topics whose replicas are all deleted; start those that are eligible."""
        eligible: list[str] = []
        for topic in sorted(self._context.queued_for_deletion):
            if self._is_done(topic):
                await self._complete(topic)
            elif ReplicaState.DELETION_STARTED not in self._states(topic) and (
                topic not in self._context.ineligible_for_deletion
                or self._waits_for_removed_only(topic)
            ):
                eligible.append(topic)
        if eligible:
            self._context.ineligible_for_deletion.difference_update(eligible)
            await self._begin(eligible)
            for topic in eligible:
                if self._is_done(topic):
                    await self._complete(topic)

    async def resume_without_removed(self) -> None:
        """Resume topics that have waited for brokers that were removed since."""
        context = self._context
        waiting = context.queued_for_deletion & context.ineligible_for_deletion
        if any(self._waits_for_removed_only(topic) for topic in waiting):
            await self.resume()

    def _refusal(self, topic: str) -> RequestRefused | None:
        if not self._options.config.delete_topic_enable:
            return RequestRefused("TOPIC_DELETION_DISABLED", "Topic deletion is disabled.")
        if topic not in self._context.topics:
            return RequestRefused(
                "UNKNOWN_TOPIC_OR_PARTITION", "This server does not host this topic-partition."
            )
        return None

    def _states(self, topic: str) -> set[ReplicaState]:
        """Return the states of a topic's replicas; those on removed brokers are left out."""
        replicas = self._context.replicas_of(self._context.partitions_of(topic))
        return {
            self._context.replica_state(replica)
            for replica in replicas
            if not self._is_removed(replica)
        }

    def _is_done(self, topic: str) -> bool:
        """Whether brokers have the deletion in their metadata and no replica is left."""
        has_begun = topic in self._context.deletion_started
        is_empty = not self._context.partitions_of(topic)
        return (has_begun or is_empty) and self._states(topic) <= {ReplicaState.DELETION_SUCCESSFUL}

    def _is_removed(self, replica: Replica) -> bool:
        """Whether its broker was removed for good."""
        start = self._options.removed_ids_start
        return start is not None and replica.broker_id >= start and not self._is_reachable(replica)

    def _waits_for_removed_only(self, topic: str) -> bool:
        """Whether a topic waits only for brokers that were removed since."""
        partitions = self._context.partitions_of(topic)
        if any(tp in self._context.being_reassigned for tp in partitions):
            return False
        replicas = self._context.replicas_of(partitions)
        staying = [replica for replica in replicas if not self._is_removed(replica)]
        return len(staying) < len(replicas) and not any(
            not self._is_reachable(replica)
            or self._context.replica_state(replica) is ReplicaState.DELETION_INELIGIBLE
            for replica in staying
        )

    async def _begin(self, topics: Collection[str]) -> None:
        partitions = [tp for topic in topics for tp in self._context.partitions_of(topic)]
        starting = [tp for tp in partitions if tp.topic not in self._context.deletion_started]
        self._partitions.change(starting, PartitionState.OFFLINE)
        self._partitions.change(starting, PartitionState.NON_EXISTENT)
        self._context.deletion_started.update(topics)
        batch = ControlRequestBatch(self._context, self._channels)
        batch.add_update_metadata(self._context.live_or_shutting_down, partitions)
        batch.send()
        await self._delete_replicas(partitions)

    async def _delete_replicas(self, partitions: Collection[TopicPartition]) -> None:
        """Stop and delete replicas on live brokers; others make their topic ineligible."""
        remaining = [
            replica
            for replica in self._context.replicas_of(partitions)
            if self._context.replica_state(replica) is not ReplicaState.DELETION_SUCCESSFUL
            and not self._is_removed(replica)
        ]
        dead = [replica for replica in remaining if not self._is_reachable(replica)]
        alive = sorted({*remaining} - {*dead})
        self._context.ineligible_for_deletion |= {r.topic_partition.topic for r in dead}
        done = await self._replicas.take_offline(alive)
        self._replicas.start_deletion(done)

    def _is_reachable(self, replica: Replica) -> bool:
        """Whether the broker is registered; a failed disk shows in its response."""
        return replica.broker_id in self._context.brokers

    async def _complete(self, topic: str) -> None:
        replicas = self._context.replicas_of(self._context.partitions_of(topic))
        self._replicas.forget([replica for replica in replicas if not self._is_removed(replica)])
        await self._store.delete_topic(topic)
        self._context.forget_topic(topic)
