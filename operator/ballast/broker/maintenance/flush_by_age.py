"""Flushes logs once their records are as old as ``flush.ms`` (Kafka's LogManager.flushDirtyLogs).

Kafka checks for such logs every ``log.flush.scheduler.interval.ms``, by default never, so a topic's
``flush.ms`` has no effect there unless that is set too. Here the logs are checked as often as the
smallest effective ``flush.ms`` requires, unless the interval is set; and never while no topic has
one.
"""

import asyncio
from typing import Final

from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import TopicPartition
from ballast.model.settings.values import LONG_MAX
from ballast.storage.errors import StorageError
from ballast.storage.files.durability import run_in_background

LONGEST_PAUSE_S: Final = 1.0
"""How long it may take until a new ``flush.ms`` has an effect."""

SHORTEST_PAUSE_S: Final = 0.01

LOOKS_PER_AGE: Final = 4
"""Checks of a log within its ``flush.ms``."""


class FlushByAge:
    """Finds logs whose records are due to be flushed, and flushes them."""

    def __init__(self, replicas: ReplicaManager, interval_ms: int) -> None:
        """Make it; ``interval_ms`` is ``log.flush.scheduler.interval.ms``."""
        self._replicas = replicas
        self._interval_ms = interval_ms
        self._looked_at = replicas.clock()
        self._dirty_since: dict[TopicPartition, float] = {}

    async def run(self) -> None:
        """Check until cancelled."""
        while True:
            await asyncio.sleep(self._pause_s())
            if self._replicas.configs.least_flush_ms < LONG_MAX:
                await self.flush_due()
            else:
                self._dirty_since.clear()
            self._looked_at = self._replicas.clock()

    def _pause_s(self) -> float:
        if self._interval_ms < LONG_MAX:
            return self._interval_ms / 1000
        wanted_s = self._replicas.configs.least_flush_ms / 1000 / LOOKS_PER_AGE
        return min(max(wanted_s, SHORTEST_PAUSE_S), LONGEST_PAUSE_S)

    async def flush_due(self) -> None:
        """Flush the logs that have been dirty for as long as their ``flush.ms``."""
        replicas, now = self._replicas, self._replicas.clock()
        for name, log in list(replicas.log_dirs.logs.items()):
            flush_ms = log.config.flush_ms
            if flush_ms == LONG_MAX or log.recovery_point >= log.log_end_offset:
                self._dirty_since.pop(name, None)
                continue
            # The append happened at some time after the last check.
            since = self._dirty_since.setdefault(name, self._looked_at)
            if (now - since) * 1000 < flush_ms or replicas.log_dirs.get(name) is not log:
                continue
            del self._dirty_since[name]
            try:
                await run_in_background(log.flushes(), replicas.log_dirs.in_background)
            except StorageError as error:
                replicas.storage_failed(name, error)
            await asyncio.sleep(0)
