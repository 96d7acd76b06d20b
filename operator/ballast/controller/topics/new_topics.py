"""Checks of a topic to be created, and the placement of its replicas."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from ballast.controller.errors import RequestRefused
from ballast.controller.state.options import ControllerOptions
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import RegisteredBroker
from ballast.model.placement import place_replicas
from ballast.model.topics import InvalidTopicName, TopicAssignment, check_topic_name


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    """One topic to be created."""

    topic: str
    topic_id: UUID
    """Drawn by the caller: this package uses no randomness."""
    num_partitions: int = -1
    """-1 = the cluster's default, and with ``assignment``."""
    replication_factor: int = -1
    """-1 = the cluster's default, and with ``assignment``."""
    assignment: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Replicas by partition when the client places them itself; else empty."""
    config: Mapping[str, str] = field(default_factory=dict)
    """Overrides; the caller has checked their names and values."""
    start_index: int = 0
    """Where placement begins, any number >= 0: random in production."""
    shift: int = 0
    """Distance between leader and first follower, any number >= 0: random in production."""


def plan_topic(
    new_topic: NewTopic,
    *,
    existing: Collection[str],
    brokers: Sequence[RegisteredBroker],
    options: ControllerOptions,
) -> TopicAssignment:
    """Return the topic to be stored. Raises `RequestRefused` with Kafka's errors."""
    _check_name(new_topic.topic, existing)
    if new_topic.assignment:
        replicas = _check_assignment(new_topic, brokers)
    else:
        replicas = _place(new_topic, brokers, options)
    return TopicAssignment(
        topic=new_topic.topic,
        topic_id=new_topic.topic_id,
        partitions={number: ReplicaAssignment.of(*replicas[number]) for number in sorted(replicas)},
    )


def _check_name(topic: str, existing: Collection[str]) -> None:
    if topic in existing:
        raise RequestRefused("TOPIC_ALREADY_EXISTS", f"Topic '{topic}' already exists.")
    try:
        check_topic_name(topic)
    except InvalidTopicName as error:
        raise RequestRefused("INVALID_TOPIC_EXCEPTION", str(error)) from error
    # Dots become underscores in metric names, so Kafka allows only one of a.b and a_b.
    colliding = sorted(t for t in existing if t.replace(".", "_") == topic.replace(".", "_"))
    if colliding:
        raise RequestRefused(
            "INVALID_TOPIC_EXCEPTION",
            f"Topic '{topic}' collides with existing topics: {', '.join(colliding)}",
        )


def _check_assignment(
    new_topic: NewTopic, brokers: Sequence[RegisteredBroker]
) -> Mapping[int, tuple[int, ...]]:
    assignment = new_topic.assignment
    if (new_topic.num_partitions, new_topic.replication_factor) != (-1, -1):
        raise RequestRefused(
            "INVALID_REQUEST",
            "Both numPartitions or replicationFactor and replicasAssignments were set. "
            "Both cannot be used at the same time.",
        )
    if sorted(assignment) != list(range(len(assignment))):
        raise _invalid_assignment(
            "Partitions should be a consecutive 0-based integer sequence: "
            f"{', '.join(map(str, sorted(assignment)))}"
        )
    known = {broker.broker_id for broker in brokers}
    for number, replicas in sorted(assignment.items()):
        if not replicas or len(set(replicas)) < len(replicas):
            raise _invalid_assignment(
                f"Duplicate or no replicas in the assignment of partition {number}: {[*replicas]}"
            )
        if len(replicas) != len(assignment[0]):
            raise _invalid_assignment("All partitions should have the same number of replicas.")
        unknown = sorted(set(replicas) - known)
        if unknown:
            raise _invalid_assignment(f"Unknown broker(s) in replica assignment: {unknown}.")
    return assignment


def _place(
    new_topic: NewTopic, brokers: Sequence[RegisteredBroker], options: ControllerOptions
) -> Mapping[int, tuple[int, ...]]:
    partitions = _or_default(new_topic.num_partitions, options.config.num_partitions)
    factor = _or_default(new_topic.replication_factor, options.config.default_replication_factor)
    if partitions <= 0:
        raise RequestRefused("INVALID_PARTITIONS", "Number of partitions must be larger than 0.")
    if factor <= 0:
        raise RequestRefused(
            "INVALID_REPLICATION_FACTOR", "Replication factor must be larger than 0."
        )
    if factor > len(brokers):
        raise RequestRefused(
            "INVALID_REPLICATION_FACTOR",
            f"Replication factor: {factor} larger than available brokers: {len(brokers)}.",
        )
    return place_replicas(
        open_to_replicas(brokers, factor, options),
        partitions,
        factor,
        start_index=new_topic.start_index,
        shift=new_topic.shift,
    )


def open_to_replicas(
    brokers: Sequence[RegisteredBroker], replication_factor: int, options: ControllerOptions
) -> Sequence[RegisteredBroker]:
    """Return the brokers that are not cordoned, and as many cordoned ones as are needed."""
    cordoned = [broker for broker in brokers if options.is_cordoned(broker.broker_id)]
    cordoned.sort(key=lambda broker: broker.broker_id)
    needed = max(0, replication_factor - (len(brokers) - len(cordoned)))
    left_out = cordoned[needed:]
    return [broker for broker in brokers if broker not in left_out]


def _or_default(value: int, default: int) -> int:
    return default if value == -1 else value


def _invalid_assignment(message: str) -> RequestRefused:
    return RequestRefused("INVALID_REPLICA_ASSIGNMENT", message)
