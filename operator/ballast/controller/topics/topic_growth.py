"""Checks of new partitions for a topic, and the placement of their replicas.

Rules (Kafka 2.8 ``ZkAdminManager.createPartitions``, ``AdminZkClient.addPartitions``): a topic that
is being deleted or reassigned does not grow; the number of partitions never decreases; new
partitions have as many replicas as partition 0, and continue its round robin over the brokers
unless the client places them.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ballast.controller.errors import RequestRefused
from ballast.controller.state.options import ControllerOptions
from ballast.controller.topics.new_topics import open_to_replicas
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import RegisteredBroker
from ballast.model.placement import place_replicas
from ballast.model.topics import TopicAssignment


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicGrowth:
    """More partitions for one topic."""

    topic: str
    count: int
    """The total number of partitions to reach."""
    assignments: tuple[tuple[int, ...], ...] | None = None
    """The new partitions' replicas, in order, when the client places them itself."""


def plan_growth(
    growth: TopicGrowth,
    known: TopicAssignment | None,
    *,
    queued_for_deletion: bool,
    brokers: Sequence[RegisteredBroker],
    options: ControllerOptions,
) -> dict[int, ReplicaAssignment]:
    """Return the new partitions. Raises `RequestRefused` with Kafka's errors."""
    if queued_for_deletion:
        raise RequestRefused("INVALID_TOPIC_EXCEPTION", "The topic is queued for deletion.")
    if known is None or not known.partitions:
        raise RequestRefused(
            "UNKNOWN_TOPIC_OR_PARTITION", f"The topic '{growth.topic}' does not exist."
        )
    if any(assignment.is_being_reassigned for assignment in known.partitions.values()):
        raise RequestRefused(
            "REASSIGNMENT_IN_PROGRESS",
            f"A partition reassignment is in progress for the topic '{growth.topic}'.",
        )
    first = max(known.partitions) + 1
    if growth.count < first:
        raise RequestRefused(
            "INVALID_PARTITIONS",
            f"Topic currently has {first} partitions, which is higher than the requested "
            f"{growth.count}.",
        )
    if growth.count == first:
        raise RequestRefused("INVALID_PARTITIONS", f"Topic already has {first} partitions.")
    example = known.partitions[min(known.partitions)].replicas
    if growth.assignments is None:
        replicas = _place(first, growth.count - first, example, brokers, options)
    else:
        replicas = _check(first, growth.count - first, growth.assignments, example, brokers)
    return {number: ReplicaAssignment.of(*replicas[number]) for number in sorted(replicas)}


def _place(
    first: int,
    added: int,
    example: Sequence[int],
    brokers: Sequence[RegisteredBroker],
    options: ControllerOptions,
) -> Mapping[int, tuple[int, ...]]:
    factor = len(example)
    if factor > len(brokers):
        raise RequestRefused(
            "INVALID_REPLICATION_FACTOR",
            f"Replication factor: {factor} larger than available brokers: {len(brokers)}.",
        )
    usable = sorted(open_to_replicas(brokers, factor, options), key=lambda b: b.broker_id)
    # Start where partition 0 starts, so that the placement is as if all were created at once.
    start = bisect_left(usable, example[0], key=lambda b: b.broker_id) % len(usable)
    return place_replicas(
        usable, added, factor, start_index=start, shift=start, first_partition=first
    )


def _check(
    first: int,
    added: int,
    assignments: Sequence[tuple[int, ...]],
    example: Sequence[int],
    brokers: Sequence[RegisteredBroker],
) -> Mapping[int, tuple[int, ...]]:
    unknown = sorted({b for replicas in assignments for b in replicas} - _ids(brokers))
    if unknown:
        raise _invalid(f"Unknown broker(s) in replica assignment: {', '.join(map(str, unknown))}.")
    if len(assignments) != added:
        raise _invalid(
            f"Increasing the number of partitions by {added} but {len(assignments)} assignments "
            "provided."
        )
    for number, replicas in enumerate(assignments, first):
        if not replicas:
            raise _invalid(f"Cannot have replication factor of 0 for partition id {number}.")
        if len(set(replicas)) < len(replicas):
            raise _invalid(
                "Duplicate brokers not allowed in replica assignment: "
                f"{', '.join(map(str, replicas))} for partition id {number}."
            )
        if len(replicas) != len(example):
            raise _invalid(
                "Inconsistent replication factor between partitions, partition 0 has "
                f"{len(example)} while partition {number} has {len(replicas)}."
            )
    return dict(enumerate(assignments, first))


def _ids(brokers: Sequence[RegisteredBroker]) -> set[int]:
    return {broker.broker_id for broker in brokers}


def _invalid(message: str) -> RequestRefused:
    return RequestRefused("INVALID_REPLICA_ASSIGNMENT", message)
