"""What waits for partitions: produce and delete requests for replicas, fetches for records."""

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
"""What is asked of a log."""


class Purgatories:
    """Produce and delete requests that wait for replicas, and fetches that wait for records.

    All are keyed by partition, except the fetches of sessions: these are keyed by session, since
    they must not cost what all partitions of a session cost. Needs a running event loop from the
    start.
    """

    def __init__(self, slots: int, rng: random.Random) -> None:
        """Make it with ``slots`` for fetch sessions, whose ids are drawn."""
        self._timer = PurgatoryTimer()
        self.produce: Purgatory[TopicPartition] = self._timer.purgatory()
        self.fetch: Purgatory[TopicPartition | int] = self._timer.purgatory()
        self.sessions: PartitionFetchSessions = FetchSessions(
            slots, partial(rng.getrandbits, 31), on_closed=self.fetch.check_and_complete
        )
        self.deletions: Purgatory[TopicPartition] = self._timer.purgatory()
        self.changed: TopicPartition | None = None
        """While waiting fetches are tried because of one partition: which. A follower's fetch
        names thousands, and need not look at the others."""
        self._read: tuple[_Range, bytes | memoryview] | None = None
        """What was read last of the partition that has changed."""

    def wait_for_replicas(
        self, operation: DelayedOperation, partitions: list[TopicPartition]
    ) -> None:
        """Hold a produce request until its partitions are replicated, or its time is up."""
        self.produce.try_complete_else_watch(operation, partitions, self._timer.now())

    def wait_for_records(
        self,
        operation: DelayedOperation,
        keys: Iterable[TopicPartition | int],
        *,
        is_tried: bool = False,
    ) -> None:
        """Hold a fetch of partitions, or of a session, until there is enough, or time is up.

        ``is_tried`` says that its condition was looked at in this turn, and does not hold.
        """
        now = self._timer.now()
        if is_tried:
            self.fetch.watch(operation, keys, now)
        else:
            self.fetch.try_complete_else_watch(operation, keys, now)

    def begin_fetch(self, session: PartitionFetchSession) -> None:
        """End the wait of the session's fetch before: its answer is not expected any more."""
        self.fetch.check_and_complete(session.session_id)

    def wait_for_log_starts(
        self, operation: DelayedOperation, partitions: list[TopicPartition]
    ) -> None:
        """Hold a delete request until replicas have followed, or its time is up."""
        self.deletions.try_complete_else_watch(operation, partitions, self._timer.now())

    def appended(self, partition: TopicPartition, *, for_followers: bool = True) -> None:
        """Try the fetches that wait for records of ``partition``.

        Sessions of followers are tried only if it is ``for_followers``; they may tell of it.
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
        same records are read for the first of them only.
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
        """Let the sessions that fetch ``partition`` look at it in their next answers.

        For what no fetch waits for, as the start of the log or the ISR.
        """
        for session in self.sessions.watching(partition):
            session.mark(partition)

    def high_watermark_advanced(
        self, partition: TopicPartition, *, is_longer: bool = False
    ) -> None:
        """Try whatever waits for the high watermark of ``partition``.

        Followers do not, unless the log ``is_longer`` too.
        """
        self.produce.check_and_complete(partition)
        self.appended(partition, for_followers=is_longer)

    def role_changed(self, partition: TopicPartition) -> None:
        """Try whatever waits on ``partition``: this broker may no longer lead it."""
        self.produce.check_and_complete(partition)
        self.appended(partition)
        self.follower_log_start_changed(partition)

    def follower_log_start_changed(self, partition: TopicPartition) -> None:
        """Try what waits for followers of ``partition``: one has said where its log begins."""
        self.deletions.check_and_complete(partition)

    def shut_down(self) -> None:
        """Answer everything that waits."""
        self._timer.shut_down()
