"""Brokers that lost a disk say so in the store; their replicas are asked one by one what is left.

The event names the broker only. Each of its replicas is told once more how it is led; the answer
KAFKA_STORAGE_ERROR takes those on the lost disk offline (`BrokerLifecycle`). Replicas that are
offline since an earlier answer are told as well, as in Kafka: a broker that would not lead without
the records that it had may follow now.
"""

from ballast.controller.machines.control_request_batch import CommandBatch
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.ports import BrokerChannels, MetadataStore
from ballast.controller.state.states import Replica, ReplicaState

_BELIEVED_THERE = (ReplicaState.NEW, ReplicaState.ONLINE)


class LogDirFailures:
    """Handles /log_dir_event_notification."""

    def __init__(
        self, context: ControllerContext, store: MetadataStore, channels: BrokerChannels
    ) -> None:
        self._context = context
        self._store = store
        self._channels = channels

    async def on_notification(self) -> None:
        """Tell the replicas of the brokers named, then drop the events.

        The events go last: a controller that falls before leaves them to the next one, which
        tells every replica anyway.
        """
        events = await self._store.read_log_dir_events()
        if not events:
            return
        broker_ids = {broker_id for named in events.values() for broker_id in named}
        batch = CommandBatch(self._context, self._channels)
        for replica in self._context.replicas_on(broker_ids):
            if self._is_asked(replica):
                batch.add_leader_and_isr([replica.broker_id], replica.topic_partition)
        batch.send()
        await self._store.delete_log_dir_events(sorted(events))

    def _is_asked(self, replica: Replica) -> bool:
        """Whether the replica is believed to be there, or has said that it is not."""
        topic_partition = replica.topic_partition
        return (
            (
                self._context.replica_state(replica) in _BELIEVED_THERE
                or replica in self._context.offline_dir_replicas
            )
            and topic_partition in self._context.leadership
            and not self._context.is_being_deleted(topic_partition)
        )
