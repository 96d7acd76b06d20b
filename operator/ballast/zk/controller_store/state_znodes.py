"""Conditional writes of state znodes, hundreds per multi, with the outcome of each.

One stale version fails its whole multi, and a lost reply leaves the outcome of a whole multi
unknown. In both cases the states are read again, which shows those that were written, are stale, or
can be retried. So any number of stale states costs one more round, not a write each.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from ballast.controller.errors import ControllerMoved
from ballast.controller.state.ports import StateZnodeWrites
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.zk import lost_replies
from ballast.zk.client import Create, Operation, SetData, Stat, ZooKeeperClient
from ballast.zk.controller_store.fencing import FencedWriter, grouped
from ballast.zk.errors import (
    BadVersion,
    ConnectionLoss,
    MultiFailed,
    NodeExists,
    NoNode,
    ZooKeeperError,
)
from ballast.znodes import partition_states, topics

RUNS_IN_FLIGHT = 8
"""Multis sent before the first of them is answered."""


@dataclass(slots=True)
class _Progress:
    """What is known of the partitions of one call."""

    pending: dict[TopicPartition, LeaderAndIsr]
    written: dict[TopicPartition, LeaderAndIsr] = field(default_factory=dict)
    stale: set[TopicPartition] = field(default_factory=set)
    is_reply_lost: bool = False
    """A multi of this call may have been applied: a znode with one's own data is one's own."""
    failure: Exception | None = None
    """What ends the call once everything that was sent is answered."""

    def succeed(self, partition: TopicPartition, zk_version: int) -> None:
        leadership = self.pending.pop(partition)
        self.written[partition] = leadership.at_version(zk_version)

    def refuse(self, partition: TopicPartition) -> None:
        del self.pending[partition]
        self.stale.add(partition)

    def result(self) -> StateZnodeWrites:
        # What is still pending after the last round may have been written: it must be read again.
        return StateZnodeWrites(
            written=self.written, stale=frozenset(self.stale.union(self.pending))
        )


class StateZnodeWriter:
    """Writes states in the name of one elected controller.

    Methods raise `ControllerMoved`, `SessionExpired`, and `ConnectionLoss` when connections keep
    breaking.
    """

    def __init__(self, client: ZooKeeperClient, writer: FencedWriter) -> None:
        self._client = client
        self._writer = writer

    async def update(self, leadership: Mapping[TopicPartition, LeaderAndIsr]) -> StateZnodeWrites:
        """Write each state if its znode's version still is its ``zk_version``."""
        progress = _Progress(pending=dict(leadership))
        for _ in range(lost_replies.MAX_ATTEMPTS):
            states = tuple(progress.pending.items())
            await self._write_pending(progress, (_writing(*state) for state in states))
            if not progress.pending:
                break
            if progress.is_reply_lost:
                await lost_replies.settle(self._client)
            await self._sort_out_updates(progress)
        return progress.result()

    async def create(self, leadership: Mapping[TopicPartition, LeaderAndIsr]) -> StateZnodeWrites:
        """Create the states, with /partitions and /partitions/P where they are missing."""
        progress = _Progress(pending=dict(leadership))
        for _ in range(lost_replies.MAX_ATTEMPTS):
            parents = await self._sort_out_creations(progress)
            await self._write_pending(
                progress, (_creating(*state, parents) for state in tuple(progress.pending.items()))
            )
            if not progress.pending:
                break
            if progress.is_reply_lost:
                await lost_replies.settle(self._client)
        return progress.result()

    async def _write_pending(
        self, progress: _Progress, groups: Iterable[Sequence[Operation]]
    ) -> None:
        """Write what is pending, many multis at a time; what is in the way stays pending."""
        runs = _runs(tuple(progress.pending), groups)
        while first := next(runs, None):
            async with asyncio.TaskGroup() as group:
                for run in chain((first,), islice(runs, RUNS_IN_FLIGHT - 1)):
                    group.create_task(self._write_run(progress, *run))
                    # Sends it: the next one is encoded while ZooKeeper works on this one.
                    await asyncio.sleep(0)
            if progress.failure is not None:
                raise progress.failure

    async def _write_run(
        self,
        progress: _Progress,
        partitions: Sequence[TopicPartition],
        operations: Sequence[Operation],
    ) -> None:
        """Write one multi; a failure that ends the call is kept until the others are answered."""
        try:
            results = await self._writer.multi(operations)
        except ConnectionLoss:
            progress.is_reply_lost = True
        except MultiFailed as failure:
            if not isinstance(failure.error, BadVersion | NoNode | NodeExists):
                progress.failure = failure.error
        except (ControllerMoved, ZooKeeperError) as failure:
            progress.failure = failure
        else:
            # A created znode has version 0; the result of its operation has the path only.
            versions = [result.version for result in results if isinstance(result, Stat)]
            for partition, version in zip(
                partitions, versions or [0] * len(partitions), strict=True
            ):
                progress.succeed(partition, version)

    async def _sort_out_updates(self, progress: _Progress) -> None:
        for partition, node in (await self._read_states(progress)).items():
            state = progress.pending[partition]
            if node is None:
                progress.refuse(partition)
            elif node[1].version == state.zk_version:
                continue
            elif (
                progress.is_reply_lost
                and node[1].version == state.zk_version + 1
                and node[0] == partition_states.encode(state)
            ):
                progress.succeed(partition, node[1].version)
            else:
                progress.refuse(partition)

    async def _sort_out_creations(self, progress: _Progress) -> set[str]:
        """Settle what exists already; return those parents of the pending states that exist."""
        names = sorted({partition.topic for partition in progress.pending})
        paths = [topics.path(name) for name in names]
        paths += [topics.partitions_path(name) for name in names]
        parents = await self._existing(paths)
        for partition in list(progress.pending):
            if topics.path(partition.topic) not in parents:
                progress.refuse(partition)
        grown = [p for p in progress.pending if topics.partitions_path(p.topic) in parents]
        if grown:
            parents |= await self._existing([partition_states.partition_path(p) for p in grown])
            for partition, node in (await self._read_states(progress)).items():
                if node is None:
                    continue
                mine = partition_states.encode(progress.pending[partition])
                if progress.is_reply_lost and node[1].version == 0 and node[0] == mine:
                    progress.succeed(partition, 0)
                else:
                    progress.refuse(partition)
        return parents

    async def _read_states(
        self, progress: _Progress
    ) -> dict[TopicPartition, tuple[bytes, Stat] | None]:
        partitions = tuple(progress.pending)
        paths = [partition_states.path(partition) for partition in partitions]
        found = await lost_replies.repeat(self._client, lambda: self._client.multi_read(paths))
        return dict(zip(partitions, found, strict=True))

    async def _existing(self, paths: Sequence[str]) -> set[str]:
        found = await lost_replies.repeat(self._client, lambda: self._client.multi_read(paths))
        return {path for path, node in zip(paths, found, strict=True) if node is not None}


def _writing(partition: TopicPartition, state: LeaderAndIsr) -> Sequence[Operation]:
    data = partition_states.encode(state)
    return (SetData(partition_states.path(partition), data, state.zk_version),)


def _creating(
    partition: TopicPartition, state: LeaderAndIsr, parents: set[str]
) -> Sequence[Operation]:
    """Return what creates a state and those of its parents that are not in ``parents`` yet."""
    above = (
        topics.partitions_path(partition.topic),
        partition_states.partition_path(partition),
    )
    missing: list[Operation] = [Create(path) for path in above if path not in parents]
    parents.update(above)
    created = Create(partition_states.path(partition), partition_states.encode(state))
    return (*missing, created)


def _runs(
    partitions: Sequence[TopicPartition], groups: Iterable[Sequence[Operation]]
) -> Iterator[tuple[Sequence[TopicPartition], list[Operation]]]:
    """Cut the partitions and their operations into runs of one multi each."""
    start = 0
    for run in grouped(groups):
        end = start + len(run)
        yield partitions[start:end], [operation for group in run for operation in group]
        start = end
