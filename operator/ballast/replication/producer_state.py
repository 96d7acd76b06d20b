"""The idempotent producers of a log: the rules of Kafka's ProducerStateManager.

The last five batches of each producer are remembered. A leader calls `check` before an append, and
every replica calls `record` after it; a follower does not check. Transactions are not supported.

It does no I/O: `storage` writes `snapshot` to Kafka's ``.snapshot`` files.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ballast.model.settings.values import INT_MAX

SEQUENCE_MAX = INT_MAX
MAX_BATCHES = 5


class SequencedBatch(Protocol):
    """The fields of a record batch's header that are used here."""

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
    """A producer that was fenced by a newer epoch of its id (INVALID_PRODUCER_EPOCH)."""


class Duplicate(NamedTuple):
    """The batch is already in the log, at these offsets."""

    first_offset: int
    last_offset: int
    timestamp_ms: int


class Accepted(NamedTuple):
    """The batch may be appended."""


ACCEPTED = Accepted()


class AppendedBatch(NamedTuple):
    """One batch in the log."""

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
    """One producer as stored on disk: its last batch, and those before it.

    Kafka stores the last batch only. A producer with several requests in flight repeats all of
    them if every broker stopped before any was acknowledged. The first repeated batch is then not
    the last one; if it were unknown, the error would be OUT_OF_ORDER_SEQUENCE_NUMBER, which is
    fatal to librdkafka (``rd_kafka_handle_Produce_error_idempotent``).
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
    batches: deque[AppendedBatch] = field(default_factory=lambda: deque(maxlen=MAX_BATCHES))


class ProducerStates:
    """The idempotent producers of one log.

    A producer unknown here (new, or expired) may start with any sequence number, as in Kafka since
    2.5 (KIP-360). An entry expires when nothing was appended for ``expiration_ms``. The clock
    is this broker's; for entries without a time (after a restart or by replication) it counts from
    the first `remove_expired`. The timestamps of a batch are not used, since clients set them: a
    producer with old timestamps would expire at once and its repeated batches would be stored.
    """

    __slots__ = ("_expiration_ms", "_producers")

    def __init__(self, expiration_ms: int) -> None:
        self._expiration_ms = expiration_ms
        self._producers: dict[int, _Producer] = {}

    def __len__(self) -> int:
        return len(self._producers)

    def check(self, batch: SequencedBatch, now_ms: int) -> Duplicate | Accepted:
        """Check a batch that a producer sent to the leader; changes nothing.

        Raises `OutOfOrderSequence` and `InvalidProducerEpoch`.
        """
        producer = self._producers.get(batch.producer_id)
        if producer is None or self._is_expired(producer, now_ms):
            return ACCEPTED
        if batch.producer_epoch != producer.epoch:
            _check_new_epoch(batch, producer.epoch)
            return ACCEPTED
        last_sequence = advance_sequence(batch.base_sequence, batch.last_offset_delta)
        for batch_before in producer.batches:
            if (
                batch_before.last_sequence == last_sequence
                and batch_before.first_sequence == batch.base_sequence
            ):
                return Duplicate(
                    batch_before.first_offset, batch_before.last_offset, batch_before.timestamp_ms
                )
        expected = advance_sequence(producer.batches[-1].last_sequence, 1)
        if batch.base_sequence != expected:
            raise OutOfOrderSequence(
                f"producer {batch.producer_id} epoch {batch.producer_epoch}: "
                f"sequence {batch.base_sequence} instead of {expected}"
            )
        return ACCEPTED

    def record(self, batch: SequencedBatch, base_offset: int, now_ms: int | None = None) -> None:
        """Record a batch that was appended at ``base_offset``."""
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
        """Remove the producers that appended nothing for the expiration time."""
        for producer_id, producer in list(self._producers.items()):
            if producer.seen_ms is None:
                producer.seen_ms = now_ms
            elif self._is_expired(producer, now_ms):
                del self._producers[producer_id]

    def _is_expired(self, producer: _Producer, now_ms: int) -> bool:
        return producer.seen_ms is not None and now_ms - producer.seen_ms >= self._expiration_ms

    def clear(self) -> None:
        """Remove all producers."""
        self._producers.clear()

    def snapshot(self) -> list[ProducerSnapshot]:
        """Return the state to store on disk, by producer id."""
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
        """Replace the state by a snapshot."""
        self._producers.clear()
        for stored in snapshot:
            producer = _Producer(stored.producer_epoch, None)
            producer.batches.extend(stored.earlier)
            producer.batches.append(
                AppendedBatch(
                    stored.last_sequence,
                    stored.last_offset,
                    stored.offset_delta,
                    stored.timestamp_ms,
                )
            )
            self._producers[stored.producer_id] = producer


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
