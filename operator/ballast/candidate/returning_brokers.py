"""Waiting for brokers whose sessions ended together with this candidate's.

After an outage of ZooKeeper all sessions expire at once. The brokers serve clients meanwhile, and
register again within a second or two of its return. A controller that does not wait for them, as
Kafka's, takes those that are not registered yet out of the ISRs and elects other leaders:
partitions would pause although no broker has failed.

If a candidate's own session has expired, probably others have, too. If it is elected right after
that, it waits a bounded time for the brokers that were registered in its old session. That is safe
for any time, since a controller changes nothing before its failover. A candidate whose session
lasted does not wait, since a broker that is missing then has failed.
"""

import asyncio
import logging
from collections.abc import Collection
from typing import Final

from ballast.zk import lost_replies
from ballast.zk.client import WatchEvent, ZooKeeperClient
from ballast.zk.errors import NoNode, ZooKeeperError
from ballast.znodes import broker_ids

log = logging.getLogger(__name__)

MAX_WAIT_S: Final = 5.0
"""Longer than a broker needs to connect and to register: its pause between two attempts is 1 s."""

SHARE_OF_TIMEOUT: Final = 0.75
"""The wait lasts at most this part of the session timeout: a broker that has died with ZooKeeper
loses its leaderships before a session timeout has passed."""


class ReturningBrokers:
    """Follows /brokers/ids in every session, and waits for brokers that will register again."""

    def __init__(self) -> None:
        self._registered: frozenset[str] = frozenset()
        self._expected: frozenset[str] = frozenset()
        self._read = asyncio.Event()

    @property
    def expected(self) -> Collection[str]:
        """Ids of the brokers that a controller elected now waits for."""
        return self._expected

    def session_expired(self) -> None:
        """Expect the brokers that were registered when the session expired."""
        self._expected = self._registered or self._expected
        self._registered = frozenset()

    def settled(self) -> None:
        """Expect no broker: a controller has taken over, or the session ended otherwise."""
        self._expected = frozenset()

    async def follow(self, client: ZooKeeperClient) -> None:
        """Keep up with the registrations until cancelled; do so when the session has ended."""
        changed = asyncio.Event()

        def on_change(_: WatchEvent) -> None:
            changed.set()

        async def read() -> list[str]:
            try:
                return await client.children(broker_ids.PATH, on_change)
            except NoNode:
                await client.exists(broker_ids.PATH, on_change)
                return []

        try:
            while True:
                changed.clear()
                self._registered = frozenset(await lost_replies.repeat(client, read))
                self._read.set()
                await changed.wait()
        except ZooKeeperError as error:
            log.info("/brokers/ids is not followed any more: %r", error)

    async def wait(self, session_timeout_s: float) -> None:
        """Return when all expected brokers are registered, or on timeout."""
        timeout_s = min(MAX_WAIT_S, session_timeout_s * SHARE_OF_TIMEOUT)
        try:
            async with asyncio.timeout(timeout_s):
                while not self._expected <= self._registered:
                    self._read.clear()
                    await self._read.wait()
        except TimeoutError:
            missing = sorted(self._expected - self._registered)
            log.warning("brokers %s are not back after %g s", missing, timeout_s)
        self.settled()
