"""The delayed operations on partitions: produce and delete requests, and fetches."""

import random
from collections.abc import Iterable
from functools import partial

from ballast.broker.replicas.purgatory_timer import PurgatoryTimer
from ballast.model.ids import TopicPartition
from ballast.protocol.messages.records.fetch import FetchPartition
from ballast.purgatory.operation import DelayedOperation
from ballast.purgatory.purgatory import Purgatory
from ballast.replication.fetch_session import FetchSession
from ballast.replication.fetch_sessions import FetchSessions
from ballast.storage.log.log import Log

PartitionFetchSession = FetchSession[TopicPartition, FetchPartition]
PartitionFetchSessions = FetchSessions[TopicPartition, FetchPartition]

_Range = tuple[Log, int, int, int, bool]
"""The arguments of a read."""


class Purgatories:
    """Produce and delete requests that wait for replicas, and fetches that wait for records.

    All are keyed by partition, except the fetches of sessions: these are keyed by session, so that
    their cost does not depend on the number of partitions in the session. Needs a running event
    loop.
    """

    def __init__(self, slots: int, rng: random.Random) -> None:
        """Make it with ``slots`` for fetch sessions; their ids are drawn from ``rng``."""
        self._timer = PurgatoryTimer()
        self.produce: Purgatory[TopicPartition] = self._timer.purgatory()
        self.fetch: Purgatory[TopicPartition | int] = self._timer.purgatory()
        self.sessions: PartitionFetchSessions = FetchSessions(
            slots, partial(rng.getrandbits, 31), on_closed=self.fetch.check_and_complete
        )
        self.deletions: Purgatory[TopicPartition] = self._timer.purgatory()
        self.changed: TopicPartition | None = None
        """The partition because of which waiting fetches are tried, if it is one. A follower's
        fetch names thousands, and need not check the others.
        """
        self._read: tuple[_Range, bytes | memoryview] | None = None
        """The last read of the partition that has changed."""

    def wait_for_replicas(
        self, operation: DelayedOperation, partitions: list[TopicPartition]
    ) -> None:
        """Hold a produce request until its partitions are replicated, or its timeout."""
        self.produce.try_complete_else_watch(operation, partitions, self._timer.now())

    def wait_for_records(
        self,
        operation: DelayedOperation,
        keys: Iterable[TopicPartition | int],
        *,
        is_tried: bool = False,
    ) -> None:
        """Hold a fetch of partitions, or of a session, until there is enough, or its timeout.

        ``is_tried`` says that its condition was checked in this turn, and does not hold.
        """
        now = self._timer.now()
        if is_tried:
            self.fetch.watch(operation, keys, now)
        else:
            self.fetch.try_complete_else_watch(operation, keys, now)

    def begin_fetch(self, session: PartitionFetchSession) -> None:
        """Complete the previous fetch of the session: its response is not needed any more."""
        self.fetch.check_and_complete(session.session_id)

    def wait_for_log_starts(
        self, operation: DelayedOperation, partitions: list[TopicPartition]
    ) -> None:
        """Hold a delete request until replicas have followed, or its timeout."""
        self.deletions.try_complete_else_watch(operation, partitions, self._timer.now())

    def appended(self, partition: TopicPartition, *, for_followers: bool = True) -> None:
        """Try the fetches that wait for records of ``partition``.

        Sessions of followers are tried only if it is ``for_followers``; otherwise they are marked.
        """
        self.changed = partition
        try:
            self.fetch.check_and_complete(partition)
            for session in self.sessions.watching(partition):
                session.mark(partition)
                if for_followers or session.replica_id < 0:
                    self.fetch.check_and_complete(session.session_id)
        finally:
            self.changed = self._read = None

    def read(
        self,
        log: Log,
        offset: int,
        upper_offset: int,
        max_bytes: int,
        *,
        at_least_one_batch: bool,
    ) -> bytes | memoryview:
        """Return and raise what `Log.read` does.

        Followers wait at the same offset: while their fetches are tried because of one append, the
        records are read for the first of them only.
        """
        if self.changed is None:
            return log.read(
                offset,
                max_bytes=max_bytes,
                upper_offset=upper_offset,
                at_least_one_batch=at_least_one_batch,
            )
        asked = (log, offset, upper_offset, max_bytes, at_least_one_batch)
        if self._read is not None and self._read[0] == asked:
            return self._read[1]
        records = log.read(
            offset,
            max_bytes=max_bytes,
            upper_offset=upper_offset,
            at_least_one_batch=at_least_one_batch,
        )
        self._read = asked, records
        return records

    def mark_changed(self, partition: TopicPartition) -> None:
        """Make the sessions that fetch ``partition`` include it in their next responses.

        For changes that no fetch waits for, as of the log start or the ISR.
        """
        for session in self.sessions.watching(partition):
            session.mark(partition)

    def high_watermark_advanced(
        self, partition: TopicPartition, *, is_longer: bool = False
    ) -> None:
        """Try the operations that wait for the high watermark of ``partition``.

        Followers do not, unless the log ``is_longer`` too.
        """
        self.produce.check_and_complete(partition)
        self.appended(partition, for_followers=is_longer)

    def role_changed(self, partition: TopicPartition) -> None:
        """Try all operations on ``partition``: this broker may not lead it any more."""
        self.produce.check_and_complete(partition)
        self.appended(partition)
        self.follower_log_start_changed(partition)

    def follower_log_start_changed(self, partition: TopicPartition) -> None:
        """Try the deletions of ``partition``: a follower has reported its log start."""
        self.deletions.check_and_complete(partition)

    def shut_down(self) -> None:
        """Complete everything that waits."""
        self._timer.shut_down()
