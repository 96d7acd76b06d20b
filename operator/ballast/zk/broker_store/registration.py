"""A broker's registration: the ephemeral /brokers/ids/N, made by a multi of create and set.

The set makes the znode's version 1 from the start, as in Kafka (`CheckedEphemeral`, KAFKA-7165).
"""

import asyncio
from collections.abc import Collection

from ballast.model.brokers import RegisteredBroker
from ballast.zk import lost_replies
from ballast.zk.client import (
    Create,
    Delete,
    Operation,
    SetData,
    Stat,
    WatchEvent,
    ZooKeeperClient,
)
from ballast.zk.errors import (
    AlreadyRegistered,
    BadVersion,
    ConnectionLoss,
    MultiFailed,
    NodeExists,
    NoNode,
)
from ballast.znodes import broker_ids


async def register(
    client: ZooKeeperClient,
    broker: RegisteredBroker,
    now_ms: int,
    *,
    expired_sessions: Collection[int],
    patience_s: float,
) -> int:
    """Register a broker and return its epoch (the czxid of its znode).

    ``expired_sessions`` are this process's own earlier sessions: a znode that one of them left is
    replaced. A znode of another session may be that of this broker before a crash: it is waited
    for up to ``patience_s`` seconds, then `AlreadyRegistered` is raised.
    Raises `SessionExpired`; `ConnectionLoss` when connections keep breaking.
    """
    path = broker_ids.path(broker.broker_id)
    data = broker_ids.encode(broker, now_ms)
    fresh: tuple[Operation, ...] = (Create(path, ephemeral=True), SetData(path, data))
    try:
        async with asyncio.timeout(patience_s):
            while True:
                gone = asyncio.Event()
                stat = await _owner(client, path, gone)
                if stat is not None and stat.ephemeral_owner == client.session_id:
                    return stat.czxid
                operations = fresh
                if stat is not None:
                    if stat.ephemeral_owner not in expired_sessions:
                        await gone.wait()
                        continue
                    operations = (Delete(path, stat.version), *fresh)
                epoch = await _try(client, operations)
                if epoch is not None:
                    return epoch
    except TimeoutError as error:
        if client.is_silent(asyncio.get_running_loop().time()):
            raise ConnectionLoss(f"{path}: ZooKeeper does not answer") from error
        raise AlreadyRegistered(f"{path} belongs to another session") from error


async def unregister(client: ZooKeeperClient, broker_id: int) -> None:
    """Delete this session's registration; raises `SessionExpired`, `ConnectionLoss`."""
    path = broker_ids.path(broker_id)

    async def delete() -> None:
        stat = await client.exists(path)
        if stat is not None and stat.ephemeral_owner == client.session_id:
            try:
                await client.delete(path, stat.version)
            except NoNode:
                return

    await lost_replies.repeat(client, delete)


async def _owner(client: ZooKeeperClient, path: str, gone: asyncio.Event) -> Stat | None:
    def changed(_: WatchEvent) -> None:
        gone.set()

    return await lost_replies.repeat(client, lambda: client.exists(path, changed))


async def _try(client: ZooKeeperClient, operations: tuple[Operation, ...]) -> int | None:
    """Return the epoch, or None when the znode must be looked at again."""
    try:
        results = await client.multi(operations)
    except ConnectionLoss:
        await lost_replies.settle(client)
        return None
    except MultiFailed as failure:
        if not isinstance(failure.error, NodeExists | NoNode | BadVersion):
            raise failure.error from failure
        if isinstance(failure.error, NoNode) and not isinstance(operations[0], Delete):
            # /brokers/ids itself is missing: no repetition would help.
            raise failure.error from failure
        return None
    stat = results[-1]
    assert isinstance(stat, Stat)
    return stat.czxid
