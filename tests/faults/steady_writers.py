"""Producers that write to every partition at a steady rate and note when each record was confirmed.

Each is a librdkafka producer of its own, with acks=all; what is measured is the time between two
confirmations of one producer and one partition.
"""

import itertools
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from ballast.cli.embedded.closing import close_in_time

_RECORD = struct.Struct(">iq")
READ_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Pause:
    """The time between two confirmations; times are those of ``time.monotonic``."""

    duration_s: float
    begin_s: float
    writer: int
    partition: int

    @property
    def end_s(self) -> float:
        """When the second of the two confirmations came."""
        return self.begin_s + self.duration_s


@dataclass(slots=True)
class _Confirmed:
    """What one writer was told of one partition."""

    times: list[float] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


class SteadyWriter:
    """Writes one record to each partition every ``interval_s``, in a thread, until `stop`."""

    def __init__(
        self,
        servers: str,
        topic: str,
        partitions: int,
        *,
        writer: int,
        interval_s: float,
        idempotent: bool,
    ) -> None:
        self.writer = writer
        self.confirmed = [_Confirmed() for _ in range(partitions)]
        self.failed: list[KafkaError] = []
        self._topic = topic
        self._interval_s = interval_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "acks": "all",
                "enable.idempotence": idempotent,
                "linger.ms": 0,
                "log_level": 2,
            }
        )

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, timeout_s: float = 60.0) -> None:
        """Stop writing, and wait for the last confirmations."""
        self._stopping.set()
        self._thread.join(timeout_s)
        assert self._producer.flush(timeout_s) == 0, "records are neither confirmed nor refused"

    def pauses(self) -> list[Pause]:
        """Return the longest pause of each partition."""
        found = []
        for partition, confirmed in enumerate(self.confirmed):
            times = confirmed.times
            gaps = itertools.pairwise(times)
            duration_s, begin_s = max((after - before, before) for before, after in gaps)
            found.append(
                Pause(
                    duration_s=duration_s, begin_s=begin_s, writer=self.writer, partition=partition
                )
            )
        return found

    def _run(self) -> None:
        number = 0
        while not self._stopping.is_set():
            for partition in range(len(self.confirmed)):
                self._send(partition, number)
            number += 1
            self._producer.poll(self._interval_s)
            self._stopping.wait(self._interval_s)

    def _send(self, partition: int, number: int) -> None:
        def on_delivery(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                self.failed.append(error)
                return
            confirmed = self.confirmed[partition]
            confirmed.times.append(time.monotonic())
            confirmed.numbers.append(number)

        while not self._stopping.is_set():
            try:
                self._producer.produce(
                    self._topic,
                    _RECORD.pack(self.writer, number),
                    partition=partition,
                    on_delivery=on_delivery,
                )
            except BufferError:
                self._producer.poll(0.1)
            else:
                return


def lost(servers: str, topic: str, writers: Sequence[SteadyWriter]) -> int:
    """Read the topic from its start and return how many confirmed records are not in it."""
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "check", "enable.auto.commit": False}
    )
    partitions = range(len(writers[0].confirmed))
    try:
        places = [TopicPartition(topic, partition, 0) for partition in partitions]
        ends = {place.partition: consumer.get_watermark_offsets(place)[1] for place in places}
        consumer.assign(places)
        unread = {partition for partition, end in ends.items() if end > 0}
        present: set[tuple[int, int, int]] = set()
        deadline = time.monotonic() + READ_TIMEOUT_S
        while unread:
            assert time.monotonic() < deadline, f"partitions {unread} cannot be read to the end"
            for message in consumer.consume(5_000, 1.0):
                partition, offset, value = message.partition(), message.offset(), message.value()
                if message.error() is not None or partition is None or offset is None:
                    continue
                present.add((partition, *_RECORD.unpack(value or b"")))
                if offset + 1 >= ends[partition]:
                    unread.discard(partition)
    finally:
        close_in_time(consumer)
    return sum(
        (partition, writer.writer, number) not in present
        for writer in writers
        for partition, confirmed in enumerate(writer.confirmed)
        for number in confirmed.numbers
    )
