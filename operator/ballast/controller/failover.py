"""Taking over the cluster: Kafka's ``onControllerFailover``."""

from dataclasses import dataclass

from ballast.controller.brokers.brokers import BrokerLifecycle
from ballast.controller.leaders.election_requests import ElectionRequests
from ballast.controller.machines.leader_and_isr import LeadershipWriter
from ballast.controller.machines.partition_states import PartitionStateMachine
from ballast.controller.machines.replica_states import ReplicaStateMachine
from ballast.controller.machines.topic_deletion import TopicDeletion
from ballast.controller.reassignment.reassignment import Reassignment
from ballast.controller.reassignment.requests import ReassignmentRequests
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.ports import MetadataStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedures:
    """What a failover sets going."""

    brokers: BrokerLifecycle
    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine
    deletion: TopicDeletion
    reassignment: Reassignment
    reassignment_requests: ReassignmentRequests
    election_requests: ElectionRequests


class Failover:
    """Reads the whole cluster, tells the brokers, and resumes what a fallen controller left."""

    def __init__(
        self,
        context: ControllerContext,
        store: MetadataStore,
        leadership: LeadershipWriter,
        procedures: Procedures,
        *,
        deletion_enabled: bool,
    ) -> None:
        self._context = context
        self._store = store
        self._leadership = leadership
        self._procedures = procedures
        self._deletion_enabled = deletion_enabled

    async def run(self) -> None:
        """Take over, in Kafka's order.

        Each read arms its watch, so nothing that changes later is missed. Brokers hear who lives
        before they hear who leads (KAFKA-4443), and the state machines run before reassignments
        and elections left behind are resumed (KAFKA-840).
        """
        do = self._procedures
        await self._drop_notifications()
        await self._read_cluster()
        do.deletion.remember_requests(
            await do.deletion.read_requests(enabled=self._deletion_enabled)
        )
        do.brokers.introduce_all()
        strays = do.reassignment.strays_in_isr()
        await do.replicas.startup()
        await do.partitions.startup()
        await do.reassignment.expel(strays)
        await do.reassignment_requests.resume_all()
        await do.deletion.resume()
        await do.election_requests.on_legacy_request()
        self._context.check_invariants()

    async def _drop_notifications(self) -> None:
        """Arm their watches, and forget what is read anew in a moment anyway."""
        await self._store.read_config_changes()
        log_dir_events = await self._store.read_log_dir_events()
        if log_dir_events:
            await self._store.delete_log_dir_events(sorted(log_dir_events))
        notifications = await self._store.read_isr_notifications()
        if notifications:
            await self._store.delete_isr_notifications(sorted(notifications))

    async def _read_cluster(self) -> None:
        for broker in await self._store.read_brokers():
            self._context.add_broker(broker)
        names = await self._store.read_topic_names()
        topics = await self._store.read_topics(sorted(names))
        for name in sorted(topics):
            self._context.put_topic(topics[name])
        await self._leadership.read(list(self._context.partitions()))
