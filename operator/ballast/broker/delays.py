"""The two purgatories of a broker, and the timer that keeps them going."""

import asyncio

from ballast.model.ids import TopicPartition
from ballast.purgatory.operation import DelayedOperation
from ballast.purgatory.purgatory import Purgatory


class Delays:
    """Produce requests that wait for replicas, and fetches that wait for records.

    Both are keyed by partition. Needs a running event loop from the start.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        now = self._loop.time()
        self.produce: Purgatory[TopicPartition] = Purgatory(now, on_earlier_expiry=self._arm)
        self.fetch: Purgatory[TopicPartition] = Purgatory(now, on_earlier_expiry=self._arm)
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

    def shut_down(self) -> None:
        """Answer everything that waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.produce.shut_down()
        self.fetch.shut_down()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        expiries = [
            expiry
            for expiry in (self.produce.next_expiry(), self.fetch.next_expiry())
            if expiry is not None
        ]
        if expiries:
            self._timer = self._loop.call_at(min(expiries), self._advance)

    def _advance(self) -> None:
        self._timer = None
        now = self._loop.time()
        self.produce.advance(now)
        self.fetch.advance(now)
        self._arm()
