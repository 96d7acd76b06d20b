"""Removed replicas whose broker has not confirmed that their data is gone.

A reassignment does not wait for the response to StopReplica (B5): the broker may never return. If
it does, StopReplica is sent again (KAFKA-13972, KAFKA-13198). The list is in memory only: replicas
that an earlier controller removed are found by the broker, which compares its logs with the
replicas in UpdateMetadata.
"""

from collections.abc import Collection

from ballast.controller.machines.components import Components
from ballast.controller.machines.control_request_batch import ControlRequestBatch
from ballast.controller.state.events import StopReplicaAnswered
from ballast.controller.state.states import Replica


class Strays:
    """Deletes replicas that were removed while their broker was not reachable."""

    def __init__(self, components: Components) -> None:
        self._context = components.context
        self._channels = components.channels
        self._leader_and_isr = components.leader_and_isr

    def on_stop_replica_answered(self, event: StopReplicaAnswered) -> None:
        """Forget the removed replicas that the broker has deleted."""
        if event.error == "NONE":
            self._context.strays -= {
                Replica(topic_partition, event.broker_id)
                for topic_partition in event.deleted
                if event.partition_errors.get(topic_partition, "NONE") == "NONE"
            }

    async def on_broker_startup(self, broker_ids: Collection[int]) -> None:
        """Delete the strays of brokers that came back.

        The leader epoch is raised first: a controller that was deposed without noticing fails at
        that write, before it can delete a replica that a later controller has created.
        """
        strays = sorted(r for r in self._context.strays if r.broker_id in broker_ids)
        outcome = await self._leader_and_isr.raise_epochs([r.topic_partition for r in strays])
        batch = ControlRequestBatch(self._context, self._channels)
        for replica in strays:
            if replica.topic_partition in outcome.states:
                # A broker that has already deleted the replica would create it again (KAFKA-13342).
                if not self._context.is_being_deleted(replica.topic_partition):
                    replicas = self._context.assignment(replica.topic_partition).replicas
                    batch.add_leader_and_isr(replicas, replica.topic_partition)
                batch.add_stop_replica(replica, delete=True)
        batch.send()
