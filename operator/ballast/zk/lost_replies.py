"""Calls whose reply was lost: wait until the session is connected again, then read.

A write whose reply was lost may have been applied. Only a read shows
whether it was (KAFKA-1387, KAFKA-12751), and only after a `sync`, since the client may be connected
to a server that lags.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ballast.zk.client import ZooKeeperClient
from ballast.zk.errors import ConnectionLoss

MAX_ATTEMPTS = 8
"""Attempts per call: it is repeated after a lost connection."""

T = TypeVar("T")


async def settle(client: ZooKeeperClient) -> None:
    """Return when reads show the outcome of every earlier call of this session.

    Raises `SessionExpired`, or `ConnectionLoss` when connections keep breaking.
    """
    await repeat(client, lambda: client.sync("/"))


async def repeat(client: ZooKeeperClient, call: Callable[[], Awaitable[T]]) -> T:
    """Make an idempotent call, and repeat it after each lost connection.

    It waits until ZooKeeper is available; a caller with a deadline sets a timeout. Raises what
    the call raises, `SessionExpired`, or `ConnectionLoss` after `MAX_ATTEMPTS`.
    """
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return await call()
        except ConnectionLoss:
            await client.wait_connected()
    return await call()
