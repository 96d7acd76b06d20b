"""Writes proposed ISR changes to ZooKeeper, and resolves writes whose outcome was lost.

A leader has at most one change in flight (`LeaderView` ensures it). The write is a compare-and-set
on the partition's state znode; controllers are notified in batches by ``/isr_change_notification``.
Until the outcome is known, the view counts over the maximal ISR (reliability P7). After a lost
reply the znode is read again, and the change is written again if it was not applied.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from ballast.broker.cluster.zookeeper_session import ZooKeeperSession
from ballast.broker.metrics.metrics import BrokerMetrics
from ballast.broker.partitions.partition import Partition
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.replication.partition import LeaderView
from ballast.zk.broker_store.store import BrokerStore, IsrCommitted
from ballast.zk.errors import ConnectionLoss, SessionExpired, ZooKeeperError
from ballast.znodes.errors import ZnodeError

log = logging.getLogger(__name__)

WRITERS: Final = 16
"""Concurrent writes; ZooKeeper executes them one after another anyway."""

RETRY_S: Final = 0.1
"""Pause before a write with unknown outcome is retried."""

NOTIFICATION_GATHER_S: Final = 0.01
"""Changes within this time of the first share its notification; reassignments wait for it."""

NOTIFICATION_PAUSE_S: Final = 0.2
"""Pause between two notifications, so that many changes share few of them (Kafka: 5 s)."""

NOTIFICATION_MAX_PARTITIONS: Final = 3000
"""Partitions of one notification znode, as in Kafka: a znode holds less than 1 MiB."""


class IsrWriter:
    """A bounded number of tasks that write proposed ISR changes.

    ``on_settled`` is called after each change of a view's ISR, so that the high watermark and the
    requests that wait for it can follow.
    """

    def __init__(
        self,
        session: ZooKeeperSession,
        metrics: BrokerMetrics,
        on_settled: Callable[[Partition], None],
    ) -> None:
        self._session = session
        self._metrics = metrics
        self._on_settled = on_settled
        # At most one entry per partition: each has at most one change in flight.
        self._proposed: deque[tuple[Partition, LeaderView, LeaderAndIsr]] = deque()
        self._work = asyncio.Semaphore(0)
        self._changed: dict[TopicPartition, None] = {}
        self._changes = asyncio.Event()

    def submit(self, partition: Partition, proposed: LeaderAndIsr) -> None:
        """Queue the change that ``partition``'s view has just proposed."""
        assert partition.view is not None, "only a leader proposes"
        self._proposed.append((partition, partition.view, proposed))
        self._work.release()

    async def run(self) -> None:
        """Write changes until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(WRITERS):
                tasks.create_task(self._write_changes())
            tasks.create_task(self._notify())

    async def _write_changes(self) -> None:
        while True:
            await self._work.acquire()
            partition, view, proposed = self._proposed.popleft()
            await self._write(partition, view, proposed)

    async def _write(self, partition: Partition, view: LeaderView, proposed: LeaderAndIsr) -> None:
        """Write one change until its outcome is known, or another leader epoch has begun."""
        again: LeaderAndIsr | None = proposed
        while again is not None and partition.view is view:
            attempt = again
            store = await self._session.wait()
            try:
                await self._attempt(store, partition, view, attempt)
                again = None
            except (ConnectionLoss, SessionExpired):
                await asyncio.sleep(RETRY_S)
                again = await self._read_again(partition, view, attempt)
            except (ZooKeeperError, ZnodeError) as error:
                log.warning("isr of %s cannot be written: %r", partition.name, error)
                await asyncio.sleep(RETRY_S)
        if partition.view is view:
            self._on_settled(partition)

    async def _attempt(
        self, store: BrokerStore, partition: Partition, view: LeaderView, proposed: LeaderAndIsr
    ) -> None:
        outcome = await store.alter_isr(partition.name, proposed)
        if partition.view is not view:
            return
        if isinstance(outcome, IsrCommitted):
            self._count(len(view.isr), len(outcome.leadership.isr))
            view.isr_committed(outcome.leadership)
            self._tell(partition)
        elif outcome.leadership is not None:
            view.isr_conflict(outcome.leadership)
        log.info("isr of %s is %s", partition.name, sorted(view.isr))

    def _tell(self, partition: Partition) -> None:
        self._changed[partition.name] = None
        self._changes.set()

    async def _read_again(
        self, partition: Partition, view: LeaderView, proposed: LeaderAndIsr
    ) -> LeaderAndIsr | None:
        store = await self._session.wait()
        try:
            read = await store.read_leadership(partition.name)
        except (ZooKeeperError, ZnodeError):
            return proposed
        if read is None or partition.view is not view:
            return None
        again = view.isr_read(read)
        if again is None and not view.is_superseded:
            self._tell(partition)
        return again

    def _count(self, before: int, after: int) -> None:
        if after < before:
            self._metrics.isr_shrinks.inc()
        else:
            self._metrics.isr_expands.inc()

    async def _notify(self) -> None:
        """Notify controllers of changes; a notification that may be lost is sent again."""
        while True:
            await self._changes.wait()
            await asyncio.sleep(NOTIFICATION_GATHER_S)
            batch = list(self._changed)[:NOTIFICATION_MAX_PARTITIONS]
            # Removed before the write: changes meanwhile need another notification.
            for partition in batch:
                del self._changed[partition]
            store = await self._session.wait()
            try:
                await store.notify_isr_changes(batch)
            except ZooKeeperError as error:
                log.info("cannot write the ISR notification, retrying: %r", error)
                self._changed.update(dict.fromkeys(batch))
                await asyncio.sleep(RETRY_S)
            if not self._changed:
                self._changes.clear()
            await asyncio.sleep(NOTIFICATION_PAUSE_S)
