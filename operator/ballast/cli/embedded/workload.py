"""A client that writes numbered records with acks=all, reads them, and reports lost ones.

It is a client like any other (librdkafka), in threads of its own, so that nothing of Ballast
judges itself. A record's value begins with its number; every number is written once.
"""

import struct
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from ballast.cli.embedded.closing import close_in_time
from ballast.cli.embedded.errors import WorkloadFailed

_NUMBER = struct.Struct(">q")
_FETCH_SIZE = 1000
_RETRY_S = 0.2
_FLUSH_TIMEOUT_S = 60.0
SILENCE_MAX_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of the records."""

    acknowledged: int
    lost: int
    """Acknowledged, and not there at the end."""
    duplicated: int
    """There more than once."""


class Workload:
    """Writes to every partition of one topic in turn, and reads all of them from the start."""

    def __init__(
        self, bootstrap_servers: str, topic: str, partitions: int, *, record_bytes: int = 1024
    ) -> None:
        self._servers = bootstrap_servers
        self._topic = topic
        self._partitions = partitions
        self._padding = bytes(range(32, 127)) * (record_bytes // 95 + 1)
        self._padding = self._padding[: record_bytes - _NUMBER.size]
        self._acknowledged = bytearray()
        self._failed: list[KafkaError] = []
        self._stopping = threading.Event()
        self._abandoned = threading.Event()
        self._threads: list[threading.Thread] = []
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap_servers,
                "acks": "all",
                "enable.idempotence": True,
                "linger.ms": 5,
                "batch.size": 256 * 1024,
                "queue.buffering.max.messages": 200_000,
                "log_level": 2,
            }
        )
        self.written = 0
        self.acknowledged = 0
        self.consumed = 0
        self.slowest_acknowledgement_s = 0.0
        """The longest that a record written since `start` has waited for its acknowledgement."""

    def preload(self, total_bytes: int) -> None:
        """Write that many bytes as fast as they are taken and wait for every acknowledgement."""
        self._write(total_bytes // (len(self._padding) + _NUMBER.size))
        self._flush()

    def start(self, *, records_per_second: int) -> None:
        """Write at a rate, and read along, until `stop`."""
        self._threads = [
            threading.Thread(target=self._keep_writing, args=(records_per_second,)),
            threading.Thread(target=self._keep_reading),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop writing and reading; wait for the last acknowledgements."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        self._flush()

    def abandon(self) -> None:
        """Have whatever is under way fail soon, for a caller that no longer waits for it."""
        self._abandoned.set()
        self._stopping.set()
        self._producer.purge()

    def verify(self, *, silence_max_s: float = SILENCE_MAX_S) -> Verdict:
        """Read everything back with a fresh client and compare.

        Raises `WorkloadFailed` when nothing has come for ``silence_max_s``.
        """
        counts = bytearray(self.written)
        consumer = self._consumer()
        try:
            remaining = self._end_offsets(consumer, silence_max_s)
            silent_since = time.monotonic()
            while remaining and not self._abandoned.is_set():
                for message in self._consume(consumer):
                    silent_since = time.monotonic()
                    number = _NUMBER.unpack_from(message.value() or b"")[0]
                    counts[number] = min(counts[number] + 1, 2)
                    if message.offset() + 1 >= remaining.get(message.partition(), 0):
                        remaining.pop(message.partition(), None)
                if time.monotonic() - silent_since > silence_max_s:
                    raise WorkloadFailed(
                        f"partitions {sorted(remaining)} cannot be read to the end"
                    )
        finally:
            close_in_time(consumer)
        lost = sum(
            acknowledged and not count
            for acknowledged, count in zip(self._acknowledged, counts, strict=False)
        )
        return Verdict(
            acknowledged=self.acknowledged, lost=lost, duplicated=sum(count > 1 for count in counts)
        )

    def _write(self, records: int) -> None:
        for _ in range(records):
            if self._abandoned.is_set():
                return
            number = self.written
            self.written += 1
            self._acknowledged.append(0)
            self._produce(number)
            self._producer.poll(0)

    def _produce(self, number: int) -> None:
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    _NUMBER.pack(number) + self._padding,
                    partition=number % self._partitions,
                    on_delivery=lambda error, message, n=number: self._delivered(n, error, message),
                )
            except BufferError:
                # The client's bounded queue is full: wait until something is acknowledged.
                self._producer.poll(0.1)
                if self._abandoned.is_set():
                    return
            else:
                return

    def _delivered(self, number: int, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self._acknowledged[number] = 1
            self.acknowledged += 1
            if self._threads:
                latency_s = message.latency() or 0.0
                self.slowest_acknowledgement_s = max(self.slowest_acknowledgement_s, latency_s)
        else:
            self._failed.append(error)

    def _flush(self) -> None:
        if self._producer.flush(_FLUSH_TIMEOUT_S) or self._failed:
            raise WorkloadFailed(f"records were not acknowledged: {self._failed[:3]}")

    def _keep_writing(self, records_per_second: int) -> None:
        tick_s = 0.02
        while not self._stopping.wait(tick_s):
            self._write(max(1, int(records_per_second * tick_s)))

    def _keep_reading(self) -> None:
        consumer = self._consumer()
        try:
            while not self._stopping.is_set():
                self.consumed += sum(1 for _ in self._consume(consumer))
        finally:
            close_in_time(consumer)

    def _consumer(self) -> Consumer:
        consumer = Consumer(
            {
                "bootstrap.servers": self._servers,
                "group.id": "ballast-demo",
                # Where the beginning is gone, what is lost is counted from what is there.
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "check.crcs": True,
                "log_level": 2,
            }
        )
        consumer.assign(
            [TopicPartition(self._topic, number, 0) for number in range(self._partitions)]
        )
        return consumer

    def _consume(self, consumer: Consumer) -> Iterable[Message]:
        for message in consumer.consume(_FETCH_SIZE, 0.5):
            if (error := message.error()) is None:
                yield message
            elif error.fatal():
                raise WorkloadFailed(f"the consumer gave up: {error.str()}")

    def _end_offsets(self, consumer: Consumer, timeout_s: float) -> dict[int, int]:
        """Return the end offset of every partition that is not empty."""
        deadline = time.monotonic() + timeout_s
        ends = {}
        for number in range(self._partitions):
            if end := self._end_offset(consumer, number, deadline):
                ends[number] = end
        return ends

    def _end_offset(self, consumer: Consumer, number: int, deadline: float) -> int:
        """Ask until there is an answer: librdkafka gives up at once when a broker has just died."""
        partition = TopicPartition(self._topic, number)
        while True:
            left_s = max(deadline - time.monotonic(), 0.1)
            try:
                _, end = consumer.get_watermark_offsets(partition, timeout=left_s)
            except KafkaException as error:
                if time.monotonic() >= deadline:
                    raise WorkloadFailed(
                        f"partition {number} has no end offset: {error}"
                    ) from error
                time.sleep(_RETRY_S)
            else:
                return int(end)
