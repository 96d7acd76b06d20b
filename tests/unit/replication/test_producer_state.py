"""Idempotent producers: duplicates, gaps, fencing, wrap-around, expiry (ProducerStateManager)."""

from typing import NamedTuple

import pytest

from ballast.replication.producer_state import (
    ACCEPTED,
    SEQUENCE_MAX,
    AppendedBatch,
    Duplicate,
    InvalidProducerEpoch,
    OutOfOrderSequence,
    ProducerSnapshot,
    ProducerStates,
    advance_sequence,
)

EXPIRATION_MS = 1000


class Batch(NamedTuple):
    base_sequence: int
    last_offset_delta: int = 0
    producer_epoch: int = 0
    producer_id: int = 9
    max_timestamp: int = 70


def states(*batches: Batch) -> ProducerStates:
    """Return states that recorded the batches one after the other from offset 100 on."""
    producers = ProducerStates(EXPIRATION_MS)
    offset = 100
    for batch in batches:
        producers.record(batch, offset, 5000)
        offset += batch.last_offset_delta + 1
    return producers


@pytest.mark.parametrize(
    ("known", "batch"),
    [
        pytest.param([], Batch(0), id="new producer"),
        pytest.param([], Batch(77), id="unknown producer may start anywhere"),
        pytest.param([Batch(0, 4)], Batch(5), id="next"),
        pytest.param([Batch(0)], Batch(0, producer_epoch=1), id="new epoch starts at 0"),
        pytest.param([Batch(0)], Batch(0, producer_id=8), id="another producer"),
        pytest.param([Batch(SEQUENCE_MAX)], Batch(0), id="wrap"),
        pytest.param([Batch(SEQUENCE_MAX - 1, 3)], Batch(2), id="wrap inside a batch"),
    ],
)
def test_accepted(known: list[Batch], batch: Batch) -> None:
    assert states(*known).check(batch, 5000) == ACCEPTED


@pytest.mark.parametrize(
    ("known", "batch", "error"),
    [
        pytest.param([Batch(0)], Batch(2), OutOfOrderSequence, id="gap"),
        pytest.param([Batch(0, 4)], Batch(3), OutOfOrderSequence, id="overlap"),
        pytest.param([Batch(0, 4)], Batch(0, 3), OutOfOrderSequence, id="part of a batch"),
        pytest.param([Batch(0)], Batch(5, producer_epoch=1), OutOfOrderSequence, id="epoch not 0"),
        pytest.param(
            [Batch(0, producer_epoch=3)], Batch(1, producer_epoch=2), InvalidProducerEpoch, id="old"
        ),
        pytest.param([Batch(n) for n in range(6)], Batch(0), OutOfOrderSequence, id="sixth back"),
        pytest.param([Batch(SEQUENCE_MAX)], Batch(1), OutOfOrderSequence, id="gap at wrap"),
    ],
)
def test_refused(known: list[Batch], batch: Batch, error: type[Exception]) -> None:
    producers = states(*known)
    before = producers.snapshot()
    with pytest.raises(error):
        producers.check(batch, 5000)
    assert producers.snapshot() == before


def test_the_last_five_batches_are_recognized() -> None:
    producers = states(*[Batch(2 * n, 1) for n in range(6)])
    for n in range(1, 6):
        expected = Duplicate(100 + 2 * n, 101 + 2 * n, 70)
        assert producers.check(Batch(2 * n, 1), 5000) == expected


def test_a_batch_across_the_wrap_is_recognized() -> None:
    producers = states(Batch(SEQUENCE_MAX - 1, 3))
    assert producers.check(Batch(SEQUENCE_MAX - 1, 3), 5000) == Duplicate(100, 103, 70)


def test_a_new_epoch_forgets_the_batches_of_the_old() -> None:
    producers = states(Batch(0), Batch(0, producer_epoch=1))
    assert producers.check(Batch(0, producer_epoch=1), 5000) == Duplicate(101, 101, 70)
    with pytest.raises(InvalidProducerEpoch):
        producers.check(Batch(0), 5000)


def test_expiry() -> None:
    producers = states(Batch(0))
    producers.remove_expired(5000 + EXPIRATION_MS - 1)
    assert len(producers) == 1
    assert producers.check(Batch(50), 5000 + EXPIRATION_MS) == ACCEPTED
    producers.remove_expired(5000 + EXPIRATION_MS)
    assert len(producers) == 0


def test_what_was_learned_without_a_time_expires_after_the_first_look() -> None:
    restarted = ProducerStates(EXPIRATION_MS)
    restarted.load(states(Batch(0)).snapshot())
    replicated = ProducerStates(EXPIRATION_MS)
    replicated.record(Batch(0), 100)
    for producers in (restarted, replicated):
        assert producers.check(Batch(0), 10**12) == Duplicate(100, 100, 70)
        producers.remove_expired(10**12)
        producers.remove_expired(10**12 + EXPIRATION_MS - 1)
        assert len(producers) == 1
        producers.remove_expired(10**12 + EXPIRATION_MS)
        assert len(producers) == 0


def test_snapshots_keep_what_each_may_repeat() -> None:
    producers = states(Batch(0, 4), Batch(5, 1), Batch(7, producer_id=3, producer_epoch=2))
    snapshot = producers.snapshot()
    assert snapshot == [
        ProducerSnapshot(
            producer_id=3,
            producer_epoch=2,
            last_sequence=7,
            last_offset=107,
            offset_delta=0,
            timestamp_ms=70,
        ),
        ProducerSnapshot(
            producer_id=9,
            producer_epoch=0,
            last_sequence=6,
            last_offset=106,
            offset_delta=1,
            timestamp_ms=70,
            earlier=(AppendedBatch(4, 104, 4, 70),),
        ),
    ]
    loaded = ProducerStates(EXPIRATION_MS)
    loaded.load(snapshot)
    assert loaded.snapshot() == snapshot
    assert loaded.check(Batch(5, 1), 5000) == Duplicate(105, 106, 70)
    assert loaded.check(Batch(0, 4), 5000) == Duplicate(100, 104, 70)
    loaded.clear()
    assert loaded.snapshot() == []


@pytest.mark.parametrize(
    ("sequence", "count", "after"),
    [(0, 1, 1), (SEQUENCE_MAX, 1, 0), (SEQUENCE_MAX - 1, 3, 1), (1, -3, SEQUENCE_MAX - 1)],
)
def test_sequences_wrap(sequence: int, count: int, after: int) -> None:
    assert advance_sequence(sequence, count) == after
