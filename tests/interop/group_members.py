"""Members of consumer groups, as three client libraries make them, behind one face."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import aiokafka
import confluent_kafka
import kafka

SESSION_MS = 6_000
POLL_S = 0.2
TIMEOUT_S = 30


class Member(Protocol):
    """One member of a group, subscribed to one topic."""

    def poll(self) -> list[bytes]:
        """Return what has come within a short time; takes part in rebalances meanwhile."""

    def assignment(self) -> set[int]:
        """Return the partitions that the member has now."""

    def commit(self) -> None:
        """Commit what has been polled; return when that is acknowledged."""

    def close(self) -> None:
        """End; a dynamic member leaves its group, a static one does not."""


class ConfluentMember:
    """librdkafka's."""

    def __init__(self, servers: str, group: str, topic: str, instance: str | None = None) -> None:
        config: dict[str, Any] = {
            "bootstrap.servers": servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": SESSION_MS,
            "heartbeat.interval.ms": 200,
        }
        if instance is not None:
            config["group.instance.id"] = instance
        self._consumer = confluent_kafka.Consumer(config)
        self._consumer.subscribe([topic])

    def poll(self) -> list[bytes]:
        messages = self._consumer.consume(1000, POLL_S)
        return [message.value() for message in messages if message.error() is None]

    def assignment(self) -> set[int]:
        return {partition.partition for partition in self._consumer.assignment()}

    def commit(self) -> None:
        for partition in self._consumer.commit(asynchronous=False):
            assert partition.error is None

    def close(self) -> None:
        self._consumer.close()


class KafkaPythonMember:
    """kafka-python's."""

    def __init__(self, servers: str, group: str, topic: str, instance: str | None = None) -> None:
        self._consumer = kafka.KafkaConsumer(
            topic,
            bootstrap_servers=servers,
            group_id=group,
            group_instance_id=instance,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=200,
        )

    def poll(self) -> list[bytes]:
        polled = self._consumer.poll(int(POLL_S * 1000))
        return [record.value for records in polled.values() for record in records]

    def assignment(self) -> set[int]:
        return {partition.partition for partition in self._consumer.assignment()}

    def commit(self) -> None:
        self._consumer.commit()

    def close(self) -> None:
        self._consumer.close()


class AiokafkaMember:
    """aiokafka's, whose loop runs in a thread of its own as it would in a service."""

    def __init__(self, servers: str, group: str, topic: str, instance: str | None = None) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

        async def start() -> Any:
            consumer = aiokafka.AIOKafkaConsumer(
                topic,
                bootstrap_servers=servers,
                group_id=group,
                group_instance_id=instance,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                session_timeout_ms=SESSION_MS,
                heartbeat_interval_ms=200,
            )
            await consumer.start()
            return consumer

        self._consumer = self._run(start())

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(TIMEOUT_S)

    def poll(self) -> list[bytes]:
        polled = self._run(self._consumer.getmany(timeout_ms=int(POLL_S * 1000)))
        return [record.value for records in polled.values() for record in records]

    def assignment(self) -> set[int]:
        return {partition.partition for partition in self._consumer.assignment()}

    def commit(self) -> None:
        self._run(self._consumer.commit())

    def close(self) -> None:
        try:
            self._run(self._consumer.stop())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(TIMEOUT_S)
            self._loop.close()


MemberClass = Callable[..., Member]

MEMBERS: dict[str, MemberClass] = {
    "confluent": ConfluentMember,
    "kafka-python": KafkaPythonMember,
    "aiokafka": AiokafkaMember,
}


@contextmanager
def member(kind: MemberClass, *arguments: str) -> Iterator[Member]:
    """Make a member and close it in the end."""
    made = kind(*arguments)
    try:
        yield made
    finally:
        made.close()


def poll_until(
    condition: Callable[[], bool], *members: Member, timeout_s: float = TIMEOUT_S
) -> list[bytes]:
    """Poll all members until ``condition`` holds; return what has come meanwhile."""
    values: list[bytes] = []
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, [one.assignment() for one in members]
        for one in members:
            values.extend(one.poll())
    return values


def poll_records(count: int, *members: Member) -> list[bytes]:
    """Poll until ``count`` records have come; return them sorted."""
    values: list[bytes] = []
    deadline = time.monotonic() + TIMEOUT_S
    while len(values) < count:
        assert time.monotonic() < deadline, (len(values), [one.assignment() for one in members])
        for one in members:
            values.extend(one.poll())
    return sorted(values)
