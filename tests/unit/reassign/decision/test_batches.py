import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.batches import Candidate, all_batches, next_batch, ordered
from ballast.reassign.spec.spec import Execution, MoveOrder


def candidate(number: int, *brokers: int, size: int = 0, at_min_isr: bool = False) -> Candidate:
    return Candidate(
        topic_partition=TopicPartition("t", number),
        brokers=frozenset(brokers),
        size_bytes=size,
        at_min_isr=at_min_isr,
    )


def numbers(batch: tuple[TopicPartition, ...]) -> list[int]:
    return [tp.partition for tp in batch]


CANDIDATES = [
    candidate(0, 1, 2, size=30),
    candidate(1, 1, 3, size=10),
    candidate(2, 4, size=20, at_min_isr=True),
    candidate(3, 4, size=20),
]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ((), [0, 1, 2, 3]),
        ((MoveOrder.SMALLEST_FIRST,), [1, 2, 3, 0]),
        ((MoveOrder.AT_MIN_ISR_FIRST,), [2, 0, 1, 3]),
        ((MoveOrder.AT_MIN_ISR_FIRST, MoveOrder.SMALLEST_FIRST), [2, 1, 3, 0]),
    ],
)
def test_order(order: tuple[MoveOrder, ...], expected: list[int]) -> None:
    found = [c.topic_partition.partition for c in ordered(CANDIDATES, order)]
    assert found == expected


@pytest.mark.parametrize(
    ("execution", "active", "expected"),
    [
        pytest.param(Execution(order=()), [], [0, 1, 2, 3], id="all fit"),
        pytest.param(Execution(order=(), batch_size=2), [], [0, 1], id="batch size"),
        pytest.param(
            Execution(order=(), max_concurrent_moves=3), [frozenset({9})], [0, 1], id="in all"
        ),
        pytest.param(
            Execution(order=(), max_concurrent_moves_per_broker=1), [], [0, 2], id="per broker"
        ),
        pytest.param(
            Execution(order=(), max_concurrent_moves_per_broker=1),
            [frozenset({2}), frozenset({4})],
            [1],
            id="busy brokers hold only their own moves back",
        ),
        pytest.param(
            Execution(order=(), max_concurrent_moves=1), [frozenset({9})], [], id="no room"
        ),
    ],
)
def test_limits(execution: Execution, active: list[frozenset[int]], expected: list[int]) -> None:
    assert numbers(next_batch(CANDIDATES, active, execution)) == expected


BROKERS = st.frozensets(st.integers(1, 5), max_size=3)


@given(
    st.lists(BROKERS, max_size=12),
    st.lists(BROKERS, max_size=4),
    st.integers(1, 4),
    st.integers(1, 8),
)
def test_no_broker_ever_gets_more_than_its_share(
    wanted: list[frozenset[int]], active: list[frozenset[int]], per_broker: int, in_all: int
) -> None:
    execution = Execution(max_concurrent_moves_per_broker=per_broker, max_concurrent_moves=in_all)
    candidates = [candidate(i, *sorted(brokers)) for i, brokers in enumerate(wanted)]
    batch = numbers(next_batch(candidates, active, execution))
    assert not batch or len(batch) + len(active) <= in_all
    for broker in range(1, 6):
        added = sum(broker in wanted[i] for i in batch)
        assert not added or added + sum(broker in a for a in active) <= per_broker


MOVES = st.lists(
    st.builds(
        lambda brokers, size, at_min_isr: (brokers, size, at_min_isr),
        st.sets(st.integers(1, 5), max_size=3),
        st.integers(0, 5),
        st.booleans(),
    ),
    max_size=25,
)


@given(MOVES, st.integers(1, 3), st.integers(1, 6), st.integers(1, 6))
def test_batches_are_what_would_be_submitted_one_after_the_other(
    moves: list[tuple[set[int], int, bool]], per_broker: int, in_all: int, size: int
) -> None:
    execution = Execution(
        max_concurrent_moves_per_broker=per_broker, max_concurrent_moves=in_all, batch_size=size
    )
    left = {
        one.topic_partition: one
        for one in (
            candidate(number, *brokers, size=size_bytes, at_min_isr=at_min_isr)
            for number, (brokers, size_bytes, at_min_isr) in enumerate(moves)
        )
    }
    batches = all_batches(left.values(), execution)
    for batch in batches:
        assert next_batch(left.values(), (), execution) == tuple(batch)
        for name in batch:
            del left[name]
    assert left == {}
