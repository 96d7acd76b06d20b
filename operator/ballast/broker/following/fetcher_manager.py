"""Assigns followed partitions to fetchers: one `ReplicaFetcher` per leader and slot.

Kafka's ReplicaFetcherManager.
"""

import asyncio
import zlib
from collections.abc import Callable

from ballast.broker.following.fetch_exchange import Spawn
from ballast.broker.following.fetcher import ReplicaFetcher
from ballast.broker.partitions.partition import Partition
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import TopicPartition

FetcherKey = tuple[int, Endpoint, int]
"""Id and address of the leader, and one of ``num.replica.fetchers`` slots."""


class FetcherManager:
    """Starts a fetcher for the first partition of a leader, and ends it with the last one."""

    def __init__(
        self,
        make: Callable[[RegisteredBroker], ReplicaFetcher],
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

    def follow(self, partition: Partition, leader: RegisteredBroker) -> None:
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
        """Stop fetching the partition; a response in flight is dropped."""
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
        """Return how many offsets a partition lags behind its leader's high watermark.

        0 before the first response of the leader.
        """
        key = self._followed.get(name)
        return self._running[key][0].lag(name) if key is not None else 0

    def max_lag(self) -> int:
        """Return the largest lag of a followed partition."""
        return max((fetcher.max_lag() for fetcher, _ in self._running.values()), default=0)
