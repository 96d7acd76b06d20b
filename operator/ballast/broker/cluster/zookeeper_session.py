"""The broker's present ZooKeeper session, for the components that use it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from ballast.zk.broker_store.store import BrokerStore
from ballast.zk.errors import SessionExpired

MAX_SESSIONS: Final = 4
"""Sessions in which one call is tried."""

T = TypeVar("T")


class ZooKeeperSession:
    """Holds the store of the present session; callers wait while there is none."""

    def __init__(self) -> None:
        self._store: BrokerStore | None = None
        self._available = asyncio.Event()

    @property
    def store(self) -> BrokerStore | None:
        """The store, or None between two sessions."""
        return self._store

    def opened(self, store: BrokerStore) -> None:
        """Set the store of a new session."""
        self._store = store
        self._available.set()

    def ended(self) -> None:
        """Drop a session that has expired or was closed."""
        self._store = None
        self._available.clear()

    async def use(self, call: Callable[[BrokerStore], Awaitable[T]]) -> T:
        """Make an idempotent call, again in the next session if the session expires.

        It waits while there is no session: callers set their own deadline. Raises what the call
        raises, and `SessionExpired` after `MAX_SESSIONS`.
        """
        for _ in range(MAX_SESSIONS - 1):
            try:
                return await call(await self.wait())
            except SessionExpired:
                continue
        return await call(await self.wait())

    async def wait(self) -> BrokerStore:
        """Return the store as soon as there is one."""
        while self._store is None:
            await self._available.wait()
        return self._store
