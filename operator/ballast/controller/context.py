"""What the controller knows of the cluster.

It is read whole at failover and kept true by the procedures, each of which writes the metadata
store first; none of them keeps knowledge of its own.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar
from uuid import UUID

from ballast.controller.errors import StateChangeFailed
from ballast.controller.states import PartitionState, Replica, ReplicaState
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Broker
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment

T = TypeVar("T")

MAX_FAILURES_KEPT = 1000


class ControllerContext:
    """Live brokers, topics, assignments, leadership and states.

    Invariants (`check_invariants`): leadership and partition states are of assigned partitions;
    an Online partition has leadership; a New one has none; shutting-down brokers are registered.
    """

    def __init__(self, *, controller_id: int, controller_epoch: int) -> None:
        self.controller_id = controller_id
        self.controller_epoch = controller_epoch
        self.brokers: dict[int, Broker] = {}
        """Registered brokers, those shutting down among them."""
        self.shutting_down: set[int] = set()
        self.topics: dict[str, TopicAssignment] = {}
        self.leadership: dict[TopicPartition, LeaderAndIsr] = {}
        """As last read or written; leaders may have changed the ISR since."""
        self.partition_states: dict[TopicPartition, PartitionState] = {}
        self.replica_states: dict[Replica, ReplicaState] = {}
        self.offline_dir_replicas: set[Replica] = set()
        """Replicas whose broker answered KAFKA_STORAGE_ERROR: its disk is gone, not the broker."""
        self.strays: set[Replica] = set()
        """Replicas taken out of an assignment whose broker has not said that their data is gone."""
        self.queued_for_deletion: set[str] = set()
        self.deletion_started: set[str] = set()
        self.ineligible_for_deletion: set[str] = set()
        """Queued topics that wait for a broker or for a reassignment."""
        self.failures: deque[StateChangeFailed] = deque(maxlen=MAX_FAILURES_KEPT)
        """What single partitions and replicas could not do, oldest first, until it is taken."""
        self._being_reassigned: set[TopicPartition] = set()
        self._partitions: dict[str, list[TopicPartition]] = {}
        """The names of each topic's partitions, in order: made once, for they are asked for often.
        """

    # Brokers

    @property
    def live_brokers(self) -> frozenset[int]:
        """Ids of the brokers that may lead: registered and not shutting down."""
        return frozenset(self.brokers) - self.shutting_down

    @property
    def live_or_shutting_down(self) -> list[int]:
        """Ids of the brokers that are told of changes, in order."""
        return sorted(self.brokers)

    def add_broker(self, broker: Broker) -> None:
        """Remember a registration, new or changed."""
        self.brokers[broker.broker_id] = broker

    def remove_broker(self, broker_id: int) -> None:
        """Forget a broker whose registration is gone."""
        del self.brokers[broker_id]
        self.shutting_down.discard(broker_id)
        self.offline_dir_replicas = {
            replica for replica in self.offline_dir_replicas if replica.broker_id != broker_id
        }

    def is_online(self, replica: Replica) -> bool:
        """Whether the replica's broker lives, is not shutting down, and has its disk."""
        return (
            replica.broker_id in self.brokers
            and replica.broker_id not in self.shutting_down
            and replica not in self.offline_dir_replicas
        )

    def online_replicas(self, topic_partition: TopicPartition) -> frozenset[int]:
        """Return the brokers that hold the partition and could lead it."""
        return frozenset(
            self.online_among(topic_partition, self.assignment(topic_partition).replicas)
        )

    def online_among(
        self, topic_partition: TopicPartition, replicas: Sequence[int]
    ) -> Sequence[int]:
        """Return those of a partition's replicas that could lead it, in their order."""
        brokers, stopping = self.brokers, self.shutting_down
        live = [r for r in replicas if r in brokers and r not in stopping]
        if self.offline_dir_replicas:
            live = [r for r in live if Replica(topic_partition, r) not in self.offline_dir_replicas]
        return live

    # Topics and assignments

    def put_topic(self, topic: TopicAssignment) -> None:
        """Remember a topic as it is stored."""
        name = topic.topic
        known = self.topics.get(name)
        self.topics[name] = topic
        if known is None or known.partitions.keys() != topic.partitions.keys():
            self._partitions[name] = [TopicPartition(name, n) for n in sorted(topic.partitions)]
        self._note_reassignments(name, topic.partitions)

    def topic_with(self, topic: str, changes: Mapping[int, ReplicaAssignment]) -> TopicAssignment:
        """Return the topic as it would be after ``changes``; remembers nothing."""
        known = self.topics[topic]
        return replace(known, partitions={**known.partitions, **changes})

    def has_partition(self, topic_partition: TopicPartition) -> bool:
        """Whether the partition has an assignment."""
        topic = self.topics.get(topic_partition.topic)
        return topic is not None and topic_partition.partition in topic.partitions

    def assignment(self, topic_partition: TopicPartition) -> ReplicaAssignment:
        """Return RS, AR and RR of a known partition."""
        return self.topics[topic_partition.topic].partitions[topic_partition.partition]

    def set_assignments(self, changes: Mapping[TopicPartition, ReplicaAssignment]) -> None:
        """Remember new assignments of known partitions."""
        for topic, assignments in by_topic(changes).items():
            self.topics[topic] = self.topic_with(topic, assignments)
            self._note_reassignments(topic, assignments)

    def partitions(self) -> Iterator[TopicPartition]:
        """Yield all partitions, in order."""
        for topic in sorted(self._partitions):
            yield from self._partitions[topic]

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        """Return the partitions of a topic, in order; none of an unknown one."""
        return list(self._partitions.get(topic, ()))

    def replicas_of(self, partitions: Iterable[TopicPartition]) -> list[Replica]:
        """Return all replicas of partitions, in the order of assignment."""
        return [
            Replica(topic_partition, broker_id)
            for topic_partition in partitions
            for broker_id in self.assignment(topic_partition).replicas
        ]

    def replicas_on(self, broker_ids: Collection[int]) -> list[Replica]:
        """Return all replicas on some brokers, in order."""
        return [
            Replica(topic_partition, broker_id)
            for topic_partition in self.partitions()
            for broker_id in self.assignment(topic_partition).replicas
            if broker_id in broker_ids
        ]

    @property
    def being_reassigned(self) -> list[TopicPartition]:
        """Partitions with adding or removing replicas, in order."""
        return sorted(self._being_reassigned)

    def is_being_reassigned(self, topic_partition: TopicPartition) -> bool:
        """Whether a reassignment of the partition is pending."""
        return topic_partition in self._being_reassigned

    def topic_name(self, topic_id: UUID) -> str | None:
        """Return the topic of that id."""
        return next((t.topic for t in self.topics.values() if t.topic_id == topic_id), None)

    def topic_ids(self, topics: Iterable[str]) -> Mapping[str, UUID]:
        """Return the ids of those of the topics that have one, in order."""
        known = {topic: self.topics[topic].topic_id for topic in sorted(set(topics))}
        return {topic: topic_id for topic, topic_id in known.items() if topic_id is not None}

    def forget_topic(self, topic: str) -> None:
        """Forget everything of a topic that is gone."""
        self.topics.pop(topic, None)
        self._partitions.pop(topic, None)
        self.queued_for_deletion.discard(topic)
        self.deletion_started.discard(topic)
        self.ineligible_for_deletion.discard(topic)
        self._being_reassigned = {tp for tp in self._being_reassigned if tp.topic != topic}
        for by_partition in (self.leadership, self.partition_states):
            for topic_partition in [tp for tp in by_partition if tp.topic == topic]:
                del by_partition[topic_partition]
        for replica in [r for r in self.replica_states if r.topic_partition.topic == topic]:
            del self.replica_states[replica]
        for replicas in (self.offline_dir_replicas, self.strays):
            replicas -= {r for r in replicas if r.topic_partition.topic == topic}

    # States

    def partition_state(self, topic_partition: TopicPartition) -> PartitionState:
        """Return the state of a partition, known or not."""
        return self.partition_states.get(topic_partition, PartitionState.NON_EXISTENT)

    def replica_state(self, replica: Replica) -> ReplicaState:
        """Return the state of a replica, known or not."""
        return self.replica_states.get(replica, ReplicaState.NON_EXISTENT)

    def set_partition_state(self, topic_partition: TopicPartition, state: PartitionState) -> None:
        """Remember a partition's state."""
        if state is PartitionState.NON_EXISTENT:
            self.partition_states.pop(topic_partition, None)
        else:
            self.partition_states[topic_partition] = state

    def set_replica_state(self, replica: Replica, state: ReplicaState) -> None:
        """Remember a replica's state."""
        self.set_replica_states((replica,), state)

    def set_replica_states(self, replicas: Collection[Replica], state: ReplicaState) -> None:
        """Remember the state of replicas."""
        if state is ReplicaState.NON_EXISTENT:
            for replica in replicas:
                self.replica_states.pop(replica, None)
        else:
            self.replica_states.update(dict.fromkeys(replicas, state))

    def is_queued_for_deletion(self, topic_partition: TopicPartition) -> bool:
        """Whether the partition's topic is to be deleted, now or when nothing hinders it."""
        return topic_partition.topic in self.queued_for_deletion

    def is_being_deleted(self, topic_partition: TopicPartition) -> bool:
        """Whether the topic is to be deleted and nothing of it is being moved any more.

        Until its moves have ended its partitions need leaders as any others do: a move without a
        leader never ends, and the deletion waits for it.
        """
        return self.is_queued_for_deletion(topic_partition) and not any(
            self.is_being_reassigned(partition)
            for partition in self.partitions_of(topic_partition.topic)
        )

    def check_invariants(self) -> None:
        """Assert what must hold between two events."""
        assert self.shutting_down <= set(self.brokers)
        known = set(self.partitions())
        by_state: dict[PartitionState, set[TopicPartition]] = {}
        for topic_partition, state in self.partition_states.items():
            by_state.setdefault(state, set()).add(topic_partition)
        led = self.leadership.keys()
        assert not led - known, led - known
        assert not self.partition_states.keys() - known, self.partition_states.keys() - known
        without_leadership = by_state.get(PartitionState.ONLINE, set()) - led
        assert not without_leadership, without_leadership
        led_before_time = by_state.get(PartitionState.NEW, set()) & led
        assert not led_before_time, led_before_time
        assert self.ineligible_for_deletion <= self.queued_for_deletion <= set(self.topics)
        pending = {tp for tp in known if self.assignment(tp).is_being_reassigned}
        assert self._being_reassigned == pending

    def _note_reassignments(self, topic: str, assignments: Mapping[int, ReplicaAssignment]) -> None:
        for number, assignment in assignments.items():
            if assignment.adding_replicas or assignment.removing_replicas:
                self._being_reassigned.add(TopicPartition(topic, number))
            elif self._being_reassigned:
                self._being_reassigned.discard(TopicPartition(topic, number))


def by_topic(values: Mapping[TopicPartition, T]) -> dict[str, dict[int, T]]:
    """Group values of partitions by topic, both in order."""
    grouped: dict[str, dict[int, T]] = {}
    for topic_partition in sorted(values):
        grouped.setdefault(topic_partition.topic, {})[topic_partition.partition] = values[
            topic_partition
        ]
    return grouped
