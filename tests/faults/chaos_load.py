"""What clients do during a storm: one library writes, two read in groups and commit."""

import asyncio
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import aiokafka
import confluent_kafka
from aiokafka.errors import KafkaError

from ballast.cli.embedded.closing import close_in_time
from tests.faults.chaos_ledger import Ledger, Place

COMMIT_INTERVAL_S = 1.0
POLL_S = 0.3
SEND_TIMEOUT_S = 120.0
SESSION_MS = 10_000
UNDER_WAY_MAX = 500
_NUMBER = struct.Struct(">q")
_PADDING = bytes(200)


class Load:
    """Work in a thread, repeated until `stop`."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        # A storm that has failed shall end, whatever its clients still wait for.
        self._thread = threading.Thread(target=self._run, name=type(self).__name__, daemon=True)
        self.failures: list[str] = []

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, timeout_s: float = 120.0) -> None:
        """Stop, and wait for the end."""
        self._stopping.set()
        self._thread.join(timeout_s)
        assert not self._thread.is_alive(), f"{self._thread.name} does not end"

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.work()
            except Exception as error:  # noqa: BLE001 - clients raise what they like under faults
                self.failures.append(f"{type(self).__name__}: {error!r}")
                self._stopping.wait(1.0)

    def work(self) -> None:
        """Do the work until `stop`, or until something fails: then it is begun again."""
        raise NotImplementedError


class AiokafkaWriter(Load):
    """Writes numbered records with acks=all; an answer says where each one is."""

    def __init__(
        self, servers: str, topic: str, partitions: int, ledger: Ledger, records_per_second: int
    ) -> None:
        super().__init__()
        self._servers = servers
        self._topic = topic
        self._partitions = partitions
        self._ledger = ledger
        self._interval_s = 1 / records_per_second
        self._number = 0
        self.unacknowledged = 0

    def work(self) -> None:
        asyncio.run(self._write())

    async def _write(self) -> None:
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=self._servers,
            acks="all",
            enable_idempotence=True,
            request_timeout_ms=20_000,
            retry_backoff_ms=200,
        )
        under_way = asyncio.Semaphore(UNDER_WAY_MAX)
        async with producer, asyncio.TaskGroup() as group:
            while not self._stopping.is_set():
                await under_way.acquire()
                group.create_task(self._send(producer, under_way))
                await asyncio.sleep(self._interval_s)

    async def _send(self, producer: Any, under_way: asyncio.Semaphore) -> None:
        number = self._number
        self._number += 1
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                answer = await producer.send_and_wait(
                    self._topic,
                    _NUMBER.pack(number) + _PADDING,
                    partition=number % self._partitions,
                )
            place = Place(self._topic, answer.partition)
            self._ledger.acknowledge(place, answer.offset, number)
        except (KafkaError, TimeoutError):
            self.unacknowledged += 1  # It may be there or not.
        finally:
            under_way.release()


class ConfluentReader(Load):
    """One member of a group (librdkafka): reads, and commits what it has read."""

    def __init__(self, servers: str, group: str, topics: Sequence[str], ledger: Ledger) -> None:
        super().__init__()
        self._servers = servers
        self._group = group
        self._topics = list(topics)
        self._ledger = ledger
        self._positions: dict[Place, int] = {}

    def work(self) -> None:
        consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": self._servers,
                "group.id": self._group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": SESSION_MS,
                "heartbeat.interval.ms": 1000,
                "topic.metadata.refresh.interval.ms": 10_000,
                "log_level": 2,
            }
        )
        forget: Callable[..., None] = lambda *_: self._positions.clear()  # noqa: E731
        consumer.subscribe(self._topics, on_assign=forget, on_revoke=forget, on_lost=forget)
        try:
            self._read(consumer)
        finally:
            if not close_in_time(consumer):
                self.failures.append("ConfluentReader: librdkafka never closed its consumer")

    def _read(self, consumer: Any) -> None:
        committed_at = time.monotonic()
        while not self._stopping.is_set():
            for message in consumer.consume(500, POLL_S):
                if message.error() is None:
                    place = Place(message.topic(), message.partition())
                    self._ledger.read(self._group, place, message.offset())
                    self._positions[place] = message.offset() + 1
            if self._positions and time.monotonic() - committed_at > COMMIT_INTERVAL_S:
                self._commit(consumer)
                committed_at = time.monotonic()

    def _commit(self, consumer: Any) -> None:
        asked = dict(self._positions)
        offsets = [confluent_kafka.TopicPartition(*place, at) for place, at in asked.items()]
        try:
            answers = consumer.commit(offsets=offsets, asynchronous=False)
        except confluent_kafka.KafkaException:
            for place, at in asked.items():
                self._ledger.doubt(self._group, place, at, time.monotonic())
            return
        for answer in answers:
            place = Place(answer.topic, answer.partition)
            if answer.error is None:
                self._ledger.commit(self._group, place, answer.offset)
            else:
                self._ledger.doubt(self._group, place, asked[place], time.monotonic())


class AiokafkaReader(Load):
    """One member of a group (aiokafka): reads, and commits what it has read."""

    def __init__(self, servers: str, group: str, topics: Sequence[str], ledger: Ledger) -> None:
        super().__init__()
        self._servers = servers
        self._group = group
        self._topics = list(topics)
        self._ledger = ledger

    def work(self) -> None:
        asyncio.run(self._read())

    async def _read(self) -> None:
        consumer = aiokafka.AIOKafkaConsumer(
            *self._topics,
            bootstrap_servers=self._servers,
            group_id=self._group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=1000,
            metadata_max_age_ms=10_000,
        )
        async with consumer:
            committed_at = time.monotonic()
            while not self._stopping.is_set():
                polled = await consumer.getmany(timeout_ms=int(POLL_S * 1000))
                for partition, records in polled.items():
                    place = Place(partition.topic, partition.partition)
                    for record in records:
                        self._ledger.read(self._group, place, record.offset)
                if time.monotonic() - committed_at > COMMIT_INTERVAL_S:
                    await self._commit(consumer)
                    committed_at = time.monotonic()

    async def _commit(self, consumer: Any) -> None:
        asked: dict[Any, int] = {}
        try:
            for partition in consumer.assignment():
                asked[partition] = await consumer.position(partition)
            if asked:
                await consumer.commit(asked)
        except KafkaError:
            for partition, at in asked.items():
                place = Place(partition.topic, partition.partition)
                self._ledger.doubt(self._group, place, at, time.monotonic())
        else:
            for partition, at in asked.items():
                place = Place(partition.topic, partition.partition)
                self._ledger.commit(self._group, place, at)


READERS: dict[str, Callable[[str, str, Sequence[str], Ledger], Load]] = {
    "confluent": ConfluentReader,
    "aiokafka": AiokafkaReader,
}
"""By the name of the group that their members form."""
