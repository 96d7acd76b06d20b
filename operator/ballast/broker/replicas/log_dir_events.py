"""Notifies the controller of failed log directories (KIP-112)."""

import asyncio
import logging
from typing import Final

from ballast.broker.cluster.zookeeper_session import ZooKeeperSession
from ballast.zk.errors import ZooKeeperError

log = logging.getLogger(__name__)

RETRY_S: Final = 0.5
"""Pause before a notification with unknown outcome is written again."""


class LogDirEvents:
    """Writes ``/log_dir_event_notification`` once for all failures until then."""

    def __init__(self, session: ZooKeeperSession, broker_id: int) -> None:
        self._session = session
        self._broker_id = broker_id
        self._failed = asyncio.Event()

    def notify(self) -> None:
        """Make the controller ask this broker for its lost replicas."""
        self._failed.set()

    async def run(self) -> None:
        """Write notifications until cancelled; a second one has no effect."""
        while True:
            await self._failed.wait()
            store = await self._session.wait()
            self._failed.clear()
            try:
                await store.notify_log_dir_failure(self._broker_id)
            except ZooKeeperError as error:
                log.info(
                    "cannot notify the controller of a failed log directory, retrying: %r", error
                )
                self._failed.set()
                await asyncio.sleep(RETRY_S)
