"""Telling the controller that a log directory has failed (KIP-112)."""

import asyncio
import logging
from typing import Final

from ballast.broker.cluster.zookeeper_session import ZooKeeperSession
from ballast.zk.errors import ZooKeeperError

log = logging.getLogger(__name__)

RETRY_S: Final = 0.5
"""Pause before a notification is written again whose outcome is not known."""


class LogDirEvents:
    """Writes ``/log_dir_event_notification`` once for all failures until then."""

    def __init__(self, session: ZooKeeperSession, broker_id: int) -> None:
        self._session = session
        self._broker_id = broker_id
        self._failed = asyncio.Event()

    def notify(self) -> None:
        """Have the controller ask this broker which replicas it has lost."""
        self._failed.set()

    async def run(self) -> None:
        """Write notifications until cancelled; a second one does no harm."""
        while True:
            await self._failed.wait()
            store = await self._session.wait()
            self._failed.clear()
            try:
                await store.notify_log_dir_failure(self._broker_id)
            except ZooKeeperError as error:
                log.info("the failure of a log directory is told again: %r", error)
                self._failed.set()
                await asyncio.sleep(RETRY_S)
