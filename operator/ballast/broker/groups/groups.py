"""The groups that this broker coordinates: those in the offsets partitions that it leads."""

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import UUID

from ballast.broker.groups.group_loading import load
from ballast.broker.groups.group_metadata_store import GroupMetadataStore
from ballast.broker.groups.group_purgatories import GroupPurgatories
from ballast.broker.groups.offsets_topic import OffsetsTopic
from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.coordinator.coordinator import GroupCoordinator
from ballast.model.ids import TopicPartition
from ballast.model.topics import OFFSETS_TOPIC

log = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
"""Starts a coroutine as a task that its broker owns."""


class Groups:
    """Loads and unloads groups as the leaders of ``__consumer_offsets`` change."""

    def __init__(
        self,
        replicas: ReplicaManager,
        topic: OffsetsTopic,
        purgatories: GroupPurgatories,
        rng: random.Random,
        spawn: Spawn,
    ) -> None:
        """Make it; member ids are drawn from ``rng``."""
        config = replicas.config
        self._replicas = replicas
        self._spawn = spawn
        self.purgatories = purgatories
        self._led: dict[int, int] = {}
        """Partitions that are loaded or loading, and the leadership generation of each."""
        self.topic = topic
        self.coordinator = GroupCoordinator(
            config.group_options,
            delays=purgatories,
            journal=GroupMetadataStore(
                replicas,
                config.offsets_commit_timeout_ms,
                config.offsets_topic_compression_codec,
            ),
            partition_for=topic.partition_for,
            clock_ms=replicas.wall_clock_ms,
            new_id=lambda: str(UUID(int=rng.getrandbits(128), version=4)),
        )

    def role_changed(self, name: TopicPartition) -> None:
        """Load or unload groups if this broker's role in their partition has changed."""
        if name.topic != OFFSETS_TOPIC:
            return
        partition = self._replicas.partitions.get(name)
        if partition is None or partition.view is None:
            if self._led.pop(name.partition, None) is not None:
                log.info("%s: groups are coordinated elsewhere now", name)
                self.coordinator.unload(name.partition)
        elif self._led.get(name.partition) != partition.leadership_generation:
            # Still leader in a newer epoch: no other broker has written meanwhile.
            self._led[name.partition] = partition.leadership_generation
            self.coordinator.begin_loading(name.partition)
            self._spawn(self._load(partition))

    async def _load(self, partition: Partition) -> None:
        replay = await load(partition)
        if replay is None:
            return
        groups = replay.groups()
        for reason in replay.unreadable:
            log.error("%s: a record is passed over: %s", partition.name, reason)
        self.coordinator.finish_loading(partition.name.partition, groups)
        log.info(
            "%s: %d groups are loaded, %d records passed over",
            partition.name,
            len(groups),
            replay.unreadable_count,
        )

    def expire_offsets(self) -> None:
        """Remove expired offsets; called periodically."""
        count = self.coordinator.expire_offsets()
        if count:
            log.info("%d offsets have expired", count)

    def shut_down(self) -> None:
        """Complete the requests that wait, and unload every group."""
        self.coordinator.shut_down()
        self.purgatories.shut_down()
