"""Assigns followed partitions to fetchers: one `ReplicaFetcher` per leader and slot.

Kafka's ReplicaFetcherManager.
"""

import asyncio
import zlib
from collections.abc import Callable

from ballast.broker.following.fetch_exchange import Spawn
from ballast.broker.following.fetcher import ReplicaFetcher
from ballast.broker.partitions.partition import Partition
from ballast.model.brokers import Broker, Endpoint
from ballast.model.ids import TopicPartition

FetcherKey = tuple[int, Endpoint, int]
"""Leader's id and address, and one of ``num.replica.fetchers`` slots."""


class FetcherManager:
    """Starts a fetcher when a leader is followed first, and ends it with its last partition."""

    def __init__(
        self,
        make: Callable[[Broker], ReplicaFetcher],
        spawn: Spawn,
        slots: int,
    ) -> None:
        self._make = make
        self._spawn = spawn
        self._slots = slots
        self._running: dict[FetcherKey, tuple[ReplicaFetcher, asyncio.Task[None]]] = {}
        self._followed: dict[TopicPartition, FetcherKey] = {}

    def is_followed(self, name: TopicPartition) -> bool:
        """Whether a fetcher has the partition."""
        return name in self._followed

    def follow(self, partition: Partition, leader: Broker) -> None:
        """Fetch ``partition`` from ``leader`` in the partition's present leader epoch."""
        self.unfollow(partition.name)
        slot = zlib.crc32(str(partition.name).encode()) % self._slots
        key = (leader.broker_id, leader.endpoint, slot)
        running = self._running.get(key)
        if running is None:
            fetcher = self._make(leader)
            running = (fetcher, self._spawn(fetcher.run()))
            self._running[key] = running
        running[0].add(partition)
        self._followed[partition.name] = key

    def unfollow(self, name: TopicPartition) -> None:
        """Fetch the partition no more; an answer that is under way is not taken."""
        key = self._followed.pop(name, None)
        if key is None:
            return
        fetcher, task = self._running[key]
        fetcher.remove(name)
        if fetcher.is_idle:
            del self._running[key]
            task.cancel()

    async def stop(self) -> None:
        """End every fetcher."""
        running, self._running = self._running, {}
        self._followed.clear()
        for _, task in running.values():
            task.cancel()
        for _, task in running.values():
            await asyncio.wait((task,))

    def lag(self, name: TopicPartition) -> int:
        """Return how far a followed partition lags behind its leader's high watermark.

        0 when the leader has not been heard of yet.
        """
        key = self._followed.get(name)
        return self._running[key][0].lag(name) if key is not None else 0

    def max_lag(self) -> int:
        """Return the offsets that the slowest followed partition lags behind its leader."""
        return max((fetcher.max_lag() for fetcher, _ in self._running.values()), default=0)
