"""Handles brokers that start, fail, restart under a new epoch, or change their address."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ballast.controller.brokers.strays import Strays
from ballast.controller.machines.components import Components
from ballast.controller.machines.control_request_batch import ControlRequestBatch
from ballast.controller.reassignment.reassignment import Reassignment
from ballast.controller.state.events import LeaderAndIsrAnswered
from ballast.controller.state.states import PartitionState, Replica, ReplicaState
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import NO_LEADER, TopicPartition

_HOSTED = frozenset({"NONE", "STALE_CONTROLLER_EPOCH"})
"""Error codes by which a broker shows that it hosts the replica."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerDifference:
    """What differs between the context and the registrations; ids in order."""

    failed: Sequence[int]
    """Unregistered, or bounced: registered under a new epoch or at another address."""
    started: Sequence[int]
    """New, or bounced."""
    changed: Sequence[int]
    """Not bounced, but another field of the registration differs, such as the rack."""


def compare_brokers(
    current: Mapping[int, RegisteredBroker], registered: Mapping[int, RegisteredBroker]
) -> BrokerDifference:
    """Return what changed."""
    staying = current.keys() & registered.keys()
    bounced = {b for b in staying if _identity(current[b]) != _identity(registered[b])}
    return BrokerDifference(
        failed=sorted((current.keys() - registered.keys()) | bounced),
        started=sorted((registered.keys() - current.keys()) | bounced),
        changed=sorted(b for b in staying - bounced if current[b] != registered[b]),
    )


def _identity(broker: RegisteredBroker) -> tuple[int, tuple[Endpoint, ...]]:
    return broker.broker_epoch, broker.endpoints


class BrokerLifecycle:
    """Kafka's ``onBrokerStartup``, ``onBrokerFailure`` and ``onBrokerUpdate``."""

    def __init__(self, components: Components, reassignment: Reassignment, strays: Strays) -> None:
        self._context = components.context
        self._store = components.store
        self._channels = components.channels
        self._partitions = components.partitions
        self._replicas = components.replicas
        self._deletion = components.deletion
        self._reassignment = reassignment
        self._strays = strays

    async def on_broker_change(self) -> None:
        """Compare the registrations with the context; handle failures first, then startups.

        All brokers of one change go through each step together, so that the partitions of a
        failed rack are elected in one pass.
        """
        registered = {broker.broker_id: broker for broker in await self._store.read_brokers()}
        difference = compare_brokers(self._context.brokers, registered)
        for broker_id in difference.failed:
            self._channels.remove_broker(broker_id)
            self._context.remove_broker(broker_id)
        if difference.failed:
            await self._on_replicas_lost(self._context.replicas_on(difference.failed))
        for broker_id in difference.started:
            self._channels.add_broker(registered[broker_id])
        for broker_id in sorted(registered):
            self._context.add_broker(registered[broker_id])
        if difference.started:
            await self._on_broker_startup(difference.started)
        if difference.changed:
            self._send_live_brokers(self._context.live_or_shutting_down)
        if difference.failed or difference.started:
            await self._reassignment.complete_where_possible(self._context.being_reassigned)

    def open_channels(self) -> None:
        """At failover, open the channels and send every broker the live brokers."""
        for broker_id in self._context.live_or_shutting_down:
            self._channels.add_broker(self._context.brokers[broker_id])
        self._send_live_brokers(self._context.live_or_shutting_down)

    async def on_leader_and_isr_answered(self, event: LeaderAndIsrAnswered) -> None:
        """Take replicas offline whose broker answers KAFKA_STORAGE_ERROR; take others back online.

        A replica that was offline is back when its broker accepts a role for it: in this request,
        or in an earlier one whose response was lost, so that this one is stale to the broker.
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
        restored = [r for r, e in answered.items() if e in _HOSTED and r in lost_before]
        if lost:
            lost_before.update(lost)
            await self._on_replicas_lost(lost)
        if restored:
            lost_before.difference_update(restored)
            await self._on_replicas_back(restored)
            await self._deletion.release(replica.topic_partition for replica in restored)

    async def _on_replicas_lost(self, replicas: Collection[Replica]) -> None:
        """Elect new leaders, then take the lost replicas out of the ISR."""
        deleted = self._context.being_deleted
        in_deleted_topics = [r for r in replicas if r.topic_partition.topic in deleted]
        leaderless = self._partitions_without_live_leader()
        self._partitions.change(leaderless, PartitionState.OFFLINE)
        elected = await self._partitions.elect_missing_leaders()
        lost = sorted({*replicas} - {*in_deleted_topics}) if in_deleted_topics else replicas
        await self._replicas.take_offline(lost, just_elected=elected)
        if in_deleted_topics:
            await self._deletion.fail(in_deleted_topics)
        if not leaderless:
            self._send_live_brokers(self._context.live_or_shutting_down)

    async def _on_broker_startup(self, broker_ids: Collection[int]) -> None:
        """Send new brokers all metadata, elect leaders, resume what waited for these brokers."""
        others = sorted({*self._context.live_or_shutting_down} - {*broker_ids})
        self._send_live_brokers(others)
        self._send_all_metadata(broker_ids)
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
        """Return the brokers' replicas except those that topic deletion has already deleted."""
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

    def _send_live_brokers(self, broker_ids: Collection[int]) -> None:
        batch = ControlRequestBatch(self._context, self._channels)
        batch.add_update_metadata(broker_ids)
        batch.send()

    def _send_all_metadata(self, broker_ids: Collection[int]) -> None:
        """Send brokers the metadata of every partition, before anything else (KAFKA-4443)."""
        batch = ControlRequestBatch(self._context, self._channels)
        batch.add_update_metadata(broker_ids, self._context.leadership)
        batch.send()
