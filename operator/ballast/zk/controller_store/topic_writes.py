"""Fenced writes of topics: create, rewrite, delete, and requests for deletion."""

from collections.abc import Collection, Mapping

from ballast.model.topics import TopicAssignment
from ballast.zk import lost_replies
from ballast.zk.client import Create, Delete, Operation, SetData, ZooKeeperClient
from ballast.zk.controller_store.fencing import FencedWriter
from ballast.zk.errors import ConnectionLoss, MultiFailed, NodeExists, NoNode, NotEmpty
from ballast.znodes import configs, delete_topics, topics


class TopicWriter:
    """Writes topics in the name of one elected controller.

    Methods raise `ControllerMoved`, `SessionExpired`, and `ConnectionLoss` when connections keep
    breaking.
    """

    def __init__(self, client: ZooKeeperClient, writer: FencedWriter) -> None:
        self._client = client
        self._writer = writer

    async def write(self, assignments: Collection[TopicAssignment]) -> None:
        """Write the assignments of existing topics; one that is gone is left out."""
        await self._writer.apply(
            [SetData(topics.path(t.topic), topics.encode(t)) for t in assignments]
        )

    async def create(self, topic: TopicAssignment, config: Mapping[str, str]) -> bool:
        """Write config and assignment of a new topic in one multi; return False if it exists.

        A config that an earlier topic of that name left behind is overwritten.
        """
        path, data = topics.path(topic.topic), topics.encode(topic)
        config_path = configs.path(configs.topic_entity(topic.topic))
        config_data = configs.encode(config)
        config_write: Operation = Create(config_path, config_data)
        for _ in range(lost_replies.MAX_ATTEMPTS):
            try:
                await self._writer.multi((config_write, Create(path, data)))
            except ConnectionLoss:
                await lost_replies.settle(self._client)
                stored = await self._read(path)
                if stored is not None:
                    # The topic id in the data distinguishes this attempt from another client's.
                    return stored == data
            except MultiFailed as failure:
                if failure.index == 1 and isinstance(failure.error, NodeExists):
                    return False
                if failure.index == 0 and isinstance(failure.error, NodeExists):
                    config_write = SetData(config_path, config_data)
                elif failure.index == 0 and isinstance(failure.error, NoNode):
                    config_write = Create(config_path, config_data)
                else:
                    raise failure.error from failure
            else:
                return True
        raise ConnectionLoss(f"{path} could not be created")

    async def delete(self, topic: str) -> None:
        """Delete all znodes of a topic, children first, the request for deletion last.

        Large topics take several multis; a controller that fails over in between finds the
        request for deletion still there. What appears meanwhile is deleted too.
        """
        for _ in range(lost_replies.MAX_ATTEMPTS):
            try:
                await self._writer.apply(await self._plan_deletion(topic))
            except NotEmpty:
                continue
            return
        raise NotEmpty(topics.path(topic))

    async def request_deletion(self, topic: str) -> None:
        """Create /admin/delete_topics/T unless it exists."""
        path = delete_topics.path(topic)
        for _ in range(lost_replies.MAX_ATTEMPTS):
            try:
                await self._writer.multi((Create(path),))
            except ConnectionLoss:
                await lost_replies.settle(self._client)
            except MultiFailed as failure:
                if not isinstance(failure.error, NodeExists):
                    raise failure.error from failure
                return
            else:
                return
        raise ConnectionLoss(f"{path} could not be created")

    async def forget_deletions(self, names: Collection[str]) -> None:
        """Delete /admin/delete_topics/T of several topics."""
        await self._writer.apply([Delete(delete_topics.path(name)) for name in sorted(names)])

    async def _plan_deletion(self, topic: str) -> list[Operation]:
        above = topics.partitions_path(topic)
        try:
            numbers = await lost_replies.repeat(self._client, lambda: self._client.children(above))
        except NoNode:
            numbers = []
        numbers.sort(key=lambda name: (len(name), name))
        paths = [path for n in numbers for path in (f"{above}/{n}/state", f"{above}/{n}")]
        paths += [above, topics.path(topic)]
        paths += [configs.path(configs.topic_entity(topic)), delete_topics.path(topic)]
        found = await lost_replies.repeat(self._client, lambda: self._client.multi_read(paths))
        return [Delete(p) for p, node in zip(paths, found, strict=True) if node is not None]

    async def _read(self, path: str) -> bytes | None:
        try:
            data, _ = await lost_replies.repeat(self._client, lambda: self._client.get(path))
        except NoNode:
            return None
        return data
