"""Deleting topics: replicas first, then the metadata; nothing is forgotten until all are gone.

A topic is queued by its name under /admin/delete_topics. Its deletion waits (it is *ineligible*)
while a replica's broker or disk is down, or while one of its partitions is being reassigned::

    queued ─► UpdateMetadata with leader -2 ─► replicas Offline ─► DeletionStarted
           ─► every broker answered: Successful ─► states, topic, config, request deleted
           └► a broker failed, or a disk: Ineligible ─► again when it comes back

Kafka: ``TopicDeletionManager``, which waits for every broker. Here a broker that was taken away for
good (`ControllerOptions.removed_ids_start`) is not waited for. Should its data come back after all,
it carries the id of a topic that is gone: no replica of a later topic of that name is made of it.
"""

from collections.abc import Collection, Iterable, Mapping

from ballast.controller.errors import RequestRefused
from ballast.controller.machines.control_request_batch import CommandBatch
from ballast.controller.machines.partition_states import PartitionStateMachine
from ballast.controller.machines.replica_states import ReplicaStateMachine
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.events import StopReplicaAnswered
from ballast.controller.state.options import ControllerOptions
from ballast.controller.state.ports import BrokerChannels, MetadataStore
from ballast.controller.state.states import PartitionState, Replica, ReplicaState
from ballast.model.ids import TopicPartition


