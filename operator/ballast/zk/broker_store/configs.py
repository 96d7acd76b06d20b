"""Configs of topics and brokers, and the notifications that make brokers read them again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ballast.zk import lost_replies
from ballast.zk.client import (
    Check,
    Create,
    Operation,
    SetData,
    WatchEvent,
    ZooKeeperClient,
)
from ballast.zk.errors import BadVersion, ConnectionLoss, MultiFailed, NodeExists, NoNode
from ballast.znodes import config_changes, configs, topics
from ballast.znodes.errors import ZnodeError

NO_ZNODE = -1
"""The version of a config that was never written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityConfig:
    """The overrides of one entity and the version that a write must name."""

    values: Mapping[str, str]
    version: int
    """`NO_ZNODE` when the entity has no config yet."""


async def read(client: ZooKeeperClient, entity: str) -> EntityConfig:
    """Return an entity's overrides; raises `ZnodeError`."""
    return (await read_many(client, (entity,)))[entity]


async def read_many(client: ZooKeeperClient, entities: Sequence[str]) -> dict[str, EntityConfig]:
    """Return the overrides of several entities; raises `ZnodeError`."""
    paths = [configs.path(entity) for entity in entities]
    found = await lost_replies.repeat(client, lambda: client.multi_read(paths))
    return {
        entity: EntityConfig(values={}, version=NO_ZNODE)
        if node is None
        else EntityConfig(values=configs.decode(entity, node[0]), version=node[1].version)
        for entity, node in zip(entities, found, strict=True)
    }


async def write(
    client: ZooKeeperClient,
    entity: str,
    values: Mapping[str, str],
    version: int,
    *,
    topic: str | None = None,
) -> EntityConfig:
    """Replace an entity's overrides and notify the brokers, in one multi.

    Raises `BadVersion` when the config is not at ``version``, `NoNode` when ``topic`` is given and
    does not exist, `ConnectionLoss` when connections keep breaking.
    """
    path = configs.path(entity)
    data = configs.encode(values)
    wanted = EntityConfig(values=dict(values), version=version + 1)
    operations: list[Operation] = [
        Create(path, data) if version == NO_ZNODE else SetData(path, data, version),
        Create(config_changes.PREFIX, config_changes.encode(entity), sequential=True),
    ]
    if topic is not None:
        # A config written beside a deletion of its topic would outlive it.
        operations.append(Check(topics.path(topic)))
    for _ in range(lost_replies.MAX_ATTEMPTS):
        try:
            await client.multi(operations)
        except ConnectionLoss:
            await lost_replies.settle(client)
            current = await read(client, entity)
            if current == wanted:
                return current
            if current.version != version:
                raise BadVersion(path) from None
        except MultiFailed as failure:
            if isinstance(failure.error, NodeExists) or (
                isinstance(failure.error, NoNode) and failure.index == 0
            ):
                raise BadVersion(path) from failure
            raise failure.error from failure
        else:
            return wanted
    raise ConnectionLoss(f"{path} could not be written")


class ConfigChangeFeed:
    """The notifications below /config/changes that one broker has not seen yet."""

    def __init__(self, client: ZooKeeperClient) -> None:
        self._client = client
        self._last_seen = -1
        self._callback: Callable[[], None] = _no_watcher

    async def watch(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when there may be news; what is there now is no news."""
        self._callback = callback
        names = await self._names()
        self._last_seen = max((sequence for sequence, _ in names), default=-1)

    async def read(self, now_ms: int) -> list[str]:
        """Return the entities notified since the last call, each once; purge old notifications."""
        names = await self._names()
        paths = [config_changes.path(name) for _, name in names]
        found = await lost_replies.repeat(self._client, lambda: self._client.multi_read(paths))
        entities: dict[str, None] = {}
        for (sequence, name), node in zip(names, found, strict=True):
            if node is None:
                continue
            data, stat = node
            if sequence > self._last_seen:
                entities.update(_entity(name, data))
            if now_ms - stat.ctime_ms > config_changes.RETENTION_MS:
                await self._purge(config_changes.path(name))
        self._last_seen = max([self._last_seen, *(sequence for sequence, _ in names)])
        return list(entities)

    async def _names(self) -> list[tuple[int, str]]:
        children = await lost_replies.repeat(
            self._client, lambda: self._client.children(config_changes.PATH, self._changed)
        )
        numbered = ((config_changes.sequence_of(name), name) for name in children)
        return sorted((number, name) for number, name in numbered if number is not None)

    async def _purge(self, path: str) -> None:
        try:
            await self._client.delete(path)
        except (NoNode, ConnectionLoss):
            # Another broker purged it, or the next round will.
            return

    def _changed(self, _: WatchEvent) -> None:
        self._callback()


def _entity(name: str, data: bytes) -> dict[str, None]:
    """Return the entity as the only key, or nothing for a notification that cannot be read."""
    try:
        return {config_changes.decode(name, data): None}
    except ZnodeError:
        return {}


def _no_watcher() -> None:
    """Do nothing, until a watch is set."""
