"""A controller over fakes, with a tiny model of brokers, and the promises of reassignment.

The model knows no records: a follower that was told of the leader's epoch is in sync at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from ballast.controller.controller import Controller
from ballast.controller.state.control_requests import (
    ControlRequest,
    LeaderAndIsrControlRequest,
    LeaderAndIsrEntry,
    StopReplicaControlRequest,
    UpdateMetadataControlRequest,
)
from ballast.controller.state.events import (
    BrokerChange,
    Event,
    IsrChangeNotification,
    LeaderAndIsrAnswered,
    LogDirEventNotification,
    StopReplicaAnswered,
    UpdateMetadataAnswered,
)
from ballast.controller.state.options import ControllerOptions
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import EPOCH_DURING_DELETE, TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment
from tests.fakes.broker_channels import FakeBrokerChannels
from tests.fakes.metadata_store import Effects, FakeMetadata, FakeMetadataStore

MAX_TURNS = 200


@dataclass
class CheckedMetadata(FakeMetadata):
    """Asserts R1, R2, R4 of reassignment, and C3, C5 of leadership, at every write."""

    caught_up: set[TopicPartition] = field(default_factory=set)
    """Partitions whose pending target has been within the ISR, as stored."""

    def put_topic(self, topic: TopicAssignment) -> None:
        before = self.topics.get(topic.topic)
        if before is not None:
            for number, old in before.partitions.items():
                topic_partition = TopicPartition(topic.topic, number)
                if topic_partition in self.states:
                    self._check_assignment(topic_partition, old, topic.partitions[number])
        super().put_topic(topic)
        for number in topic.partitions:
            self._note_caught_up(TopicPartition(topic.topic, number))

    def put_state(self, topic_partition: TopicPartition, state: LeaderAndIsr) -> LeaderAndIsr:
        before = self.states.get(topic_partition)
        assert state.isr, "C5: the ISR is never empty"
        assert state.leader == -1 or state.leader in state.isr, "C5: the leader is in the ISR"
        if before is not None:
            same_epoch = state.leader_epoch == before.leader_epoch
            assert same_epoch or state.leader_epoch == before.leader_epoch + 1, "C3"
            assert not same_epoch or state.leader == before.leader, "C3: one leader per epoch"
        written = super().put_state(topic_partition, state)
        self._note_caught_up(topic_partition)
        return written

    def check_deletion(self, topic_partition: TopicPartition, broker_id: int) -> None:
        """R1: a replica is deleted only when its successors are in sync, or when it was dropped."""
        assignment = self.assignment(topic_partition)
        if broker_id in assignment.replicas:
            assert broker_id in assignment.removing_replicas, f"R1: {broker_id} is to stay"
            assert topic_partition in self.caught_up, "R1: the target is not in sync"
            assert broker_id not in self.states[topic_partition].isr, "R1: it is still in the ISR"

    def _check_assignment(
        self, topic_partition: TopicPartition, old: ReplicaAssignment, new: ReplicaAssignment
    ) -> None:
        text = f"{topic_partition}: {old} -> {new}"
        if old.is_being_reassigned and not new.is_being_reassigned:
            if set(new.replicas) == set(old.target_replicas):
                state = self.states[topic_partition]
                assert topic_partition in self.caught_up, f"R1: {text}"
                assert set(state.isr) <= set(new.replicas), f"R4: ISR {state.isr}, {text}"
                assert state.leader in new.replicas, f"R4: leader {state.leader}, {text}"
            else:
                assert set(new.replicas) == set(old.origin_replicas), f"R2: {text}"
        else:
            assert set(old.origin_replicas) <= set(new.replicas), f"R2: {text}"
        if old != new:
            self.caught_up.discard(topic_partition)

    def _note_caught_up(self, topic_partition: TopicPartition) -> None:
        if topic_partition in self.states:
            target = self.assignment(topic_partition).target_replicas
            if set(target) <= set(self.states[topic_partition].isr):
                self.caught_up.add(topic_partition)


class CheckedChannels(FakeBrokerChannels):
    """Asserts at every deletion that it is allowed."""

    def __init__(self, effects: Effects, metadata: CheckedMetadata) -> None:
        super().__init__(effects)
        self._metadata = metadata

    def send(self, broker_id: int, request: ControlRequest) -> None:
        if isinstance(request, StopReplicaControlRequest):
            for entry in request.entries:
                if entry.delete and entry.leader_epoch != EPOCH_DURING_DELETE:
                    self._metadata.check_deletion(entry.topic_partition, broker_id)
        super().send(broker_id, request)


class ControllerCluster:
    """Stored metadata, model brokers, and one controller after the other."""

    def __init__(self, *, controller_epoch: int = 0, options: ControllerOptions | None = None):
        self.metadata = CheckedMetadata(controller_epoch=controller_epoch)
        self.effects = Effects()
        self.disks: set[tuple[int, TopicPartition]] = set()
        """Which broker holds data of which partition, running or not."""
        self.missing: set[tuple[int, TopicPartition]] = set()
        """What went with the disk of a broker that was given an empty one."""
        self._refused: set[tuple[int, TopicPartition]] = set()
        """What of that has been given a role in vain."""
        self.log_dir_events = 0
        """How often a broker has asked to be told its roles again."""
        self._options = options
        self._told: dict[int, dict[TopicPartition, LeaderAndIsrEntry]] = {}
        """What each running broker was told last."""
        self._czxid = 100
        self.store: FakeMetadataStore
        self.channels: CheckedChannels
        self.controller: Controller

    # What happens to the cluster

    def start_broker(self, *broker_ids: int, rack: str | None = None) -> None:
        """Register brokers under new epochs."""
        for broker_id in broker_ids:
            self._czxid += 1
            endpoint = Endpoint(host="localhost", port=9090 + broker_id)
            self.metadata.brokers[broker_id] = RegisteredBroker(
                broker_id=broker_id, endpoints=(endpoint,), rack=rack, broker_epoch=self._czxid
            )
            self._told[broker_id] = {}

    def stop_broker(self, *broker_ids: int) -> None:
        """End the sessions of brokers."""
        for broker_id in broker_ids:
            del self.metadata.brokers[broker_id]
            del self._told[broker_id]

    def add_topic(
        self,
        topic: str,
        *assignments: tuple[int, ...],
        leader_epoch: int = 0,
        isr: tuple[int, ...] | None = None,
    ) -> None:
        """Put a topic that is led by its first in-sync replicas into the store."""
        partitions = {n: ReplicaAssignment.of(*replicas) for n, replicas in enumerate(assignments)}
        self.metadata.put_topic(TopicAssignment(topic=topic, topic_id=None, partitions=partitions))
        for number, replicas in enumerate(assignments):
            in_sync = isr or replicas
            topic_partition = TopicPartition(topic, number)
            self.metadata.put_state(
                topic_partition,
                LeaderAndIsr(
                    leader=in_sync[0],
                    leader_epoch=leader_epoch,
                    isr=in_sync,
                    controller_epoch=self.metadata.controller_epoch,
                ),
            )
            self.disks |= {(broker_id, topic_partition) for broker_id in replicas}

    async def fail_over(self) -> None:
        """Elect a new controller; what the old one had queued is lost with it."""
        self.metadata.controller_epoch += 1
        epoch = self.metadata.controller_epoch
        self.store = FakeMetadataStore(self.metadata, self.effects, controller_epoch=epoch)
        self.channels = CheckedChannels(self.effects, self.metadata)
        self.controller = Controller(
            self.store,
            self.channels,
            controller_id=1,
            controller_epoch=epoch,
            options=self._options,
        )
        await self.controller.failover()

    async def handle(self, event: Event) -> None:
        """Let the controller handle an event, and look at what it knows afterwards."""
        await self.controller.handle(event)
        self.controller.context.check_invariants()

    async def brokers_changed(self) -> None:
        await self.handle(BrokerChange())

    async def isr_changed(self, topic_partition: TopicPartition, *isr: int) -> None:
        """Let a leader change its ISR and the controller hear of it."""
        self.metadata.change_isr(topic_partition, *isr)
        await self.handle(IsrChangeNotification())

    # The model of brokers

    async def settle(self) -> None:
        """Deliver requests, answers and ISR changes until nothing happens any more."""
        for _ in range(MAX_TURNS):
            events = self._deliver()
            events += self._grow_isrs()
            if self.metadata.log_dir_events:
                events.append(LogDirEventNotification())
            if not events:
                return
            for event in events:
                await self.handle(event)
        raise AssertionError("the cluster does not come to rest")

    def _deliver(self) -> list[Event]:
        return [
            self._receive(broker_id, request)
            for broker_id, requests in self.channels.take_all().items()
            for request in requests
        ]

    def _receive(self, broker_id: int, request: ControlRequest) -> Event:
        told = self._told[broker_id]
        match request:
            case LeaderAndIsrControlRequest():
                return LeaderAndIsrAnswered(
                    broker_id=broker_id,
                    error="NONE",
                    partition_errors={
                        entry.topic_partition: self._lead(broker_id, entry)
                        for entry in request.entries
                    },
                )
            case StopReplicaControlRequest():
                errors: dict[TopicPartition, str] = {}
                for entry in request.entries:
                    known = told.get(entry.topic_partition)
                    is_stale = (
                        known is not None
                        and 0 <= entry.leader_epoch < known.leader_and_isr.leader_epoch
                    )
                    errors[entry.topic_partition] = "FENCED_LEADER_EPOCH" if is_stale else "NONE"
                    if not is_stale:
                        told.pop(entry.topic_partition, None)
                    if not is_stale and entry.delete:
                        self._find(broker_id, entry.topic_partition)
                        self.disks.discard((broker_id, entry.topic_partition))
                return StopReplicaAnswered(
                    broker_id=broker_id,
                    error="NONE",
                    partition_errors=errors,
                    deleted=frozenset(e.topic_partition for e in request.entries if e.delete),
                )
            case UpdateMetadataControlRequest():
                self._ask_for_roles(broker_id, request)
                return UpdateMetadataAnswered(
                    broker_id=broker_id,
                    error="NONE",
                    partitions=[entry.topic_partition for entry in request.entries],
                )

    def _lead(self, broker_id: int, entry: LeaderAndIsrEntry) -> str:
        told = self._told[broker_id]
        known = told.get(entry.topic_partition)
        newer = entry.leader_and_isr
        if (broker_id, entry.topic_partition) in self.missing:
            if broker_id in newer.isr:
                self._refused.add((broker_id, entry.topic_partition))
                return "KAFKA_STORAGE_ERROR"
            self._find(broker_id, entry.topic_partition)
        if known is not None and known.leader_and_isr.leader_epoch >= newer.leader_epoch:
            return "STALE_CONTROLLER_EPOCH"
        told[entry.topic_partition] = entry
        self.disks.add((broker_id, entry.topic_partition))
        return "NONE"

    def _ask_for_roles(self, broker_id: int, request: UpdateMetadataControlRequest) -> None:
        """Do as a broker does that learns that it is out of the ISR of what it has lost."""
        changed = [
            entry.topic_partition
            for entry in request.entries
            if (broker_id, entry.topic_partition) in self._refused
            and broker_id not in entry.leader_and_isr.isr
        ]
        if changed:
            self._refused -= {(broker_id, topic_partition) for topic_partition in changed}
            self.log_dir_events += 1
            name = f"log_dir_event_{self.log_dir_events}"
            self.metadata.log_dir_events[name] = frozenset({broker_id})

    def _find(self, broker_id: int, topic_partition: TopicPartition) -> None:
        self.missing.discard((broker_id, topic_partition))
        self._refused.discard((broker_id, topic_partition))

    def _grow_isrs(self) -> list[Event]:
        for topic_partition, state in sorted(self.metadata.states.items()):
            followers = self._in_sync(topic_partition, state)
            joining = tuple(r for r in followers if r not in state.isr)
            if joining:
                self.metadata.change_isr(topic_partition, *state.isr, *joining)
        return [IsrChangeNotification()] if self.metadata.isr_notifications else []

    def _in_sync(self, topic_partition: TopicPartition, state: LeaderAndIsr) -> tuple[int, ...]:
        """Return the replicas that follow the leader in its epoch, as the leader sees them."""
        view = self._told.get(state.leader, {}).get(topic_partition)
        if view is None or view.leader_and_isr.leader_epoch != state.leader_epoch:
            return ()
        return tuple(
            broker_id
            for broker_id in view.replicas
            if (told := self._told.get(broker_id, {}).get(topic_partition)) is not None
            and told.leader_and_isr.leader_epoch == state.leader_epoch
        )

    def replicas(self) -> Mapping[TopicPartition, ReplicaAssignment]:
        """Return all stored assignments."""
        return {
            TopicPartition(topic, number): assignment
            for topic in sorted(self.metadata.topics)
            for number, assignment in sorted(self.metadata.topics[topic].partitions.items())
        }

    def state(self, topic_partition: TopicPartition) -> LeaderAndIsr:
        """Return a stored state, its version left out."""
        return replace(self.metadata.states[topic_partition], zk_version=0)