class TopicDeletion:
    """Carries queued topics to their end."""

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

    async def request(
        self, topics: Collection[str], *, enabled: bool
    ) -> Mapping[str, RequestRefused | None]:
        """Queue topics for deletion (key 20); return why not, or None."""
        answers: dict[str, RequestRefused | None] = {}
        for topic in sorted(set(topics)):
            answers[topic] = self._refusal(topic, enabled=enabled)
            if answers[topic] is None and topic not in self._context.queued_for_deletion:
                await self._store.create_topic_deletion(topic)
        await self.enqueue([topic for topic, refusal in answers.items() if refusal is None])
        return answers

    async def on_topic_deletion(self, *, enabled: bool) -> None:
        """React to /admin/delete_topics: queue the topics named there."""
        await self.enqueue(await self.read_requests(enabled=enabled))

    async def read_requests(self, *, enabled: bool) -> list[str]:
        """Return the topics to be deleted; forget requests that are forbidden or have no topic.

        A request without a topic may be what a controller left that fell in the last step, so
        the rest of the topic (its config) goes with it.
        """
        requested = await self._store.read_topic_deletions()
        if not enabled:
            if requested:
                await self._store.remove_topic_deletions(sorted(requested))
            return []
        for topic in sorted(requested - self._context.topics.keys()):
            await self._store.delete_topic(topic)
        return sorted(requested & self._context.topics.keys())

    def remember_requests(self, topics: Iterable[str]) -> None:
        """Queue topics in memory, those with a pending reassignment as ineligible."""
        self._context.queued_for_deletion.update(topics)
        self.hold(self._context.being_reassigned)

    async def enqueue(self, topics: Iterable[str]) -> None:
        """Queue topics and begin what can be begun."""
        self.remember_requests(topics)
        await self.resume()

    def hold(self, partitions: Iterable[TopicPartition]) -> None:
        """Keep the topics of partitions from being deleted: a reassignment begins."""
        topics = {topic_partition.topic for topic_partition in partitions}
        self._context.ineligible_for_deletion |= topics & self._context.queued_for_deletion

    async def release(self, partitions: Iterable[TopicPartition]) -> None:
        """Let the topics of partitions be deleted, if nothing else of them is pending."""
        topics = {topic_partition.topic for topic_partition in partitions}
        topics -= {topic_partition.topic for topic_partition in self._context.being_reassigned}
        if topics & self._context.queued_for_deletion:
            self._context.ineligible_for_deletion -= topics
            await self.resume()

    async def fail(self, replicas: Collection[Replica]) -> None:
        """Replicas of queued topics cannot be deleted now; try again when their broker is back."""
        queued = self._context.queued_for_deletion
        successful = ReplicaState.DELETION_SUCCESSFUL
        known = {
            r: state
            for r in replicas
            if r.topic_partition.topic in queued
            and (state := self._context.replica_state(r)) is not successful
        }
        started = [r for r, state in known.items() if state is ReplicaState.DELETION_STARTED]
        self._replicas.fail_deletion(sorted(started))
        self._context.ineligible_for_deletion |= {r.topic_partition.topic for r in known}
        await self.resume()

    async def on_stop_replica_answered(self, event: StopReplicaAnswered) -> None:
        """Learn what became of the replicas that a broker was told to delete.

        An answer for a process that is gone says nothing of the one that came after it, which may
        have been told by now: the change of the broker is, or was, an event of its own.
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
        gone = [
            replica
            for replica in started
            if event.error == "NONE" and errors.get(replica.topic_partition, "NONE") == "NONE"
        ]
        self._replicas.finish_deletion(gone)
        failed = sorted({*started} - {*gone})
        await (self.fail(failed) if failed else self.resume())

    async def resume(self) -> None:
        """Finish topics whose replicas are all gone; begin those that can be begun."""
        eligible: list[str] = []
        for topic in sorted(self._context.queued_for_deletion):
            if self._is_done(topic):
                await self._complete(topic)
            elif ReplicaState.DELETION_STARTED not in self._states(topic) and (
                topic not in self._context.ineligible_for_deletion
                or self._waited_for_removed(topic)
            ):
                eligible.append(topic)
        if eligible:
            self._context.ineligible_for_deletion.difference_update(eligible)
            await self._begin(eligible)
            for topic in eligible:
                if self._is_done(topic):
                    await self._complete(topic)

    async def resume_without_removed(self) -> None:
        """Go on with topics that have waited for brokers which have been taken away since."""
        context = self._context
        waiting = context.queued_for_deletion & context.ineligible_for_deletion
        if any(self._waited_for_removed(topic) for topic in waiting):
            await self.resume()

    def _refusal(self, topic: str, *, enabled: bool) -> RequestRefused | None:
        if not enabled:
            return RequestRefused("TOPIC_DELETION_DISABLED", "Topic deletion is disabled.")
        if topic not in self._context.topics:
            return RequestRefused(
                "UNKNOWN_TOPIC_OR_PARTITION", "This server does not host this topic-partition."
            )
        return None

    def _states(self, topic: str) -> set[ReplicaState]:
        """Return the states of a topic's replicas; those that are gone for good are left out."""
        replicas = self._context.replicas_of(self._context.partitions_of(topic))
        return {
            self._context.replica_state(replica)
            for replica in replicas
            if not self._is_gone(replica)
        }

    def _is_done(self, topic: str) -> bool:
        """Whether nothing of a topic is left on any broker, and brokers know that it is going."""
        has_begun = topic in self._context.deletion_started
        is_empty = not self._context.partitions_of(topic)
        return (has_begun or is_empty) and self._states(topic) <= {ReplicaState.DELETION_SUCCESSFUL}

    def _is_gone(self, replica: Replica) -> bool:
        """Whether its broker is not registered, and does not return."""
        start = self._options.removed_ids_start
        return start is not None and replica.broker_id >= start and not self._is_reachable(replica)

    def _waited_for_removed(self, topic: str) -> bool:
        """Whether a topic that waits does so for brokers alone that have been taken away since."""
        partitions = self._context.partitions_of(topic)
        if any(tp in self._context.being_reassigned for tp in partitions):
            return False
        replicas = self._context.replicas_of(partitions)
        staying = [replica for replica in replicas if not self._is_gone(replica)]
        return len(staying) < len(replicas) and not any(
            not self._is_reachable(replica)
            or self._context.replica_state(replica) is ReplicaState.DELETION_INELIGIBLE
            for replica in staying
        )

    async def _begin(self, topics: Collection[str]) -> None:
        partitions = [tp for topic in topics for tp in self._context.partitions_of(topic)]
        unseen = [tp for tp in partitions if tp.topic not in self._context.deletion_started]
        self._partitions.change(unseen, PartitionState.OFFLINE)
        self._partitions.change(unseen, PartitionState.NON_EXISTENT)
        self._context.deletion_started.update(topics)
        batch = CommandBatch(self._context, self._channels)
        batch.add_update_metadata(self._context.live_or_shutting_down, partitions)
        batch.send()
        await self._delete_replicas(partitions)

    async def _delete_replicas(self, partitions: Collection[TopicPartition]) -> None:
        """Stop and delete live replicas; a dead one makes its topic wait."""
        remaining = [
            replica
            for replica in self._context.replicas_of(partitions)
            if self._context.replica_state(replica) is not ReplicaState.DELETION_SUCCESSFUL
            and not self._is_gone(replica)
        ]
        dead = [replica for replica in remaining if not self._is_reachable(replica)]
        alive = sorted({*remaining} - {*dead})
        self._context.ineligible_for_deletion |= {r.topic_partition.topic for r in dead}
        done = await self._replicas.take_offline(alive)
        self._replicas.start_deletion(done)

    def _is_reachable(self, replica: Replica) -> bool:
        """Whether the broker can be asked; one that has lost the disk says so."""
        return replica.broker_id in self._context.brokers

    async def _complete(self, topic: str) -> None:
        replicas = self._context.replicas_of(self._context.partitions_of(topic))
        self._replicas.forget([replica for replica in replicas if not self._is_gone(replica)])
        await self._store.delete_topic(topic)
        self._context.forget_topic(topic)
