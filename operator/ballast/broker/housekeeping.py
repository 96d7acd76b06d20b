"""What a broker does every so often: shrink ISRs, save high watermarks, flush, tidy up."""

import asyncio
from collections.abc import Callable
from typing import Final

from ballast.broker.replica_manager import ReplicaManager
from ballast.storage.errors import StorageError

DELETE_PERIOD_S: Final = 60.0
"""How often the folders of deleted logs are removed (Kafka's file.delete.delay.ms)."""

PRODUCERS_PERIOD_S: Final = 600.0
"""How often silent idempotent producers are forgotten."""


async def every(period_s: float, action: Callable[[], None]) -> None:
    """Run ``action`` every ``period_s`` seconds until cancelled."""
    while True:
        await asyncio.sleep(period_s)
        action()


async def flush_periodically(replicas: ReplicaManager, period_s: float) -> None:
    """Make logs durable one by one, with the broker's other work in between."""
    while True:
        await asyncio.sleep(period_s)
        for name, log in list(replicas.log_dirs.logs.items()):
            if replicas.log_dirs.get(name) is not log:
                continue  # It was deleted, or went with its disk, while others were flushed.
            try:
                log.flush()
            except StorageError as error:
                replicas.storage_failed(error)
                return
            await asyncio.sleep(0)
        replicas.log_dirs.flush_dirty()
