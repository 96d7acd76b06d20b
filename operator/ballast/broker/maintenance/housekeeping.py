"""Periodic work: high-watermark checkpoints, flushes, retention; the periods of smaller actions."""

import asyncio
from collections.abc import Callable
from typing import Final

from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.storage.errors import StorageError
from ballast.storage.files.durability import run_in_background
from ballast.storage.log.retention import apply_retention

DELETE_PERIOD_S: Final = 60.0
"""How often directories of deleted logs are removed (Kafka's file.delete.delay.ms)."""

PRODUCERS_PERIOD_S: Final = 600.0
"""How often inactive idempotent producers are removed."""

RETIRED_PERIOD_S: Final = 10.0
"""How often the files of dropped segments are checked for their delay."""

FIRST_RETENTION_S: Final = 30.0
"""Delay before the first check of retention (Kafka's InitialTaskDelayMs)."""

LOGS_PER_STEP: Final = 64
"""Logs that are checked in a row before other work gets its turn."""


async def every(period_s: float, action: Callable[[], None]) -> None:
    """Run ``action`` every ``period_s`` seconds until cancelled."""
    while True:
        await asyncio.sleep(period_s)
        action()


async def checkpoint_high_watermarks_periodically(
    replicas: ReplicaManager, period_s: float
) -> None:
    """Write the high watermarks of all replicas, including those without a role."""
    while True:
        await asyncio.sleep(period_s)
        await replicas.log_dirs.checkpoint_high_watermarks(replicas.high_watermarks())


async def flush_periodically(replicas: ReplicaManager, period_s: float) -> None:
    """Flush logs one by one; other work gets its turn in between."""
    while True:
        await asyncio.sleep(period_s)
        for name, log in list(replicas.log_dirs.logs.items()):
            if replicas.log_dirs.get(name) is not log:
                continue  # It was deleted, or went offline, while others were flushed.
            try:
                await run_in_background(log.flushes(), replicas.log_dirs.in_background)
            except StorageError as error:
                replicas.storage_failed(name, error)
            await asyncio.sleep(0)
        await replicas.log_dirs.checkpoint()


async def checkpoint_periodically(replicas: ReplicaManager, period_s: float) -> None:
    """Write log start offsets and recovery points, without flushing logs."""
    while True:
        await asyncio.sleep(period_s)
        await replicas.log_dirs.checkpoint()


async def retain_periodically(replicas: ReplicaManager, period_s: float) -> None:
    """Apply retention log by log; other work gets its turn in between."""
    pause_s = min(FIRST_RETENTION_S, period_s)
    while True:
        await asyncio.sleep(pause_s)
        pause_s = period_s
        for number, (name, partition) in enumerate(list(replicas.partitions.items())):
            if replicas.partitions.get(name) is not partition or partition.log.failure is not None:
                continue  # It was deleted, or failed, while others were checked.
            dropped = False
            try:
                dropped = apply_retention(
                    partition.log, partition.high_watermark, replicas.wall_clock_ms()
                )
            except StorageError as error:
                replicas.storage_failed(name, error)
            if dropped:
                replicas.purgatories.mark_changed(name)
            if dropped or number % LOGS_PER_STEP == 0:
                await asyncio.sleep(0)
