"""Which moves to start next: order, and the limits on what is under way.

A move weighs on the brokers that gain or lose a replica (as in Cruise Control). At most so many
moves weigh on one broker, so many run in all, and so many are submitted at once (reliability R13).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ballast.model.ids import TopicPartition
from ballast.reassign.spec import Execution, MoveOrder


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
    loads: Counter[int] = Counter()
    running = 0
    for brokers in active:
        loads.update(brokers)
        running += 1
    batch: list[TopicPartition] = []
    for candidate in ordered(candidates, execution.order):
        if running >= execution.max_concurrent_moves or len(batch) >= execution.batch_size:
            break
        if any(loads[b] >= execution.max_concurrent_moves_per_broker for b in candidate.brokers):
            continue
        loads.update(candidate.brokers)
        running += 1
        batch.append(candidate.topic_partition)
    return tuple(batch)
