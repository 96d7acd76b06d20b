"""What the controller knows of the cluster.

It is read whole at failover and kept true by the procedures, each of which writes the metadata
store first; none of them keeps knowledge of its own.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import is_
from typing import Any, TypeVar
from uuid import UUID

from ballast.controller.errors import StateChangeFailed
from ballast.controller.state.states import PartitionState, Replica, ReplicaState
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Broker
from ballast.model.ids import TopicPartition, partitions_of
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment

S = TypeVar("S", PartitionState, ReplicaState)
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
        self.assignments: dict[TopicPartition, ReplicaAssignment] = {}
        """RS, AR and RR of each partition of the topics, where one look finds them."""
        self.leadership: dict[TopicPartition, LeaderAndIsr] = {}
        """As last read or written; leaders may have changed the ISR since."""
        self.partition_states: dict[TopicPartition, PartitionState] = {}
        self.replica_states: dict[int, dict[TopicPartition, ReplicaState]] = {}
        """By broker, then by partition."""
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

    def is_online(self, topic_partition: TopicPartition, broker_id: int) -> bool:
        """Whether the replica's broker lives, is not shutting down, and has its disk."""
        if broker_id not in self.brokers or broker_id in self.shutting_down:
            return False
        return Replica(topic_partition, broker_id) not in self.offline_dir_replicas

    def online_on(
        self, broker_id: int, partitions: Sequence[TopicPartition]
    ) -> Sequence[TopicPartition]:
        """Return those of the partitions whose replica on one broker is online, in their order."""
        if broker_id not in self.live_brokers:
            return ()
        if not self.offline_dir_replicas:
            return partitions
        return [tp for tp in partitions if self.is_online(tp, broker_id)]

    def led_by_none_online(self) -> list[TopicPartition]:
        """Return the partitions with leadership that have no leader, or one that is not online."""
        live, lost = self.live_brokers, self.offline_dir_replicas
        return [
            topic_partition
            for topic_partition, state in self.leadership.items()
            if state.leader not in live or (lost and Replica(topic_partition, state.leader) in lost)
        ]

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

    def offline_among(
        self, topic_partition: TopicPartition, replicas: tuple[int, ...]
    ) -> tuple[int, ...]:
        """Return those of a partition's replicas that could not lead it, in their order."""
        online = self.online_among(topic_partition, replicas)
        if len(online) == len(replicas):
            return ()
        return tuple(r for r in replicas if r not in online)

    # Topics and assignments

    def put_topic(self, topic: TopicAssignment) -> None:
        """Remember a topic as it is stored."""
        name = topic.topic
        known = self.topics.get(name)
        self.topics[name] = topic
        numbers = sorted(topic.partitions)
        if known is None or known.partitions.keys() != topic.partitions.keys():
            self._partitions[name] = partitions_of(name, numbers)
        assignments = map(topic.partitions.__getitem__, numbers)
        self._remember(dict(zip(self._partitions[name], assignments, strict=True)))

    def topic_with(self, topic: str, changes: Mapping[int, ReplicaAssignment]) -> TopicAssignment:
        """Return the topic as it would be after ``changes``; remembers nothing."""
        known = self.topics[topic]
        return replace(known, partitions={**known.partitions, **changes})

    def has_partition(self, topic_partition: TopicPartition) -> bool:
        """Whether the partition has an assignment."""
        return topic_partition in self.assignments

    def assignment(self, topic_partition: TopicPartition) -> ReplicaAssignment:
        """Return RS, AR and RR of a known partition."""
        return self.assignments[topic_partition]

    def set_assignments(self, changes: Mapping[TopicPartition, ReplicaAssignment]) -> None:
        """Remember new assignments of known partitions."""
        for topic, assignments in by_topic(changes).items():
            self.topics[topic] = self.topic_with(topic, assignments)
        self._remember(changes)

    def partitions(self) -> Iterator[TopicPartition]:
        """Yield all partitions, in order."""
        for topic in sorted(self._partitions):
            yield from self._partitions[topic]

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        """Return the partitions of a topic, in order; none of an unknown one."""
        return list(self._partitions.get(topic, ()))

    def replicas_of(self, partitions: Iterable[TopicPartition]) -> list[Replica]:
        """Return all replicas of partitions, in the order of assignment."""
        assignments = self.assignments
        return [
            Replica(tp, broker_id) for tp in partitions for broker_id in assignments[tp].replicas
        ]

    def replicas_on(self, broker_ids: Collection[int]) -> list[Replica]:
        """Return all replicas on some brokers, in order."""
        wanted = set(broker_ids)
        assignments = self.assignments
        return [
            Replica(topic_partition, broker_id)
            for topic_partition in self.partitions()
            for broker_id in assignments[topic_partition].replicas
            if broker_id in wanted
        ]

    def partitions_by_broker(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[int, list[TopicPartition]]:
        """Return those of the partitions that each broker has a replica of, in their order."""
        held: dict[int, list[TopicPartition]] = defaultdict(list)
        assignments = self.assignments
        for topic_partition in partitions:
            for broker_id in assignments[topic_partition].replicas:
                held[broker_id].append(topic_partition)
        return held

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
        memories: list[dict[TopicPartition, Any]]
        memories = [self.assignments, self.leadership, self.partition_states]
        for by_partition in (*memories, *self.replica_states.values()):
            for topic_partition in [tp for tp in by_partition if tp.topic == topic]:
                del by_partition[topic_partition]
        for replicas in (self.offline_dir_replicas, self.strays):
            replicas -= {r for r in replicas if r.topic_partition.topic == topic}

    # States

    def partition_state(self, topic_partition: TopicPartition) -> PartitionState:
        """Return the state of a partition, known or not."""
        return self.partition_states.get(topic_partition, PartitionState.NON_EXISTENT)

    def replica_state(self, replica: Replica) -> ReplicaState:
        """Return the state of a replica, known or not."""
        states = self.states_on(replica.broker_id)
        return states.get(replica.topic_partition, ReplicaState.NON_EXISTENT)

    def states_on(self, broker_id: int) -> Mapping[TopicPartition, ReplicaState]:
        """Return the states of a broker's replicas; one that is not there does not exist."""
        return self.replica_states.get(broker_id, {})

    def set_partition_state(self, topic_partition: TopicPartition, state: PartitionState) -> None:
        """Remember a partition's state."""
        self.set_partition_states((topic_partition,), state)

    def set_partition_states(
        self, partitions: Iterable[TopicPartition], state: PartitionState
    ) -> None:
        """Remember the state of partitions."""
        _set_all(self.partition_states, partitions, state, PartitionState.NON_EXISTENT)

    def set_replica_state(self, replica: Replica, state: ReplicaState) -> None:
        """Remember a replica's state."""
        self.set_states_on(replica.broker_id, (replica.topic_partition,), state)

    def set_replica_states(self, replicas: Iterable[Replica], state: ReplicaState) -> None:
        """Remember the state of replicas."""
        for broker_id, partitions in by_broker(replicas).items():
            self.set_states_on(broker_id, partitions, state)

    def set_states_on(
        self, broker_id: int, partitions: Iterable[TopicPartition], state: ReplicaState
    ) -> None:
        """Remember the state of one broker's replicas of partitions."""
        on_broker = self.replica_states.setdefault(broker_id, {})
        _set_all(on_broker, partitions, state, ReplicaState.NON_EXISTENT)

    def is_queued_for_deletion(self, topic_partition: TopicPartition) -> bool:
        """Whether the partition's topic is to be deleted, now or when nothing hinders it."""
        return topic_partition.topic in self.queued_for_deletion

    @property
    def being_deleted(self) -> set[str]:
        """Topics that are to be deleted and of which nothing is being moved any more.

        Until its moves have ended a topic's partitions need leaders as any others do: a move
        without a leader never ends, and the deletion waits for it.
        """
        if not self.queued_for_deletion:
            return set()
        return self.queued_for_deletion - {tp.topic for tp in self._being_reassigned}

    def is_being_deleted(self, topic_partition: TopicPartition) -> bool:
        """Whether the partition's topic is among those `being_deleted`."""
        topic = topic_partition.topic
        return topic in self.queued_for_deletion and topic in self.being_deleted

    def check_invariants(self) -> None:
        """Assert what must hold between two events."""
        assert self.shutting_down <= set(self.brokers)
        known, led, states = self.assignments, self.leadership, self.partition_states
        assert sum(map(len, self._partitions.values())) == len(known)
        _assert_within([*chain.from_iterable(self._partitions.values())], known)
        _assert_within(led, known)
        others = {tp: state for tp, state in states.items() if state is not PartitionState.ONLINE}
        _assert_within(others, known)
        _assert_within([tp for tp in states if tp not in others] if others else states, led)
        new = [tp for tp, state in others.items() if state is PartitionState.NEW]
        assert not any(map(led.__contains__, new)), [tp for tp in new if tp in led]
        assert self.ineligible_for_deletion <= self.queued_for_deletion <= set(self.topics)
        assert self._being_reassigned == _moving(known)

    def _remember(self, assignments: Mapping[TopicPartition, ReplicaAssignment]) -> None:
        self.assignments.update(assignments)
        if self._being_reassigned:
            self._being_reassigned.difference_update(assignments)
        self._being_reassigned |= _moving(assignments)


def _moving(assignments: Mapping[TopicPartition, ReplicaAssignment]) -> set[TopicPartition]:
    return {tp for tp, it in assignments.items() if it.adding_replicas or it.removing_replicas}


def _assert_within(some: Collection[T], known: Mapping[T, object]) -> None:
    """Assert that all of some are known.

    After a failover they mostly are the very same, in the same order, and so many that to look each
    up takes as long as to tell a broker of them.
    """
    if len(some) != len(known) or not all(map(is_, some, known)):
        assert all(map(known.__contains__, some)), [one for one in some if one not in known]


def by_topic(values: Mapping[TopicPartition, T]) -> dict[str, dict[int, T]]:
    """Group values of partitions by topic, both in order."""
    grouped: dict[str, dict[int, T]] = {}
    for topic_partition in sorted(values):
        grouped.setdefault(topic_partition.topic, {})[topic_partition.partition] = values[
            topic_partition
        ]
    return grouped


def by_broker(replicas: Iterable[Replica]) -> dict[int, list[TopicPartition]]:
    """Group the partitions of replicas by broker; the partitions keep their order."""
    grouped: dict[int, list[TopicPartition]] = defaultdict(list)
    for replica in replicas:
        grouped[replica.broker_id].append(replica.topic_partition)
    return grouped


def _set_all(
    states: dict[TopicPartition, S], partitions: Iterable[TopicPartition], state: S, absent: S
) -> None:
    """Set the state of partitions; ``absent`` is the state of what is not kept."""
    if state is not absent:
        states.update(dict.fromkeys(partitions, state))
        return
    for topic_partition in partitions:
        states.pop(topic_partition, None)
