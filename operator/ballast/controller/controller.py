"""The controller as its event loop sees it: takes one event or request at a time, acts by ports."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from ballast.controller.brokers.brokers import BrokerLifecycle
from ballast.controller.brokers.controlled_shutdown import ControlledShutdown
from ballast.controller.brokers.isr_changes import IsrChanges
from ballast.controller.brokers.log_dir_failures import LogDirFailures
from ballast.controller.brokers.strays import Strays
from ballast.controller.errors import RequestRefused
from ballast.controller.failover import Failover
from ballast.controller.leaders.election_requests import ElectionRequests
from ballast.controller.leaders.leader_rebalance import LeaderRebalance
from ballast.controller.machines.components import build_components
from ballast.controller.machines.elections import ElectionType
from ballast.controller.reassignment.reassignment import Reassignment
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

    The caller awaits one method at a time. Any coroutine here may raise `ControllerMoved` and
    `StoreUnavailable`: the caller then resigns and drops this object, whose context is out of date.
    Any other exception is a bug, and the caller resigns as well (Kafka does on IllegalState).
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
        components = build_components(context, store, channels, options)
        reassignment = Reassignment(components)
        strays = Strays(components)
        self.context = context
        """Read-only for others, except that the caller takes ``failures`` out of it to log them."""
        self._components = components
        self._topics = Topics(components)
        self._reassignment_requests = ReassignmentRequests(components, reassignment)
        self._election_requests = ElectionRequests(components)
        self._strays = strays
        self._brokers = BrokerLifecycle(components, reassignment, strays)
        self._isr_changes = IsrChanges(components, reassignment)
        self._log_dir_failures = LogDirFailures(components)
        self._rebalance = LeaderRebalance(components)
        self._controlled_shutdown = ControlledShutdown(components)
        self._failover = Failover(
            components,
            brokers=self._brokers,
            reassignment=reassignment,
            reassignment_requests=self._reassignment_requests,
            election_requests=self._election_requests,
        )
        self._change_handlers = self._table_of_changes()
        self._handlers = self._table_of_events_with_content()

    async def failover(self) -> None:
        """Take over the cluster (Kafka's ``onControllerFailover``); call once, before all else."""
        await self._failover.run()

    async def handle(self, event: events.Event) -> None:
        """Handle one event; a repeated or merged one does no harm."""
        on_change = self._change_handlers.get(type(event))
        if on_change is not None:
            await on_change()
        else:
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
        """Create topics and elect leaders of their partitions: CreateTopics (19).

        On return the assignment is stored and LeaderAndIsr and UpdateMetadata are queued; call
        `is_topic_ready` after each event to learn when every broker has the topic's metadata.
        """
        return await self._topics.create(new_topics, validate_only=validate_only)

    async def create_partitions(
        self, growths: Sequence[TopicGrowth], *, validate_only: bool = False
    ) -> Mapping[str, RequestRefused | None]:
        """Add partitions to distinct topics and elect their leaders: CreatePartitions (37).

        Returns for each topic the reason of its refusal, or None; then as after `create_topics`.
        """
        return await self._topics.grow(growths, validate_only=validate_only)

    def is_topic_ready(self, topic: str) -> bool:
        """Whether each partition has a leader and each live broker has the topic's metadata.

        Becomes true with an `UpdateMetadataAnswered`, or with the failure of the last broker
        that had not answered. A deferred CreateTopics calls it after each event and answers
        REQUEST_TIMED_OUT if its timeout passes first. Unknown topics are not ready.
        """
        return self._topics.is_ready(topic)

    async def delete_topics(self, topics: Collection[str]) -> Mapping[str, RequestRefused | None]:
        """Queue topics for deletion and start those that are eligible: DeleteTopics (20)."""
        return await self._components.deletion.request(topics)

    def is_topic_deleted(self, topic: str) -> bool:
        """Whether nothing of the topic is left, so that a deferred DeleteTopics may answer."""
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
        """Move leaders off a broker that will stop; return those it still leads (key 7).

        Raises `RequestRefused`: BROKER_NOT_AVAILABLE, STALE_BROKER_EPOCH.
        """
        if self._controlled_shutdown.is_news(broker_id, broker_epoch):
            await self._brokers.on_broker_change()
        return await self._controlled_shutdown.run(broker_id, broker_epoch)

    def _table_of_changes(self) -> Mapping[type, Callable[[], Awaitable[None]]]:
        """Return the handlers of events without content: each reads what has changed."""
        return {
            events.BrokerChange: self._brokers.on_broker_change,
            events.TopicChange: self._topics.on_topic_change,
            events.TopicDeletion: self._on_topic_deletion,
            events.ZkPartitionReassignment: self._reassignment_requests.on_legacy_request,
            events.ZkPreferredElection: self._election_requests.on_legacy_request,
            events.IsrChangeNotification: self._isr_changes.on_notification,
            events.LogDirEventNotification: self._log_dir_failures.on_notification,
            events.ConfigChange: self._on_config_change,
            events.AutoPreferredReplicaLeaderElection: self._on_rebalance_due,
        }

    def _table_of_events_with_content(self) -> Mapping[type, Callable[[Any], Awaitable[None]]]:
        return {
            events.PartitionModifications: self._topics.on_partition_modifications,
            events.LeaderAndIsrAnswered: self._brokers.on_leader_and_isr_answered,
            events.StopReplicaAnswered: self._on_stop_replica_answered,
            events.UpdateMetadataAnswered: self._topics.on_update_metadata_answered,
        }

    async def _on_topic_deletion(self) -> None:
        # A topic may be created and deleted before its creation has been handled.
        await self._topics.on_topic_change()
        await self._components.deletion.on_topic_deletion()

    async def _on_rebalance_due(self) -> None:
        await self._components.deletion.resume_without_removed()
        await self._rebalance.run()

    async def _on_config_change(self) -> None:
        # A partition whose config allows an unclean election now is elected at once, not only
        # with the next change of a broker.
        changes = await self._components.store.read_config_changes()
        await self._components.partitions.elect_missing_leaders(
            None if changes.broker_defaults else changes.topics
        )

    async def _on_stop_replica_answered(self, event: events.StopReplicaAnswered) -> None:
        self._strays.on_stop_replica_answered(event)
        await self._components.deletion.on_stop_replica_answered(event)
