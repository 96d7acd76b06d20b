"""What a newly elected controller does first: Kafka's ``onControllerFailover``."""

from ballast.controller.brokers.brokers import BrokerLifecycle
from ballast.controller.leaders.election_requests import ElectionRequests
from ballast.controller.machines.components import Components
from ballast.controller.reassignment.reassignment import Reassignment
from ballast.controller.reassignment.requests import ReassignmentRequests


class Failover:
    """Reads the cluster, updates the brokers, and resumes what the previous controller began."""

    def __init__(
        self,
        components: Components,
        *,
        brokers: BrokerLifecycle,
        reassignment: Reassignment,
        reassignment_requests: ReassignmentRequests,
        election_requests: ElectionRequests,
    ) -> None:
        self._components = components
        self._brokers = brokers
        self._reassignment = reassignment
        self._reassignment_requests = reassignment_requests
        self._election_requests = election_requests

    async def run(self) -> None:
        """Take over, in Kafka's order.

        Each read sets its watch, so that no later change is missed. Brokers get the live brokers
        before they get leaders (KAFKA-4443), and the state machines start before reassignments
        and elections of the previous controller are resumed (KAFKA-840).
        """
        machines = self._components
        await self._drop_notifications()
        await self._read_cluster()
        machines.deletion.remember_requests(await machines.deletion.read_requests())
        self._brokers.open_channels()
        strays = self._reassignment.strays_in_isr()
        await machines.replicas.startup()
        await machines.partitions.startup()
        await self._reassignment.expel(strays)
        await self._reassignment_requests.resume_all()
        await machines.deletion.resume()
        await self._election_requests.on_legacy_request()
        self._components.context.check_invariants()

    async def _drop_notifications(self) -> None:
        """Set their watches and delete them: what they announce is read next anyway."""
        await self._components.store.read_config_changes()
        log_dir_events = await self._components.store.read_log_dir_events()
        if log_dir_events:
            await self._components.store.delete_log_dir_events(sorted(log_dir_events))
        notifications = await self._components.store.read_isr_notifications()
        if notifications:
            await self._components.store.delete_isr_notifications(sorted(notifications))

    async def _read_cluster(self) -> None:
        for broker in await self._components.store.read_brokers():
            self._components.context.add_broker(broker)
        names = await self._components.store.read_topic_names()
        topics = await self._components.store.read_topics(sorted(names))
        for name in sorted(topics):
            self._components.context.put_topic(topics[name])
        await self._components.leader_and_isr.read(list(self._components.context.partitions()))
