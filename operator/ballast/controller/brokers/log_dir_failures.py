"""Handles /log_dir_event_notification, by which a broker reports that a log directory has failed.

The event names the broker only. The controller sends it LeaderAndIsr for each of its replicas; the
error KAFKA_STORAGE_ERROR in the response takes those in the failed directory offline
(`BrokerLifecycle`). Replicas that are offline since an earlier response are sent too, as in Kafka:
a broker that refused to lead a replica whose records are lost may follow now.
"""

from ballast.controller.machines.components import Components
from ballast.controller.machines.control_request_batch import ControlRequestBatch
from ballast.controller.state.states import Replica, ReplicaState

_THOUGHT_ONLINE = (ReplicaState.NEW, ReplicaState.ONLINE)


class LogDirFailures:
    """Reacts to failed log directories."""

    def __init__(self, components: Components) -> None:
        self._context = components.context
        self._store = components.store
        self._channels = components.channels

    async def on_notification(self) -> None:
        """Send LeaderAndIsr to the brokers' replicas, then delete the events.

        Events are deleted last: if this controller fails before, the next one finds them, and
        it sends LeaderAndIsr to every replica at failover.
        """
        events = await self._store.read_log_dir_events()
        if not events:
            return
        broker_ids = {broker_id for ids in events.values() for broker_id in ids}
        batch = ControlRequestBatch(self._context, self._channels)
        for replica in self._context.replicas_on(broker_ids):
            if self._is_sent(replica):
                batch.add_leader_and_isr([replica.broker_id], replica.topic_partition)
        batch.send()
        await self._store.delete_log_dir_events(sorted(events))

    def _is_sent(self, replica: Replica) -> bool:
        """Whether the replica is thought to be online, or its broker has reported it offline."""
        topic_partition = replica.topic_partition
        return (
            (
                self._context.replica_state(replica) in _THOUGHT_ONLINE
                or replica in self._context.offline_dir_replicas
            )
            and topic_partition in self._context.leadership
            and not self._context.is_being_deleted(topic_partition)
        )
