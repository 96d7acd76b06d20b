"""Which moves to start next: order, and the limits on what is under way.

A move weighs on the brokers that gain or lose a replica (as in Cruise Control). At most so many
moves weigh on one broker, so many run in all, and so many are submitted at once (reliability R13).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ballast.model.ids import TopicPartition
from ballast.reassign.spec.spec import Execution, MoveOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A move that could start now."""

    topic_partition: TopicPartition
    brokers: frozenset[int]
    """Brokers that gain or lose a replica."""
    size_bytes: int
    """Bytes to copy."""
    at_min_isr: bool
    """One more lost replica would stop its producers."""


_SORT_KEYS: Mapping[MoveOrder, Callable[[Candidate], int]] = {
    MoveOrder.AT_MIN_ISR_FIRST: lambda candidate: 0 if candidate.at_min_isr else 1,
    MoveOrder.SMALLEST_FIRST: lambda candidate: candidate.size_bytes,
}


def ordered(candidates: Iterable[Candidate], order: Sequence[MoveOrder]) -> list[Candidate]:
    """Return the candidates in the order to start them; ties by topic and partition."""
    return sorted(
        candidates,
        key=lambda candidate: (
            *(_SORT_KEYS[criterion](candidate) for criterion in order),
            candidate.topic_partition,
        ),
    )


def next_batch(
    candidates: Iterable[Candidate],
    active: Iterable[frozenset[int]],
    execution: Execution,
) -> tuple[TopicPartition, ...]:
    """Return the partitions to submit now.

    ``active`` has one entry for each move under way: the brokers it weighs on. A candidate that
    does not fit is passed over for one that does, so that a busy broker does not hold back others.
    """
    room = _Room(execution)
    for brokers in active:
        room.take(brokers)
    batch: list[TopicPartition] = []
    for candidate in ordered(candidates, execution.order):
        if room.is_full or len(batch) >= execution.batch_size:
            break
        if room.has(candidate.brokers):
            room.take(candidate.brokers)
            batch.append(candidate.topic_partition)
    return tuple(batch)


def all_batches(
    candidates: Iterable[Candidate], execution: Execution
) -> list[list[TopicPartition]]:
    """Return what `next_batch` submits when each batch waits for the end of the one before.

    Every candidate is in the first batch that has room for it and has none for those that come
    before it: no batch is looked at twice for one broker that has filled it.
    """
    batches: list[list[TopicPartition]] = []
    rooms: list[_Room] = []
    begin: dict[int, int] = {}
    """By broker: the first batch in which it may have room."""
    first_open = 0
    for candidate in ordered(candidates, execution.order):
        number = max([first_open, *(begin.get(broker, 0) for broker in candidate.brokers)])
        while number < len(rooms) and not _fits(rooms[number], candidate, batches[number]):
            number += 1
        if number == len(rooms):
            rooms.append(_Room(execution))
            batches.append([])
        rooms[number].take(candidate.brokers)
        batches[number].append(candidate.topic_partition)
        for broker in candidate.brokers:
            at = begin.get(broker, 0)
            while at < len(rooms) and not rooms[at].has({broker}):
                at += 1
            begin[broker] = at
        while first_open < len(rooms) and _is_closed(rooms[first_open], batches[first_open]):
            first_open += 1
    return batches


class _Room:
    """What the limits leave while moves weigh on brokers."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self._loads: Counter[int] = Counter()
        self._running = 0

    @property
    def is_full(self) -> bool:
        """Whether no move may begin at all."""
        return self._running >= self.execution.max_concurrent_moves

    def has(self, brokers: Collection[int]) -> bool:
        """Whether each of these brokers can bear one move more."""
        most = self.execution.max_concurrent_moves_per_broker
        return all(self._loads[broker] < most for broker in brokers)

    def take(self, brokers: Iterable[int]) -> None:
        """Have a move weigh on these brokers."""
        self._loads.update(brokers)
        self._running += 1


def _is_closed(room: _Room, batch: Sequence[TopicPartition]) -> bool:
    return room.is_full or len(batch) >= room.execution.batch_size


def _fits(room: _Room, candidate: Candidate, batch: Sequence[TopicPartition]) -> bool:
    return not _is_closed(room, batch) and room.has(candidate.brokers)
