"""The controller's view of the cluster: Kafka's ``ControllerContext``.

It is read at failover. Afterwards every procedure writes the metadata store first and then this
context; no procedure keeps state of the cluster of its own.
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
from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition, partitions_of
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment

S = TypeVar("S", PartitionState, ReplicaState)
T = TypeVar("T")

MAX_FAILURES_KEPT = 1000


class ControllerContext:
    """Live brokers, topics, assignments, leadership and states.

    The collections are public, so that procedures can iterate over thousands of partitions without
    a copy. Change ``topics``, ``assignments`` and the states through the methods only, which keep
    the invariants. They hold between two events; `check_invariants` asserts those marked (*).
    """

    def __init__(self, *, controller_id: int, controller_epoch: int) -> None:
        self.controller_id = controller_id
        self.controller_epoch = controller_epoch
        self.brokers: dict[int, RegisteredBroker] = {}
        """The registered brokers, including those shutting down.

        Invariant: each has a channel (`BrokerChannels.add_broker`)."""
        self.shutting_down: set[int] = set()
        """Brokers in controlled shutdown, until they register again.

        Invariant (*): all are in ``brokers``."""
        self.topics: dict[str, TopicAssignment] = {}
        """The topics as they are stored, also those to be deleted."""
        self.assignments: dict[TopicPartition, ReplicaAssignment] = {}
        """RS, AR and RR of each partition; an index over ``topics``.

        Invariant (*): it has exactly the partitions of ``topics``. During phase B of a reassignment
        it holds the target replicas before they are stored."""
        self.leadership: dict[TopicPartition, LeaderAndIsr] = {}
        """LeaderAndIsr as last read or written; leaders may have changed the ISR since.

        Invariant (*): all are in ``assignments``."""
        self.partition_states: dict[TopicPartition, PartitionState] = {}
        """States; a missing partition is NonExistent.

        Invariants (*): all are in ``assignments``; an Online partition has leadership, a New one
        has none."""
        self.replica_states: dict[int, dict[TopicPartition, ReplicaState]] = {}
        """States by broker, then by partition; a missing replica is NonExistent.

        Invariant: after failover a state changes only as the table in `states` allows."""
        self.offline_dir_replicas: set[Replica] = set()
        """Replicas in failed log directories: their broker answered KAFKA_STORAGE_ERROR.

        Invariant: their brokers are in ``brokers``."""
        self.strays: set[Replica] = set()
        """Replicas removed from an assignment whose broker has not confirmed the deletion.

        Invariant: none is in the assignment of its partition."""
        self.queued_for_deletion: set[str] = set()
        """Topics to be deleted. Invariant (*): all are in ``topics``."""
        self.deletion_started: set[str] = set()
        """Queued topics whose deletion is in the metadata of the brokers."""
        self.ineligible_for_deletion: set[str] = set()
        """Queued topics that wait for a broker or for a reassignment.

        Invariant (*): all are in ``queued_for_deletion``."""
        self.failures: deque[StateChangeFailed] = deque(maxlen=MAX_FAILURES_KEPT)
        """Failed transitions of partitions and replicas, oldest first; the caller takes them."""
        self._being_reassigned: set[TopicPartition] = set()
        """Invariant (*): exactly the partitions with adding or removing replicas."""
        self._partitions: dict[str, list[TopicPartition]] = {}
        """Each topic's partitions in order, since they are needed often."""

    # Brokers

    @property
    def live_brokers(self) -> frozenset[int]:
        """Ids of the brokers that may lead: registered and not shutting down."""
        return frozenset(self.brokers) - self.shutting_down

    @property
    def live_or_shutting_down(self) -> list[int]:
        """Ids of the brokers that get control requests, in order."""
        return sorted(self.brokers)

    def add_broker(self, broker: RegisteredBroker) -> None:
        """Put a registration, new or changed."""
        self.brokers[broker.broker_id] = broker

    def remove_broker(self, broker_id: int) -> None:
        """Remove a broker that is no longer registered."""
        del self.brokers[broker_id]
        self.shutting_down.discard(broker_id)
        self.offline_dir_replicas = {
            replica for replica in self.offline_dir_replicas if replica.broker_id != broker_id
        }

    def is_online(self, topic_partition: TopicPartition, broker_id: int) -> bool:
        """Whether the broker is live, is not shutting down, and has the replica's directory."""
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
        """Return the partition's replicas that could lead it."""
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
        """Put a topic as it is stored."""
        name = topic.topic
        known = self.topics.get(name)
        self.topics[name] = topic
        numbers = sorted(topic.partitions)
        if known is None or known.partitions.keys() != topic.partitions.keys():
            self._partitions[name] = partitions_of(name, numbers)
        assignments = map(topic.partitions.__getitem__, numbers)
        self._put_assignments(dict(zip(self._partitions[name], assignments, strict=True)))

    def topic_with(self, topic: str, changes: Mapping[int, ReplicaAssignment]) -> TopicAssignment:
        """Return the topic as it would be after ``changes``; the context stays as it is."""
        known = self.topics[topic]
        return replace(known, partitions={**known.partitions, **changes})

    def has_partition(self, topic_partition: TopicPartition) -> bool:
        """Whether the partition has an assignment."""
        return topic_partition in self.assignments

    def assignment(self, topic_partition: TopicPartition) -> ReplicaAssignment:
        """Return RS, AR and RR of a known partition."""
        return self.assignments[topic_partition]

    def set_assignments(self, changes: Mapping[TopicPartition, ReplicaAssignment]) -> None:
        """Set new assignments of existing partitions."""
        for topic, assignments in by_topic(changes).items():
            self.topics[topic] = self.topic_with(topic, assignments)
        self._put_assignments(changes)

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
        """Return, by broker, the partitions with a replica there, in their order."""
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
        return next((t.topic for t in self.topics.values() if t.topic_id == topic_id), None)

    def topic_ids(self, topics: Iterable[str]) -> Mapping[str, UUID]:
        """Return the ids of those of the topics that have one, in order."""
        known = {topic: self.topics[topic].topic_id for topic in sorted(set(topics))}
        return {topic: topic_id for topic, topic_id in known.items() if topic_id is not None}

    def forget_topic(self, topic: str) -> None:
        """Remove a topic that is deleted, with everything that belongs to it."""
        self.topics.pop(topic, None)
        self._partitions.pop(topic, None)
        self.queued_for_deletion.discard(topic)
        self.deletion_started.discard(topic)
        self.ineligible_for_deletion.discard(topic)
        self._being_reassigned = {tp for tp in self._being_reassigned if tp.topic != topic}
        collections: list[dict[TopicPartition, Any]]
        collections = [self.assignments, self.leadership, self.partition_states]
        for by_partition in (*collections, *self.replica_states.values()):
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
        """Return the states of a broker's replicas; a missing one is NonExistent."""
        return self.replica_states.get(broker_id, {})

    def set_partition_state(self, topic_partition: TopicPartition, state: PartitionState) -> None:
        """Set a partition's state."""
        self.set_partition_states((topic_partition,), state)

    def set_partition_states(
        self, partitions: Iterable[TopicPartition], state: PartitionState
    ) -> None:
        _set_all(self.partition_states, partitions, state, PartitionState.NON_EXISTENT)

    def set_replica_state(self, replica: Replica, state: ReplicaState) -> None:
        """Set a replica's state."""
        self.set_states_on(replica.broker_id, (replica.topic_partition,), state)

    def set_replica_states(self, replicas: Iterable[Replica], state: ReplicaState) -> None:
        for broker_id, partitions in by_broker(replicas).items():
            self.set_states_on(broker_id, partitions, state)

    def set_states_on(
        self, broker_id: int, partitions: Iterable[TopicPartition], state: ReplicaState
    ) -> None:
        """Set the state of one broker's replicas of partitions."""
        on_broker = self.replica_states.setdefault(broker_id, {})
        _set_all(on_broker, partitions, state, ReplicaState.NON_EXISTENT)

    def is_queued_for_deletion(self, topic_partition: TopicPartition) -> bool:
        """Whether the partition's topic is to be deleted, now or when it becomes eligible."""
        return topic_partition.topic in self.queued_for_deletion

    @property
    def being_deleted(self) -> set[str]:
        """Topics that are to be deleted and have no pending reassignment.

        While a topic is being reassigned, its partitions need leaders as any others do: the
        reassignment would not complete without them, and the deletion waits for it.
        """
        if not self.queued_for_deletion:
            return set()
        return self.queued_for_deletion - {tp.topic for tp in self._being_reassigned}

    def is_being_deleted(self, topic_partition: TopicPartition) -> bool:
        """Whether the partition's topic is among those `being_deleted`."""
        topic = topic_partition.topic
        return topic in self.queued_for_deletion and topic in self.being_deleted

    def check_invariants(self) -> None:
        """Assert the invariants marked (*) in `__init__`."""
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

    def _put_assignments(self, assignments: Mapping[TopicPartition, ReplicaAssignment]) -> None:
        self.assignments.update(assignments)
        if self._being_reassigned:
            self._being_reassigned.difference_update(assignments)
        self._being_reassigned |= _moving(assignments)


def _moving(assignments: Mapping[TopicPartition, ReplicaAssignment]) -> set[TopicPartition]:
    return {tp for tp, it in assignments.items() if it.adding_replicas or it.removing_replicas}


def _assert_within(some: Collection[T], known: Mapping[T, object]) -> None:
    """Assert that all of ``some`` are in ``known``.

    After a failover both hold the same objects in the same order, possibly 100,000 of them: a
    comparison by identity takes much less time than a look-up of each.
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
    """Set the state of partitions; those in the state ``absent`` are not stored."""
    if state is not absent:
        states.update(dict.fromkeys(partitions, state))
        return
    for topic_partition in partitions:
        states.pop(topic_partition, None)
