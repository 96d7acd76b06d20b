"""Controlled shutdown: a broker that will stop asks to give up its leaderships (key 7)."""

from ballast.controller.errors import RequestRefused
from ballast.controller.machines.components import Components
from ballast.controller.machines.elections import ElectionStrategy
from ballast.controller.state.states import Replica
from ballast.model.ids import NO_EPOCH, TopicPartition


class ControlledShutdown:
    """Moves leaders away and takes followers out of the ISR before the broker stops."""

    def __init__(self, components: Components) -> None:
        self._context = components.context
        self._partitions = components.partitions
        self._replicas = components.replicas

    async def run(self, broker_id: int, broker_epoch: int) -> frozenset[TopicPartition]:
        """Move leaders off a broker; return the partitions it still leads.

        Partitions with one replica, without leadership, or of a topic to be deleted are left
        alone. From here on the broker counts as not live until it registers again. A repeated
        request returns the partitions for which there is no other leader.
        """
        self._check(broker_id, broker_epoch)
        self._context.shutting_down.add(broker_id)
        concerned = [
            replica.topic_partition
            for replica in self._context.replicas_on((broker_id,))
            if self._is_concerned(replica.topic_partition)
        ]
        led = [tp for tp in concerned if self._leads(broker_id, tp)]
        followed = [Replica(tp, broker_id) for tp in concerned if not self._leads(broker_id, tp)]
        await self._partitions.elect(led, ElectionStrategy.CONTROLLED_SHUTDOWN)
        await self._replicas.take_offline(followed)
        return frozenset(tp for tp in concerned if self._leads(broker_id, tp))

    def is_news(self, broker_id: int, broker_epoch: int) -> bool:
        """Whether the broker has registered since the registrations were last read."""
        broker = self._context.brokers.get(broker_id)
        return broker is None or broker_epoch > broker.broker_epoch

    def _check(self, broker_id: int, broker_epoch: int) -> None:
        broker = self._context.brokers.get(broker_id)
        if broker is None:
            raise RequestRefused("BROKER_NOT_AVAILABLE", f"Broker id {broker_id} does not exist.")
        if broker_epoch not in (NO_EPOCH, broker.broker_epoch):
            raise RequestRefused(
                "STALE_BROKER_EPOCH",
                f"Epoch {broker_epoch} of broker {broker_id} is not {broker.broker_epoch}.",
            )

    def _is_concerned(self, topic_partition: TopicPartition) -> bool:
        return (
            len(self._context.assignment(topic_partition).replicas) > 1
            and topic_partition in self._context.leadership
            and not self._context.is_being_deleted(topic_partition)
        )

    def _leads(self, broker_id: int, topic_partition: TopicPartition) -> bool:
        return self._context.leadership[topic_partition].leader == broker_id
