"""Collects what each broker must be told, and queues it in the order brokers rely on.

Within one batch each broker gets LeaderAndIsr, then UpdateMetadata, then StopReplica, each at most
once. LeaderAndIsr and UpdateMetadata say what the context knows when the batch is sent; the epoch
of StopReplica is that of the moment it was added (Kafka: ``ControllerBrokerRequestBatch``).
"""

from collections.abc import Collection, Iterable

from ballast.controller.state.context import ControllerContext
from ballast.controller.state.control_requests import (
    LeaderAndIsrCommand,
    LeaderAndIsrEntry,
    MetadataEntry,
    StopReplicaCommand,
    StopReplicaEntry,
    UpdateMetadataCommand,
)
from ballast.controller.state.ports import BrokerChannels
from ballast.controller.state.states import Replica
from ballast.model.ids import (
    EPOCH_DURING_DELETE,
    LEADER_DURING_DELETE,
    NO_EPOCH,
    TopicPartition,
)


class CommandBatch:
    """One batch of commands, to be filled, sent once, and dropped."""

    def __init__(self, context: ControllerContext, channels: BrokerChannels) -> None:
        self._context = context
        self._channels = channels
        self._leader_and_isr: dict[int, dict[TopicPartition, bool]] = {}
        self._metadata_brokers: set[int] = set()
        self._tell_all = False
        """Whether every broker is told of the batch's partitions, whoever lives when it is sent."""
        self._metadata_partitions: dict[TopicPartition, object] = {}
        """Partitions that brokers are told of. No set: they mostly come in the order they go."""
        self._stop_replica: dict[int, dict[TopicPartition, StopReplicaEntry]] = {}

    def add_leader_and_isr(
        self, broker_ids: Iterable[int], topic_partition: TopicPartition, *, is_new: bool = False
    ) -> None:
        """Tell brokers to lead or follow a partition, and every broker how it is led."""
        for broker_id in broker_ids:
            entries = self._leader_and_isr.get(broker_id)
            if entries is None:
                entries = self._leader_and_isr[broker_id] = {}
            entries[topic_partition] = is_new or entries.get(topic_partition, False)
        self._tell_all = True
        self._metadata_partitions[topic_partition] = None

    def add_partitions_of(self, broker_id: int, partitions: Collection[TopicPartition]) -> None:
        """Tell one broker to lead or follow partitions, and every broker how they are led."""
        if not partitions:
            return
        told = dict.fromkeys(partitions, False)
        known = self._leader_and_isr.get(broker_id)
        # What it is told to start anew stays new.
        self._leader_and_isr[broker_id] = told if known is None else {**told, **known}
        self._tell_all = True
        self._metadata_partitions.update(told)

    def add_replicas_of(
        self, partitions: Collection[TopicPartition], *, but: int | None = None
    ) -> None:
        """Tell the replicas of partitions, but one broker's, and every broker how they are led.

        Replicas whose disk is lost are not told, as in Kafka: who has one again says so.
        """
        if not partitions:
            return
        self._tell_all = True
        self._metadata_partitions.update(dict.fromkeys(partitions))
        lost = self._context.offline_dir_replicas
        for broker_id, held in self._context.partitions_by_broker(partitions).items():
            if broker_id == but:
                continue
            there = [tp for tp in held if Replica(tp, broker_id) not in lost] if lost else held
            self.add_partitions_of(broker_id, there)

    def add_update_metadata(
        self, broker_ids: Iterable[int], partitions: Iterable[TopicPartition] = ()
    ) -> None:
        """Tell brokers who lives and how partitions are led; those without leadership are left out.

        All brokers of a batch are told of all its partitions.
        """
        self._metadata_brokers.update(broker_ids)
        self._metadata_partitions.update(dict.fromkeys(partitions))

    def add_stop_replica(self, replica: Replica, *, delete: bool) -> None:
        """Tell a broker to stop a replica, and to delete its data if asked."""
        if replica.broker_id not in self._context.brokers:
            return  # A dead broker's replicas are many, and nobody would hear it.
        topic_partition = replica.topic_partition
        self._stop_replica.setdefault(replica.broker_id, {})[topic_partition] = StopReplicaEntry(
            topic_partition=topic_partition,
            leader_epoch=self._stop_epoch(topic_partition),
            delete=delete,
        )

    def retract_stop_replica(self, replica: Replica) -> None:
        """Forget a stop that was added: the change it belongs to has failed."""
        self._stop_replica.get(replica.broker_id, {}).pop(replica.topic_partition, None)

    def send(self) -> None:
        """Queue everything; brokers that are not registered get nothing."""
        self._send_leader_and_isr()
        self._send_update_metadata()
        self._send_stop_replica()

    def _send_leader_and_isr(self) -> None:
        context = self._context
        entries = {is_new: self._entries(is_new=is_new) for is_new in (False, True)}
        for broker_id in self._registered(self._leader_and_isr):
            added = self._leader_and_isr[broker_id]
            flags = set(added.values())
            if len(flags) > 1:
                told = tuple([entries[added[tp]][tp] for tp in sorted(added)])
            else:
                told = tuple(map(entries[flags.pop()].__getitem__, sorted(added)))
            leaders = {entry.leader_and_isr.leader for entry in told}
            self._channels.send(
                broker_id,
                LeaderAndIsrCommand(
                    controller_id=context.controller_id,
                    controller_epoch=context.controller_epoch,
                    broker_epoch=context.brokers[broker_id].broker_epoch,
                    entries=told,
                    live_leaders=tuple(
                        context.brokers[leader] for leader in self._registered(leaders)
                    ),
                    topic_ids=context.topic_ids({tp.topic for tp in added}),
                ),
            )

    def _send_update_metadata(self) -> None:
        context = self._context
        entries = self._metadata_entries()
        topic_ids = context.topic_ids({entry.topic_partition.topic for entry in entries})
        live_or_dying = context.live_or_shutting_down
        live_brokers = tuple(context.brokers[b] for b in live_or_dying)
        told = live_or_dying if self._tell_all else self._registered(self._metadata_brokers)
        for broker_id in told:
            self._channels.send(
                broker_id,
                UpdateMetadataCommand(
                    controller_id=context.controller_id,
                    controller_epoch=context.controller_epoch,
                    broker_epoch=context.brokers[broker_id].broker_epoch,
                    entries=entries,
                    live_brokers=live_brokers,
                    topic_ids=topic_ids,
                ),
            )

    def _send_stop_replica(self) -> None:
        context = self._context
        for broker_id in self._registered([b for b, stops in self._stop_replica.items() if stops]):
            stops = self._stop_replica[broker_id]
            self._channels.send(
                broker_id,
                StopReplicaCommand(
                    controller_id=context.controller_id,
                    controller_epoch=context.controller_epoch,
                    broker_epoch=context.brokers[broker_id].broker_epoch,
                    entries=tuple(stops[topic_partition] for topic_partition in sorted(stops)),
                ),
            )

    def _entries(self, *, is_new: bool) -> dict[TopicPartition, LeaderAndIsrEntry]:
        """Return the entries of what is told as new, or of the rest: brokers share them."""
        assignments, leadership = self._context.assignments, self._context.leadership
        wanted: dict[TopicPartition, bool] = {}
        for broker_id in self._registered(self._leader_and_isr):
            added = self._leader_and_isr[broker_id]
            flags = set(added.values())
            if flags == {is_new}:
                wanted.update(added)
            elif is_new in flags:
                wanted.update((tp, flag) for tp, flag in added.items() if flag is is_new)
        return {
            topic_partition: LeaderAndIsrEntry(
                topic_partition=topic_partition,
                leader_and_isr=leadership[topic_partition],
                replicas=(assigned := assignments[topic_partition]).replicas,
                adding_replicas=assigned.adding_replicas,
                removing_replicas=assigned.removing_replicas,
                is_new=is_new,
            )
            for topic_partition in wanted
        }

    def _metadata_entries(self) -> tuple[MetadataEntry, ...]:
        """Return how the partitions are led that have leadership, in order."""
        context = self._context
        queued = context.queued_for_deletion
        leadership, assignments = context.leadership, context.assignments
        # Where no disk is lost, partitions on the same brokers have lost the same replicas.
        is_any_disk_lost = bool(context.offline_dir_replicas)
        offline: dict[tuple[int, ...], tuple[int, ...]] = {}
        entries = []
        for topic_partition in sorted(self._metadata_partitions):
            state = leadership.get(topic_partition)
            if state is None:
                continue
            if queued and topic_partition.topic in queued:
                state = state.led_by(LEADER_DURING_DELETE, state.isr)
            replicas = assignments[topic_partition].replicas
            if is_any_disk_lost or replicas not in offline:
                offline[replicas] = context.offline_among(topic_partition, replicas)
            entries.append(
                MetadataEntry(
                    topic_partition=topic_partition,
                    leader_and_isr=state,
                    replicas=replicas,
                    offline_replicas=offline[replicas],
                )
            )
        return tuple(entries)

    def _stop_epoch(self, topic_partition: TopicPartition) -> int:
        if self._context.is_queued_for_deletion(topic_partition):
            return EPOCH_DURING_DELETE
        leadership = self._context.leadership.get(topic_partition)
        return NO_EPOCH if leadership is None else leadership.leader_epoch

    def _registered(self, broker_ids: Collection[int]) -> list[int]:
        return sorted(broker_id for broker_id in broker_ids if broker_id in self._context.brokers)
