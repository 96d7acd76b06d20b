"""Brokers that come, go, come back under a new epoch, or change their address."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ballast.controller.brokers.strays import Strays
from ballast.controller.machines.control_request_batch import CommandBatch
from ballast.controller.machines.partition_states import PartitionStateMachine
from ballast.controller.machines.replica_states import ReplicaStateMachine
from ballast.controller.machines.topic_deletion import TopicDeletion
from ballast.controller.reassignment.reassignment import Reassignment
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.events import LeaderAndIsrAnswered
from ballast.controller.state.ports import BrokerChannels, MetadataStore
from ballast.controller.state.states import PartitionState, Replica, ReplicaState
from ballast.model.brokers import Broker, Endpoint
from ballast.model.ids import NO_LEADER, TopicPartition

_HOSTED = frozenset({"NONE", "STALE_CONTROLLER_EPOCH"})
"""What a broker answers that has the replica."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerDifference:
    """What changed between the brokers known and the brokers registered, ids in order."""

    gone: Sequence[int]
    """Dead, or bounced: registered under a new epoch or at another address."""
    come: Sequence[int]
    """New, or bounced."""
    changed: Sequence[int]
    """Neither, but something else of the registration is different, such as the rack."""


def compare_brokers(
    known: Mapping[int, Broker], registered: Mapping[int, Broker]
) -> BrokerDifference:
    """Return what changed."""
    staying = known.keys() & registered.keys()
    bounced = {b for b in staying if _identity(known[b]) != _identity(registered[b])}
    return BrokerDifference(
        gone=sorted((known.keys() - registered.keys()) | bounced),
        come=sorted((registered.keys() - known.keys()) | bounced),
        changed=sorted(b for b in staying - bounced if known[b] != registered[b]),
    )


def _identity(broker: Broker) -> tuple[int, tuple[Endpoint, ...]]:
    return broker.broker_epoch, broker.endpoints


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerProcedures:
    """What the coming and going of brokers sets going."""

    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine
    deletion: TopicDeletion
    reassignment: Reassignment
    strays: Strays


