"""The purgatories of a broker, and the timer that keeps them going."""

import asyncio

from ballast.model.ids import TopicPartition
from ballast.purgatory.operation import DelayedOperation
from ballast.purgatory.purgatory import Purgatory


class Delays:
    """Produce and delete requests that wait for replicas, and fetches that wait for records.

    All are keyed by partition. Needs a running event loop from the start.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        now = self._loop.time()
        self.produce: Purgatory[TopicPartition] = Purgatory(now, on_earlier_expiry=self._arm)
        self.fetch: Purgatory[TopicPartition] = Purgatory(now, on_earlier_expiry=self._arm)
        self.deletions: Purgatory[TopicPartition] = Purgatory(now, on_earlier_expiry=self._arm)
        self.changed: TopicPartition | None = None
        """While waiting fetches are tried because of one partition: which. A follower's fetch
        names thousands, and need not look at the others."""

    def wait_for_replicas(
        self, operation: DelayedOperation, partitions: list[TopicPartition]
    ) -> None:
        """Hold a produce request until its partitions are replicated, or its time is up."""
        self.produce.try_complete_else_watch(operation, partitions, self._loop.time())

    def wait_for_records(
        self, operation: DelayedOperation, partitions: list[TopicPartition]
    ) -> None:
        """Hold a fetch until there is enough to answer it with, or its time is up."""
        self.fetch.try_complete_else_watch(operation, partitions, self._loop.time())

    def wait_for_log_starts(
        self, operation: DelayedOperation, partitions: list[TopicPartition]
    ) -> None:
        """Hold a delete request until replicas have followed, or its time is up."""
        self.deletions.try_complete_else_watch(operation, partitions, self._loop.time())

    def appended(self, partition: TopicPartition) -> None:
        """Try the fetches that wait for records of ``partition``."""
        self.changed = partition
        try:
            self.fetch.check_and_complete(partition)
        finally:
            self.changed = None

    def high_watermark_advanced(self, partition: TopicPartition) -> None:
        """Try whatever waits for the high watermark of ``partition``."""
        self.produce.check_and_complete(partition)
        self.appended(partition)

    def role_changed(self, partition: TopicPartition) -> None:
        """Try whatever waits on ``partition``: this broker may no longer lead it."""
        self.high_watermark_advanced(partition)
        self.log_start_told(partition)

    def log_start_told(self, partition: TopicPartition) -> None:
        """Try what waits for followers of ``partition``: one has said where its log begins."""
        self.deletions.check_and_complete(partition)

    def shut_down(self) -> None:
        """Answer everything that waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.produce.shut_down()
        self.fetch.shut_down()
        self.deletions.shut_down()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        expiries = [
            expiry
            for purgatory in (self.produce, self.fetch, self.deletions)
            if (expiry := purgatory.next_expiry()) is not None
        ]
        if expiries:
            self._timer = self._loop.call_at(min(expiries), self._advance)

    def _advance(self) -> None:
        self._timer = None
        now = self._loop.time()
        self.produce.advance(now)
        self.fetch.advance(now)
        self.deletions.advance(now)
        self._arm()
