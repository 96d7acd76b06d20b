"""The cluster as the controller last described it (UpdateMetadata, key 6), for clients."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from uuid import UUID

from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import LEADER_DURING_DELETE, NO_LEADER, TopicPartition

FILL_WAIT_S: Final = 5.0
"""How long clients of a broker that has just started wait for the first UpdateMetadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMetadata:
    """One partition in the last UpdateMetadata."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    offline_replicas: tuple[int, ...] = ()
    """Replicas on failed disks."""


class MetadataCache:
    """Live brokers, and the partitions of every topic.

    `wait_until` waits for a change. Nothing here is durable: the controller sends everything to a
    broker that starts.
    """

    def __init__(self) -> None:
        self._brokers: dict[int, RegisteredBroker] = {}
        self._topics: dict[str, dict[int, PartitionMetadata]] = {}
        self._topic_ids: dict[str, UUID] = {}
        self._waiters: dict[asyncio.Future[None], None] = {}
        self.is_filled = False
        """Whether the controller has described the cluster: only then is an absent topic unknown.
        """
        self.expects_partitions = False
        """Set when the cluster certainly has partitions: live brokers alone do not fill the cache
        then.
        """

    @property
    def brokers(self) -> Mapping[int, RegisteredBroker]:
        """Live brokers by id."""
        return MappingProxyType(self._brokers)

    @property
    def topics(self) -> Mapping[str, Mapping[int, PartitionMetadata]]:
        """Partitions by topic and number."""
        return MappingProxyType(self._topics)

    def topic_id(self, topic: str) -> UUID | None:
        """Return the topic's id; None when the topic or its id is not known."""
        return self._topic_ids.get(topic)

    @property
    def controller_id(self) -> int:
        """The broker that clients send controller-bound requests to; -1 when none is alive.

        Every broker forwards them, so any would do; the lowest id is the same at each broker.
        """
        return min(self._brokers, default=NO_LEADER)

    def partition(self, partition: TopicPartition) -> PartitionMetadata | None:
        return self._topics.get(partition.topic, {}).get(partition.partition)

    def is_led(self, topic: str, count: int) -> bool:
        """Whether a topic has at least ``count`` partitions, each with a live leader."""
        partitions = self._topics.get(topic, {})
        return len(partitions) >= count and all(
            partition.leader in self._brokers for partition in partitions.values()
        )

    def update(
        self,
        entries: Iterable[tuple[TopicPartition, PartitionMetadata]],
        live_brokers: Iterable[RegisteredBroker],
        topic_ids: Mapping[str, UUID],
    ) -> frozenset[TopicPartition]:
        """Apply an UpdateMetadata; return the partitions that it declares deleted.

        The brokers replace the present ones; partitions that are not named stay as they are.
        """
        self._brokers = {b.broker_id: b for b in sorted(live_brokers, key=lambda b: b.broker_id)}
        self._topic_ids.update(topic_ids)
        deleted = set()
        self.is_filled = self.is_filled or not self.expects_partitions
        for partition, metadata in entries:
            self.is_filled = True
            if metadata.leader == LEADER_DURING_DELETE:
                deleted.add(partition)
                self._forget(partition)
            else:
                self._topics.setdefault(partition.topic, {})[partition.partition] = metadata
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        return frozenset(deleted)

    def _forget(self, partition: TopicPartition) -> None:
        partitions = self._topics.get(partition.topic, {})
        partitions.pop(partition.partition, None)
        if not partitions:
            self._topics.pop(partition.topic, None)
            self._topic_ids.pop(partition.topic, None)

    async def wait_until_filled(self) -> None:
        """Wait for the first UpdateMetadata, for `FILL_WAIT_S` at most."""
        await self.wait_until(lambda: self.is_filled, FILL_WAIT_S)

    async def wait_until(self, reached: Callable[[], bool], timeout_seconds: float) -> bool:
        """Wait until ``reached()`` holds after an update; return False at the timeout."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_seconds
        while not reached():
            waiter = loop.create_future()
            self._waiters[waiter] = None
            try:
                async with asyncio.timeout_at(deadline):
                    await waiter
            except TimeoutError:
                return reached()
            finally:
                self._waiters.pop(waiter, None)
        return True
