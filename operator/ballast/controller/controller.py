"""The face of the controller: events and requests go in, one at a time; effects leave by ports."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from ballast.controller.brokers.brokers import BrokerLifecycle, BrokerProcedures
from ballast.controller.brokers.controlled_shutdown import ControlledShutdown
from ballast.controller.brokers.isr_changes import IsrChanges
from ballast.controller.brokers.log_dir_failures import LogDirFailures
from ballast.controller.brokers.strays import Strays
from ballast.controller.errors import RequestRefused
from ballast.controller.failover import Failover, Procedures
from ballast.controller.leaders.election_requests import ElectionRequests
from ballast.controller.leaders.leader_rebalance import LeaderRebalance
from ballast.controller.machines.elections import ElectionType
from ballast.controller.machines.leader_and_isr import LeadershipWriter
from ballast.controller.machines.partition_states import PartitionStateMachine
from ballast.controller.machines.replica_states import ReplicaStateMachine
from ballast.controller.machines.topic_deletion import TopicDeletion
from ballast.controller.reassignment.reassignment import Machines, Reassignment
from ballast.controller.reassignment.requests import ReassignmentRequests
from ballast.controller.state import events
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.options import ControllerOptions
from ballast.controller.state.ports import BrokerChannels, MetadataStore
from ballast.controller.topics.new_topics import NewTopic
from ballast.controller.topics.topic_growth import TopicGrowth
from ballast.controller.topics.topics import Topics
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.topics import TopicAssignment


class Controller:
    """One elected controller, from its failover until it is dropped.

    The shell awaits one method at a time. `ControllerMoved` and `StoreUnavailable` may leave any
    coroutine here: the shell then resigns and drops the object, whose memory is no longer true.
    Any other exception is a bug, and the shell resigns as well (Kafka does on IllegalState).
    """

    def __init__(
        self,
        store: MetadataStore,
        channels: BrokerChannels,
        *,
        controller_id: int,
        controller_epoch: int,
        options: ControllerOptions | None = None,
    ) -> None:
        options = options or ControllerOptions()
        context = ControllerContext(controller_id=controller_id, controller_epoch=controller_epoch)
        leadership = LeadershipWriter(context, store)
        partitions = PartitionStateMachine(context, store, channels, leadership, options)
        replicas = ReplicaStateMachine(context, channels, leadership)
        deletion = TopicDeletion(context, store, channels, partitions, replicas, options)
        machines = Machines(partitions=partitions, replicas=replicas, leadership=leadership)
        reassignment = Reassignment(context, store, channels, machines, deletion)
        self.context = context
        """What the controller knows: read-only to others, who may take its ``failures`` to log."""
        self._options = options
        self._topics = Topics(context, store, partitions, replicas, options)
        self._deletion = deletion
        self._reassignment_requests = ReassignmentRequests(context, store, leadership, reassignment)
        self._election_requests = ElectionRequests(context, store, partitions)
        self._strays = Strays(context, channels, leadership)
        self._brokers = BrokerLifecycle(
            context,
            store,
            channels,
            BrokerProcedures(
                partitions=partitions,
                replicas=replicas,
                deletion=deletion,
                reassignment=reassignment,
                strays=self._strays,
            ),
        )
        self._isr_changes = IsrChanges(context, store, channels, leadership, reassignment)
        self._partitions = partitions
        self._store = store
        self._log_dir_failures = LogDirFailures(context, store, channels)
        self._rebalance = LeaderRebalance(context, partitions, options)
        self._controlled_shutdown = ControlledShutdown(context, partitions, replicas)
        self._failover = Failover(
            context,
            store,
            leadership,
            Procedures(
                brokers=self._brokers,
                partitions=partitions,
                replicas=replicas,
                deletion=deletion,
                reassignment=reassignment,
                reassignment_requests=self._reassignment_requests,
                election_requests=self._election_requests,
            ),
            deletion_enabled=self._options.config.delete_topic_enable,
        )
        self._handlers = self._handlers_of_events()

    async def failover(self) -> None:
        """Take over the cluster (Kafka's ``onControllerFailover``); call once, before all else."""
        await self._failover.run()

    async def handle(self, event: events.Event) -> None:
        """Handle one event; a repeated or merged one does no harm."""
        await self._handlers[type(event)](event)

    async def alter_partition_reassignments(
        self, reassignments: Mapping[TopicPartition, tuple[int, ...] | None]
    ) -> Mapping[TopicPartition, RequestRefused | None]:
        """Start, override or (None) cancel reassignments: AlterPartitionReassignments (45).

        Returns for each partition the reason of its refusal, or None when it was taken.
        """
        return await self._reassignment_requests.alter(reassignments)

    def list_partition_reassignments(
        self, partitions: Collection[TopicPartition] | None = None
    ) -> Mapping[TopicPartition, ReplicaAssignment]:
        """Return the pending reassignments among ``partitions``, or all (None): key 46."""
        return self._reassignment_requests.pending(partitions)

    async def create_topics(
        self, new_topics: Sequence[NewTopic], *, validate_only: bool = False
    ) -> Mapping[str, TopicAssignment | RequestRefused]:
        """Create topics, and lead their partitions: CreateTopics (19).

        On return the assignment is stored and LeaderAndIsr and UpdateMetadata are queued; ask
        `is_topic_ready` after each event to learn when every broker knows the topic.
        """
        return await self._topics.create(new_topics, validate_only=validate_only)

    async def create_partitions(
        self, growths: Sequence[TopicGrowth], *, validate_only: bool = False
    ) -> Mapping[str, RequestRefused | None]:
        """Add partitions to topics, each named once, and lead them: CreatePartitions (37).

        Returns for each topic the reason of its refusal, or None; then as after `create_topics`.
        """
        return await self._topics.grow(growths, validate_only=validate_only)

    def is_topic_ready(self, topic: str) -> bool:
        """Whether each partition has a leader and each live broker has been told of the topic.

        Becomes true with an `UpdateMetadataAnswered`, or with the failure of the last broker
        that had not answered: a waiting CreateTopics asks again after each event, and answers
        REQUEST_TIMED_OUT when its time is over first. Unknown topics are not ready.
        """
        return self._topics.is_ready(topic)

    async def delete_topics(self, topics: Collection[str]) -> Mapping[str, RequestRefused | None]:
        """Queue topics for deletion, and begin it where nothing stands in the way: key 20."""
        return await self._deletion.request(
            topics, enabled=self._options.config.delete_topic_enable
        )

    def is_topic_deleted(self, topic: str) -> bool:
        """Whether nothing of the topic is left, so that a waiting DeleteTopics may answer."""
        return topic not in self.context.topics

    def topic_name(self, topic_id: UUID) -> str | None:
        """Return the topic of that id (DeleteTopics names topics by id from version 6 on)."""
        return self.context.topic_name(topic_id)

    async def elect_leaders(
        self, election_type: ElectionType, partitions: Collection[TopicPartition] | None = None
    ) -> Mapping[TopicPartition, RequestRefused | None]:
        """Elect leaders of ``partitions``, or of all (None): ElectLeaders (43).

        Returns for each partition the reason why nothing was elected, or None.
        """
        return await self._election_requests.elect(election_type, partitions)

    async def controlled_shutdown(
        self, broker_id: int, broker_epoch: int
    ) -> frozenset[TopicPartition]:
        """Move leaders off a broker about to stop; return the partitions it still leads: key 7.

        Raises `RequestRefused`: BROKER_NOT_AVAILABLE, STALE_BROKER_EPOCH.
        """
        if self._controlled_shutdown.is_news(broker_id, broker_epoch):
            await self._brokers.on_broker_change()
        return await self._controlled_shutdown.run(broker_id, broker_epoch)

    def _handlers_of_events(self) -> Mapping[type, Callable[[Any], Awaitable[None]]]:
        return {
            events.BrokerChange: self._on_broker_change,
            events.TopicChange: self._on_topic_change,
            events.PartitionModifications: self._topics.on_partition_modifications,
            events.TopicDeletion: self._on_topic_deletion,
            events.ZkPartitionReassignment: self._on_zk_partition_reassignment,
            events.ZkPreferredElection: self._on_zk_preferred_election,
            events.IsrChangeNotification: self._on_isr_change_notification,
            events.LogDirEventNotification: self._on_log_dir_event,
            events.ConfigChange: self._on_config_change,
            events.AutoPreferredReplicaLeaderElection: self._on_rebalance_due,
            events.LeaderAndIsrAnswered: self._brokers.on_leader_and_isr_answered,
            events.StopReplicaAnswered: self._on_stop_replica_answered,
            events.UpdateMetadataAnswered: self._on_update_metadata_answered,
        }

    async def _on_broker_change(self, _: events.BrokerChange) -> None:
        await self._brokers.on_broker_change()

    async def _on_topic_change(self, _: events.TopicChange) -> None:
        await self._topics.on_topic_change()

    async def _on_topic_deletion(self, _: events.TopicDeletion) -> None:
        # A topic may be created and deleted before its creation has been looked at.
        await self._topics.on_topic_change()
        await self._deletion.on_topic_deletion(enabled=self._options.config.delete_topic_enable)

    async def _on_zk_partition_reassignment(self, _: events.ZkPartitionReassignment) -> None:
        await self._reassignment_requests.on_legacy_request()

    async def _on_zk_preferred_election(self, _: events.ZkPreferredElection) -> None:
        await self._election_requests.on_legacy_request()

    async def _on_isr_change_notification(self, _: events.IsrChangeNotification) -> None:
        await self._isr_changes.on_notification()

    async def _on_log_dir_event(self, _: events.LogDirEventNotification) -> None:
        await self._log_dir_failures.on_notification()

    async def _on_rebalance_due(self, _: events.AutoPreferredReplicaLeaderElection) -> None:
        await self._deletion.resume_without_removed()
        await self._rebalance.run()

    async def _on_config_change(self, _: events.ConfigChange) -> None:
        # Who allows an unclean election now need not wait for the next change of a broker.
        changes = await self._store.read_config_changes()
        await self._partitions.elect_missing_leaders(
            None if changes.broker_defaults else changes.topics
        )

    async def _on_stop_replica_answered(self, event: events.StopReplicaAnswered) -> None:
        self._strays.on_stop_replica_answered(event)
        await self._deletion.on_stop_replica_answered(event)

    async def _on_update_metadata_answered(self, event: events.UpdateMetadataAnswered) -> None:
        self._topics.on_update_metadata_answered(event)
