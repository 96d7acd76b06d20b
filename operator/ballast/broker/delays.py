"""What waits for partitions: produce and delete requests for replicas, fetches for records."""

from ballast.broker.purgatory_timer import PurgatoryTimer
from ballast.model.ids import TopicPartition
from ballast.purgatory.operation import DelayedOperation
from ballast.purgatory.purgatory import Purgatory


class Delays:
    """Produce and delete requests that wait for replicas, and fetches that wait for records.

    All are keyed by partition. Needs a running event loop from the start.
    """

    def __init__(self) -> None:
        self._timer = PurgatoryTimer()
        self.produce: Purgatory[TopicPartition] = self._timer.purgatory()
        self.fetch: Purgatory[TopicPartition] = self._timer.purgatory()
        self.deletions: Purgatory[TopicPartition] = self._timer.purgatory()
        self.changed: TopicPartition | None = None
        """While waiting fetches are tried because of one partition: which. A follower's fetch
        names thousands, and need not look at the others."""

    def wait_for_replicas(
        self, operation: DelayedOperation, partitions: list[TopicPartition]
    ) -> None:
        """Hold a produce request until its partitions are replicated, or its time is up."""
        self.produce.try_complete_else_watch(operation, partitions, self._timer.now())

    def wait_for_records(
        self, operation: DelayedOperation, partitions: list[TopicPartition]
    ) -> None:
        """Hold a fetch until there is enough to answer it with, or its time is up."""
        self.fetch.try_complete_else_watch(operation, partitions, self._timer.now())

    def wait_for_log_starts(
        self, operation: DelayedOperation, partitions: list[TopicPartition]
    ) -> None:
        """Hold a delete request until replicas have followed, or its time is up."""
        self.deletions.try_complete_else_watch(operation, partitions, self._timer.now())

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
        self._timer.shut_down()
