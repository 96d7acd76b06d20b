"""Removed replicas whose broker has not confirmed that their data is gone.

A reassignment does not wait for the answer to StopReplica (B5): the broker may be dead for good.
When it comes back it is told again (KAFKA-13972, KAFKA-13198). This memory ends with the
controller: what a fallen controller removed, a broker finds by comparing its logs with the
replicas in UpdateMetadata.
"""

from collections.abc import Collection

from ballast.controller.machines.control_request_batch import CommandBatch
from ballast.controller.machines.leader_and_isr import LeadershipWriter
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.events import StopReplicaAnswered
from ballast.controller.state.ports import BrokerChannels
from ballast.controller.state.states import Replica


class Strays:
    """Deletes what brokers still hold of replicas taken away while they could not hear it."""

    def __init__(
        self, context: ControllerContext, channels: BrokerChannels, leadership: LeadershipWriter
    ) -> None:
        self._context = context
        self._channels = channels
        self._leadership = leadership

    def on_stop_replica_answered(self, event: StopReplicaAnswered) -> None:
        """Learn which removed replicas are gone."""
        if event.error == "NONE":
            self._context.strays -= {
                Replica(topic_partition, event.broker_id)
                for topic_partition in event.deleted
                if event.partition_errors.get(topic_partition, "NONE") == "NONE"
            }

    async def on_broker_startup(self, broker_ids: Collection[int]) -> None:
        """Delete the strays of brokers that came back.

        The leader epoch is raised first: a controller that has been deposed without knowing it
        fails at that write, before it can delete what another controller has put there since.
        """
        strays = sorted(r for r in self._context.strays if r.broker_id in broker_ids)
        outcome = await self._leadership.raise_epochs([r.topic_partition for r in strays])
        batch = CommandBatch(self._context, self._channels)
        for replica in strays:
            if replica.topic_partition in outcome.states:
                # Who has deleted a topic's replica already would make it anew (KAFKA-13342).
                if not self._context.is_being_deleted(replica.topic_partition):
                    replicas = self._context.assignment(replica.topic_partition).replicas
                    batch.add_leader_and_isr(replicas, replica.topic_partition)
                batch.add_stop_replica(replica, delete=True)
        batch.send()