class BrokerLifecycle:
    """Kafka's ``onBrokerStartup``, ``onBrokerFailure`` and ``onBrokerUpdate``."""

    def __init__(
        self,
        context: ControllerContext,
        store: MetadataStore,
        channels: BrokerChannels,
        procedures: BrokerProcedures,
    ) -> None:
        self._context = context
        self._store = store
        self._channels = channels
        self._partitions = procedures.partitions
        self._replicas = procedures.replicas
        self._deletion = procedures.deletion
        self._reassignment = procedures.reassignment
        self._strays = procedures.strays

    async def on_broker_change(self) -> None:
        """Compare the registrations with what is known; first failures, then startups.

        All brokers of one change go through each step together, so that the leaders of a lost
        rack move in one pass.
        """
        registered = {broker.broker_id: broker for broker in await self._store.read_brokers()}
        difference = compare_brokers(self._context.brokers, registered)
        for broker_id in difference.gone:
            self._channels.remove_broker(broker_id)
            self._context.remove_broker(broker_id)
        if difference.gone:
            await self._on_replicas_lost(self._context.replicas_on(difference.gone))
        for broker_id in difference.come:
            self._channels.add_broker(registered[broker_id])
        for broker_id in sorted(registered):
            self._context.add_broker(registered[broker_id])
        if difference.come:
            await self._on_broker_startup(difference.come)
        if difference.changed:
            self._tell_who_lives(self._context.live_or_shutting_down)
        if difference.gone or difference.come:
            await self._reassignment.complete_where_possible(self._context.being_reassigned)

    def introduce_all(self) -> None:
        """Open the channels at failover and tell every broker who lives."""
        for broker_id in self._context.live_or_shutting_down:
            self._channels.add_broker(self._context.brokers[broker_id])
        self._tell_who_lives(self._context.live_or_shutting_down)

    async def on_leader_and_isr_answered(self, event: LeaderAndIsrAnswered) -> None:
        """Learn from KAFKA_STORAGE_ERROR that a broker has lost the disk of a replica.

        A lost one that has taken its role is there again. Whether it took it from this command, or
        from the same one whose answer got lost and which it now calls stale, is all the same.
        """
        lost_before = self._context.offline_dir_replicas
        if event.error != "NONE" or event.broker_id not in self._context.brokers:
            return
        if not lost_before and "KAFKA_STORAGE_ERROR" not in event.partition_errors.values():
            return
        answered = {
            Replica(tp, event.broker_id): error
            for tp, error in sorted(event.partition_errors.items())
            if self._context.replica_state(Replica(tp, event.broker_id))
            is not ReplicaState.NON_EXISTENT
        }
        lost = [r for r, e in answered.items() if e == "KAFKA_STORAGE_ERROR"]
        lost = [replica for replica in lost if replica not in lost_before]
        found = [r for r, e in answered.items() if e in _HOSTED and r in lost_before]
        if lost:
            lost_before.update(lost)
            await self._on_replicas_lost(lost)
        if found:
            lost_before.difference_update(found)
            await self._on_replicas_back(found)
            await self._deletion.release(replica.topic_partition for replica in found)

    async def _on_replicas_lost(self, replicas: Collection[Replica]) -> None:
        """Elect new leaders, then take the lost replicas out of the ISR."""
        deleted = self._context.being_deleted
        doomed = [r for r in replicas if r.topic_partition.topic in deleted]
        leaderless = self._partitions_without_live_leader()
        self._partitions.change(leaderless, PartitionState.OFFLINE)
        elected = await self._partitions.elect_missing_leaders()
        lost = sorted({*replicas} - {*doomed}) if doomed else replicas
        await self._replicas.take_offline(lost, just_elected=elected)
        if doomed:
            await self._deletion.fail(doomed)
        if not leaderless:
            self._tell_who_lives(self._context.live_or_shutting_down)

    async def _on_broker_startup(self, broker_ids: Collection[int]) -> None:
        """Tell the newcomers everything, elect where they can help, resume what waited for them."""
        others = sorted({*self._context.live_or_shutting_down} - {*broker_ids})
        self._tell_who_lives(others)
        self._tell_all(broker_ids)
        await self._on_replicas_back(self._startable(broker_ids))
        await self._strays.on_broker_startup(broker_ids)
        await self._reassignment.on_partition_reassignment(
            {
                tp: self._context.assignment(tp)
                for tp in self._context.being_reassigned
                if {*self._context.assignment(tp).target_replicas} & {*broker_ids}
            }
        )
        replicas = self._context.replicas_on(broker_ids)
        await self._deletion.release(replica.topic_partition for replica in replicas)

    async def _on_replicas_back(self, replicas: Collection[Replica]) -> None:
        self._replicas.bring_online(replicas)
        await self._partitions.elect_missing_leaders()

    def _startable(self, broker_ids: Collection[int]) -> list[Replica]:
        """Return the brokers' replicas but those already deleted with the rest of their topic."""
        gone = (ReplicaState.NON_EXISTENT, ReplicaState.DELETION_SUCCESSFUL)
        replicas = self._context.replicas_on(broker_ids)
        return [r for r in replicas if self._context.replica_state(r) not in gone]

    def _partitions_without_live_leader(self) -> list[TopicPartition]:
        leadership, deleted = self._context.leadership, self._context.being_deleted
        return sorted(
            topic_partition
            for topic_partition in self._context.led_by_none_online()
            if leadership[topic_partition].leader != NO_LEADER
            and topic_partition.topic not in deleted
        )

    def _tell_who_lives(self, broker_ids: Collection[int]) -> None:
        batch = CommandBatch(self._context, self._channels)
        batch.add_update_metadata(broker_ids)
        batch.send()

    def _tell_all(self, broker_ids: Collection[int]) -> None:
        """Tell brokers how every partition is led, before anything else (KAFKA-4443)."""
        batch = CommandBatch(self._context, self._channels)
        batch.add_update_metadata(broker_ids, self._context.leadership)
        batch.send()
