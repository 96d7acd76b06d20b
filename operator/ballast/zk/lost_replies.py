"""What to do when a reply was lost: wait for the session to come back, then read.

A write whose reply was lost may have been applied. Only reading tells (KAFKA-1387, KAFKA-12751),
and only after a `sync`, since the client may have come back to a server that lags.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ballast.zk.client import ZooKeeperClient
from ballast.zk.errors import ConnectionLoss

MAX_ATTEMPTS = 8
"""Lost connections in a row that one call survives."""

T = TypeVar("T")


async def settle(client: ZooKeeperClient) -> None:
    """Return when reads show the outcome of every earlier call of this session.

    Raises `SessionExpired`, or `ConnectionLoss` when connections keep breaking.
    """
    await repeat(client, lambda: client.sync("/"))


async def repeat(client: ZooKeeperClient, call: Callable[[], Awaitable[T]]) -> T:
    """Make a call that may be made twice, again after each lost connection.

    It waits for as long as ZooKeeper is away: a caller with a deadline sets its own. Raises what
    the call raises, `SessionExpired`, or `ConnectionLoss` after `MAX_ATTEMPTS`.
    """
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return await call()
        except ConnectionLoss:
            await client.wait_connected()
    return await call()
