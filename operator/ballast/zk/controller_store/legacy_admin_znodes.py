"""The znodes through which tools and leaders speak to the controller: read, rewritten, deleted."""

from collections.abc import Callable, Collection, Mapping

from ballast.model.ids import TopicPartition
from ballast.zk import lost_replies
from ballast.zk.client import (
    Create,
    Delete,
    SetData,
    Stat,
    Watch,
    WatchEvent,
    WatchKind,
    ZooKeeperClient,
)
from ballast.zk.controller_store.fencing import FencedWriter
from ballast.zk.controller_store.watches import ControllerWatches
from ballast.zk.errors import ConnectionLoss, MultiFailed, NodeExists, NoNode
from ballast.znodes import (
    isr_changes,
    log_dir_events,
    preferred_replica_election,
    reassign_partitions,
)
from ballast.znodes.errors import ZnodeError


class AdminZnodes:
    """/admin/reassign_partitions, /admin/preferred_replica_election, and the notifications."""

    def __init__(
        self,
        client: ZooKeeperClient,
        writer: FencedWriter,
        watches: ControllerWatches,
        on_unreadable: Callable[[ZnodeError], None],
    ) -> None:
        self._client = client
        self._writer = writer
        self._watches = watches
        self._on_unreadable = on_unreadable

    async def read_reassignments(self) -> Mapping[TopicPartition, tuple[int, ...]]:
        """Return the reassignments asked for; unreadable content counts as none."""
        data = await self._watched(reassign_partitions.PATH, self._watches.reassignments_changed)
        try:
            return {} if data is None else reassign_partitions.decode(data)
        except ZnodeError as error:
            self._on_unreadable(error)
            return {}

    async def read_preferred_elections(self) -> frozenset[TopicPartition]:
        """Return the preferred elections asked for; unreadable content counts as none."""
        data = await self._watched(
            preferred_replica_election.PATH, self._watches.preferred_election_changed
        )
        try:
            return frozenset() if data is None else preferred_replica_election.decode(data)
        except ZnodeError as error:
            self._on_unreadable(error)
            return frozenset()

    async def write_reassignments(
        self, reassignments: Mapping[TopicPartition, tuple[int, ...]]
    ) -> None:
        """Rewrite the reassignments, or delete their znode when nothing is left.

        The write uses up the watch, which is armed again here: whatever another hand writes after
        this write is reported.
        """
        path = reassign_partitions.PATH
        watch = self._watches.reassignments_changed
        with self._watches.writing_reassignments():
            if reassignments:
                left = await self._set_or_create(path, reassign_partitions.encode(reassignments))
            else:
                await self._writer.apply((Delete(path),))
                left = None
            stat = await lost_replies.repeat(self._client, lambda: self._client.exists(path, watch))
        if (stat is None) != (left is None) or (stat is not None and stat != left):
            watch(WatchEvent(WatchKind.CHANGED, path))

    async def delete_preferred_elections(self) -> None:
        """Delete /admin/preferred_replica_election."""
        await self._writer.apply((Delete(preferred_replica_election.PATH),))

    async def delete_isr_notifications(self, names: Collection[str]) -> None:
        await self._writer.apply([Delete(isr_changes.path(name)) for name in sorted(names)])

    async def delete_log_dir_events(self, names: Collection[str]) -> None:
        await self._writer.apply([Delete(log_dir_events.path(name)) for name in sorted(names)])

    async def _watched(self, path: str, watch: Watch) -> bytes | None:
        """Return the data or None; ``watch`` sees creation, change and deletion."""

        async def read() -> bytes | None:
            if await self._client.exists(path, watch) is None:
                return None
            try:
                return (await self._client.get(path))[0]
            except NoNode:
                # It went between the two reads; the watch has been called.
                return None

        return await lost_replies.repeat(self._client, read)

    async def _set_or_create(self, path: str, data: bytes) -> Stat | None:
        """Write a znode whether it exists or not, and return its stat then."""
        for _ in range(lost_replies.MAX_ATTEMPTS):
            stat = await lost_replies.repeat(self._client, lambda: self._client.exists(path))
            write = Create(path, data) if stat is None else SetData(path, data)
            try:
                results = await self._writer.multi((write,))
            except ConnectionLoss:
                await lost_replies.settle(self._client)
            except MultiFailed as failure:
                if not isinstance(failure.error, NoNode | NodeExists):
                    raise failure.error from failure
            else:
                if isinstance(results[0], Stat):
                    return results[0]
                return await lost_replies.repeat(self._client, lambda: self._client.exists(path))
        raise ConnectionLoss(f"{path} could not be written")
