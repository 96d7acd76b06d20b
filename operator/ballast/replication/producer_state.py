"""Which batches of idempotent producers a log holds: the rules of Kafka's ProducerStateManager.

Per producer the last five batches are known. A leader asks `check` before it appends and every
replica calls `record` after; a follower takes what its leader took. Transactions are not kept.

Pure: the storage keeps `snapshot` in Kafka's ``.snapshot`` files.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ballast.model.settings.values import INT_MAX

SEQUENCE_MAX = INT_MAX
BATCHES_KEPT = 5


class SequencedBatch(Protocol):
    """What is read of a record batch's header."""

    @property
    def producer_id(self) -> int: ...
    @property
    def producer_epoch(self) -> int: ...
    @property
    def base_sequence(self) -> int: ...
    @property
    def last_offset_delta(self) -> int: ...
    @property
    def max_timestamp(self) -> int: ...


class ProducerStateError(Exception):
    """A batch of an idempotent producer that must not be appended."""


class OutOfOrderSequence(ProducerStateError):
    """A sequence number that does not follow the producer's last (OUT_OF_ORDER_SEQUENCE_NUMBER)."""


class InvalidProducerEpoch(ProducerStateError):
    """A producer that a newer one of the same id has fenced (INVALID_PRODUCER_EPOCH)."""


class Duplicate(NamedTuple):
    """The batch is in the log already, at these offsets."""

    first_offset: int
    last_offset: int
    timestamp_ms: int


class Accepted(NamedTuple):
    """The batch may be appended."""


ACCEPTED = Accepted()


class AppendedBatch(NamedTuple):
    """One batch that the log holds."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp_ms: int

    @property
    def first_sequence(self) -> int:
        """The sequence number of its first record."""
        return advance_sequence(self.last_sequence, -self.offset_delta)

    @property
    def first_offset(self) -> int:
        """The offset of its first record."""
        return self.last_offset - self.offset_delta


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSnapshot:
    """One producer as it is kept on disk: its last batch, and those before it.

    Kafka keeps the last one only. A producer with several requests in flight repeats all of them
    when every broker has stopped at once before any was acknowledged. The first of these repeats
    is of a batch before the last, and must be known, or it is OUT_OF_ORDER_SEQUENCE_NUMBER, which
    is fatal to librdkafka (``rd_kafka_handle_Produce_error_idempotent``).
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp_ms: int
    earlier: tuple[AppendedBatch, ...] = ()
    """Up to four batches before the last, oldest first."""


@dataclass(slots=True)
class _Producer:
    epoch: int
    seen_ms: int | None
    batches: deque[AppendedBatch] = field(default_factory=lambda: deque(maxlen=BATCHES_KEPT))


class ProducerStates:
    """The idempotent producers of one log.

    A producer unknown here (new, or expired) may start with any sequence number, as in Kafka since
    2.5 (KIP-360). An entry expires when nothing was appended for ``expiration_ms``. That is counted
    on this broker's clock, and from the first `remove_expired` for what was learned without a time
    (by a restart or by replication): a batch's own timestamps are its client's word, and a producer
    that sends old ones must not have its repeats stored.
    """

    __slots__ = ("_expiration_ms", "_producers")

    def __init__(self, expiration_ms: int) -> None:
        self._expiration_ms = expiration_ms
        self._producers: dict[int, _Producer] = {}

    def __len__(self) -> int:
        return len(self._producers)

    def check(self, batch: SequencedBatch, now_ms: int) -> Duplicate | Accepted:
        """Decide about a batch that a producer sent to the leader; changes nothing.

        Raises `OutOfOrderSequence` and `InvalidProducerEpoch`.
        """
        producer = self._producers.get(batch.producer_id)
        if producer is None or self._is_expired(producer, now_ms):
            return ACCEPTED
        if batch.producer_epoch != producer.epoch:
            _check_new_epoch(batch, producer.epoch)
            return ACCEPTED
        last_sequence = advance_sequence(batch.base_sequence, batch.last_offset_delta)
        for kept in producer.batches:
            if kept.last_sequence == last_sequence and kept.first_sequence == batch.base_sequence:
                return Duplicate(kept.first_offset, kept.last_offset, kept.timestamp_ms)
        expected = advance_sequence(producer.batches[-1].last_sequence, 1)
        if batch.base_sequence != expected:
            raise OutOfOrderSequence(
                f"producer {batch.producer_id} epoch {batch.producer_epoch}: "
                f"sequence {batch.base_sequence} came, {expected} was expected"
            )
        return ACCEPTED

    def record(self, batch: SequencedBatch, base_offset: int, now_ms: int | None = None) -> None:
        """Note a batch that the log now holds at ``base_offset``."""
        producer = self._producers.get(batch.producer_id)
        if producer is None or producer.epoch != batch.producer_epoch:
            producer = _Producer(batch.producer_epoch, now_ms)
            self._producers[batch.producer_id] = producer
        producer.seen_ms = now_ms
        producer.batches.append(
            AppendedBatch(
                advance_sequence(batch.base_sequence, batch.last_offset_delta),
                base_offset + batch.last_offset_delta,
                batch.last_offset_delta,
                batch.max_timestamp,
            )
        )

    def remove_expired(self, now_ms: int) -> None:
        """Forget the producers that appended nothing for the expiration time."""
        for producer_id, producer in list(self._producers.items()):
            if producer.seen_ms is None:
                producer.seen_ms = now_ms
            elif self._is_expired(producer, now_ms):
                del self._producers[producer_id]

    def _is_expired(self, producer: _Producer, now_ms: int) -> bool:
        return producer.seen_ms is not None and now_ms - producer.seen_ms >= self._expiration_ms

    def clear(self) -> None:
        """Forget every producer."""
        self._producers.clear()

    def snapshot(self) -> list[ProducerSnapshot]:
        """Return what is kept on disk, by producer id."""
        return [
            ProducerSnapshot(
                producer_id=producer_id,
                producer_epoch=producer.epoch,
                last_sequence=producer.batches[-1].last_sequence,
                last_offset=producer.batches[-1].last_offset,
                offset_delta=producer.batches[-1].offset_delta,
                timestamp_ms=producer.batches[-1].timestamp_ms,
                earlier=tuple(producer.batches)[:-1],
            )
            for producer_id, producer in sorted(self._producers.items())
        ]

    def load(self, snapshot: Iterable[ProducerSnapshot]) -> None:
        """Replace everything by what a snapshot holds."""
        self._producers.clear()
        for kept in snapshot:
            producer = _Producer(kept.producer_epoch, None)
            producer.batches.extend(kept.earlier)
            producer.batches.append(
                AppendedBatch(
                    kept.last_sequence, kept.last_offset, kept.offset_delta, kept.timestamp_ms
                )
            )
            self._producers[kept.producer_id] = producer


def advance_sequence(sequence: int, count: int) -> int:
    """Return ``sequence`` moved by ``count``; after 2^31 - 1 comes 0 (DefaultRecordBatch)."""
    return (sequence + count) % (SEQUENCE_MAX + 1)


def _check_new_epoch(batch: SequencedBatch, known_epoch: int) -> None:
    if batch.producer_epoch < known_epoch:
        raise InvalidProducerEpoch(
            f"producer {batch.producer_id}: epoch {batch.producer_epoch} "
            f"is older than {known_epoch}"
        )
    if batch.base_sequence != 0:
        raise OutOfOrderSequence(
            f"producer {batch.producer_id}: new epoch {batch.producer_epoch} begins with "
            f"sequence {batch.base_sequence}, not 0"
        )
