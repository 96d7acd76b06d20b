"""Which moves to start next: their order, and the limits on pending moves.

A move occupies the brokers that gain or lose a replica (as in Cruise Control). There are limits on
the moves that occupy one broker, on all pending moves, and on the moves that are submitted at once
(reliability R13).
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
    """Whether one more lost replica would stop producers."""


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

    ``active`` has one entry for each pending move: the brokers that it occupies. A candidate that
    does not fit is skipped for one that does, so that a busy broker does not delay other brokers.
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
    """Return the batches that `next_batch` would submit if each waited for the end of the last.

    Every candidate is in the first batch that has room for it. For each broker, batches that it
    has already filled are not looked at again.
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
    """The moves that the limits still allow in one batch."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self._loads: Counter[int] = Counter()
        self._running = 0

    @property
    def is_full(self) -> bool:
        """Whether no move may start at all."""
        return self._running >= self.execution.max_concurrent_moves

    def has(self, brokers: Collection[int]) -> bool:
        """Whether each of these brokers may take one more move."""
        most = self.execution.max_concurrent_moves_per_broker
        return all(self._loads[broker] < most for broker in brokers)

    def take(self, brokers: Iterable[int]) -> None:
        """Count a move that occupies these brokers."""
        self._loads.update(brokers)
        self._running += 1


def _is_closed(room: _Room, batch: Sequence[TopicPartition]) -> bool:
    return room.is_full or len(batch) >= room.execution.batch_size


def _fits(room: _Room, candidate: Candidate, batch: Sequence[TopicPartition]) -> bool:
    return not _is_closed(room, batch) and room.has(candidate.brokers)
