"""Collects control requests per broker and queues them in the order that brokers rely on.

Within one batch each broker gets LeaderAndIsr, then UpdateMetadata, then StopReplica, each at most
once. LeaderAndIsr and UpdateMetadata are built from the context when the batch is sent; the epoch
of StopReplica is that of the moment it was added (Kafka: ``ControllerBrokerRequestBatch``).
"""

from collections.abc import Collection, Iterable

from ballast.controller.state.context import ControllerContext
from ballast.controller.state.control_requests import (
    LeaderAndIsrControlRequest,
    LeaderAndIsrEntry,
    MetadataEntry,
    StopReplicaControlRequest,
    StopReplicaEntry,
    UpdateMetadataControlRequest,
)
from ballast.controller.state.ports import BrokerChannels
from ballast.controller.state.states import Replica
from ballast.model.ids import (
    EPOCH_DURING_DELETE,
    LEADER_DURING_DELETE,
    NO_EPOCH,
    TopicPartition,
)


class ControlRequestBatch:
    """One batch of control requests, to be filled, sent once, and dropped."""

    def __init__(self, context: ControllerContext, channels: BrokerChannels) -> None:
        self._context = context
        self._channels = channels
        self._leader_and_isr: dict[int, dict[TopicPartition, bool]] = {}
        self._metadata_brokers: set[int] = set()
        self._to_all = False
        """Whether UpdateMetadata goes to every broker that is registered when the batch is sent."""
        self._metadata_partitions: dict[TopicPartition, object] = {}
        """Partitions of UpdateMetadata. A dict, since they are mostly added in sorted order."""
        self._stop_replica: dict[int, dict[TopicPartition, StopReplicaEntry]] = {}

    def add_leader_and_isr(
        self, broker_ids: Iterable[int], topic_partition: TopicPartition, *, is_new: bool = False
    ) -> None:
        """Add LeaderAndIsr of a partition for some brokers, and UpdateMetadata for every broker."""
        for broker_id in broker_ids:
            entries = self._leader_and_isr.get(broker_id)
            if entries is None:
                entries = self._leader_and_isr[broker_id] = {}
            entries[topic_partition] = is_new or entries.get(topic_partition, False)
        self._to_all = True
        self._metadata_partitions[topic_partition] = None

    def add_partitions_of(self, broker_id: int, partitions: Collection[TopicPartition]) -> None:
        """Add LeaderAndIsr of partitions for one broker, and UpdateMetadata for every broker."""
        if not partitions:
            return
        added = dict.fromkeys(partitions, False)
        earlier = self._leader_and_isr.get(broker_id)
        # A replica that was added as new stays new.
        self._leader_and_isr[broker_id] = added if earlier is None else {**added, **earlier}
        self._to_all = True
        self._metadata_partitions.update(added)

    def add_replicas_of(
        self, partitions: Collection[TopicPartition], *, but: int | None = None
    ) -> None:
        """Add LeaderAndIsr for the replicas of partitions, and UpdateMetadata for every broker.

        The replicas of the broker ``but`` are left out, and those in a failed log directory, as
        in Kafka: a broker whose directory is back registers again.
        """
        if not partitions:
            return
        self._to_all = True
        self._metadata_partitions.update(dict.fromkeys(partitions))
        lost = self._context.offline_dir_replicas
        for broker_id, hosted in self._context.partitions_by_broker(partitions).items():
            if broker_id == but:
                continue
            online = [tp for tp in hosted if Replica(tp, broker_id) not in lost] if lost else hosted
            self.add_partitions_of(broker_id, online)

    def add_update_metadata(
        self, broker_ids: Iterable[int], partitions: Iterable[TopicPartition] = ()
    ) -> None:
        """Add UpdateMetadata with the live brokers and the partitions that have leadership.

        Each broker of a batch gets all partitions of the batch.
        """
        self._metadata_brokers.update(broker_ids)
        self._metadata_partitions.update(dict.fromkeys(partitions))

    def add_stop_replica(self, replica: Replica, *, delete: bool) -> None:
        """Add StopReplica, which also deletes the data if ``delete`` is set."""
        if replica.broker_id not in self._context.brokers:
            return  # A broker that is not registered would get nothing in send() either.
        topic_partition = replica.topic_partition
        self._stop_replica.setdefault(replica.broker_id, {})[topic_partition] = StopReplicaEntry(
            topic_partition=topic_partition,
            leader_epoch=self._stop_epoch(topic_partition),
            delete=delete,
        )

    def retract_stop_replica(self, replica: Replica) -> None:
        """Remove a StopReplica that was added: the change it belongs to has failed."""
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
                sent = tuple([entries[added[tp]][tp] for tp in sorted(added)])
            else:
                sent = tuple(map(entries[flags.pop()].__getitem__, sorted(added)))
            leaders = {entry.leader_and_isr.leader for entry in sent}
            self._channels.send(
                broker_id,
                LeaderAndIsrControlRequest(
                    controller_id=context.controller_id,
                    controller_epoch=context.controller_epoch,
                    broker_epoch=context.brokers[broker_id].broker_epoch,
                    entries=sent,
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
        registered = context.live_or_shutting_down
        live_brokers = tuple(context.brokers[b] for b in registered)
        receivers = registered if self._to_all else self._registered(self._metadata_brokers)
        for broker_id in receivers:
            self._channels.send(
                broker_id,
                UpdateMetadataControlRequest(
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
                StopReplicaControlRequest(
                    controller_id=context.controller_id,
                    controller_epoch=context.controller_epoch,
                    broker_epoch=context.brokers[broker_id].broker_epoch,
                    entries=tuple(stops[topic_partition] for topic_partition in sorted(stops)),
                ),
            )

    def _entries(self, *, is_new: bool) -> dict[TopicPartition, LeaderAndIsrEntry]:
        """Return the entries of new replicas, or of the others; brokers share them."""
        assignments, leadership = self._context.assignments, self._context.leadership
        partitions: dict[TopicPartition, bool] = {}
        for broker_id in self._registered(self._leader_and_isr):
            added = self._leader_and_isr[broker_id]
            flags = set(added.values())
            if flags == {is_new}:
                partitions.update(added)
            elif is_new in flags:
                partitions.update((tp, flag) for tp, flag in added.items() if flag is is_new)
        return {
            topic_partition: LeaderAndIsrEntry(
                topic_partition=topic_partition,
                leader_and_isr=leadership[topic_partition],
                replicas=(assigned := assignments[topic_partition]).replicas,
                adding_replicas=assigned.adding_replicas,
                removing_replicas=assigned.removing_replicas,
                is_new=is_new,
            )
            for topic_partition in partitions
        }

    def _metadata_entries(self) -> tuple[MetadataEntry, ...]:
        """Return the metadata of the partitions that have leadership, in order."""
        context = self._context
        queued = context.queued_for_deletion
        leadership, assignments = context.leadership, context.assignments
        # While no log directory has failed, equal assignments have the same offline replicas.
        is_any_dir_offline = bool(context.offline_dir_replicas)
        offline: dict[tuple[int, ...], tuple[int, ...]] = {}
        entries = []
        for topic_partition in sorted(self._metadata_partitions):
            state = leadership.get(topic_partition)
            if state is None:
                continue
            if queued and topic_partition.topic in queued:
                state = state.led_by(LEADER_DURING_DELETE, state.isr)
            replicas = assignments[topic_partition].replicas
            if is_any_dir_offline or replicas not in offline:
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
