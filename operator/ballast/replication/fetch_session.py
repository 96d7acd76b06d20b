"""One incremental fetch session on the leader's side (KIP-227; Kafka's ``FetchSession``).

A peer names its partitions once. Later requests name only partitions whose positions have changed,
and responses only those with records or changed offsets. The cost of a fetch must not grow with
the size of the session. So a session lists the *pending* partitions: those that the next response
has to check. The others are *idle*: a read of them would return nothing, and the peer has their
offsets. Every change of a partition makes it pending (`mark`).

A follower's fetch acknowledges for every partition of its session, including idle ones. They are
not updated then: an idle partition is at the end of the leader's log, so it is caught up as of the
session's last fetch, and the leader's view gets that time when the partition becomes pending.
"""

from collections.abc import Iterable
from typing import Generic, TypeVar

from ballast.model.settings.values import INT_MAX
from ballast.replication.partition import LeaderView

Key = TypeVar("Key")
Asked = TypeVar("Asked")

NO_SESSION = 0
"""Id of a fetch that belongs to no session."""
INITIAL_EPOCH = 0
"""Epoch of a fetch that names all partitions and asks for a new session."""
FINAL_EPOCH = -1
"""Epoch of a fetch that names all partitions, ends its session and starts none."""
_MAX_EPOCH = INT_MAX


def next_epoch(epoch: int) -> int:
    """Return the epoch of the fetch after one of ``epoch`` (Kafka ``FetchMetadata.nextEpoch``)."""
    if epoch == FINAL_EPOCH:
        return FINAL_EPOCH
    return 1 if epoch == _MAX_EPOCH else epoch + 1


class SessionPartition(Generic[Asked]):
    """One partition of a session: the requested position, and the offsets last sent."""

    __slots__ = ("asked", "idle_in", "sent")

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        """The position in the peer's latest request."""
        self.sent: tuple[int, int] | None = None
        """High watermark and log start offset of the last response. None before the first one and
        after an error, so that the next response without an error is sent."""
        self.idle_in: LeaderView | None = None
        """The leader's view in which a follower is caught up; set while its partition is idle."""


class FetchSession(Generic[Key, Asked]):
    """The partitions that one peer fetches, and those of them that are pending.

    Invariant: a follower's idle partition is at the end of the leader's log and in the ISR
    according to the view ``idle_in``.
    """

    def __init__(self, session_id: int, replica_id: int, now: float) -> None:
        """Make a session without partitions, of a fetch at ``now`` in seconds."""
        self.session_id = session_id
        self.replica_id = replica_id
        """The follower's broker id; negative for consumers."""
        self.epoch = next_epoch(INITIAL_EPOCH)
        """The epoch that the next fetch must have."""
        self.created_at = now
        self.fetched_at = now
        """Time of the session's last fetch."""
        self.is_closed = False
        self.partitions: dict[Key, SessionPartition[Asked]] = {}
        self.pending: dict[Key, None] = {}
        """Partitions that the next response checks, in this order: longest unanswered first."""

    @property
    def is_privileged(self) -> bool:
        """Whether a follower fetches: consumers' sessions do not evict its session."""
        return self.replica_id >= 0

    def add(self, key: Key, asked: Asked) -> bool:
        """Add a partition, or set its new position; return whether it is new."""
        known = self.partitions.get(key)
        if known is None:
            self.partitions[key] = SessionPartition(asked)
            self.pending[key] = None
            return True
        self.mark(key)
        if asked != known.asked:
            # Nothing was sent for this position yet; a follower may be in a new leader epoch.
            known.asked, known.sent = asked, None
        return False

    def remove(self, key: Key) -> bool:
        """Drop a partition; return whether it was there."""
        if key not in self.partitions:
            return False
        # Its acknowledgement by the last fetch is recorded; this fetch does not include it.
        self.mark(key)
        del self.partitions[key], self.pending[key]
        return True

    def mark(self, key: Key) -> None:
        """Make a partition pending, if it belongs to the session."""
        partition = self.partitions.get(key)
        if partition is None:
            return
        view, partition.idle_in = partition.idle_in, None
        if view is not None:
            view.caught_up_until(self.replica_id, self.fetched_at)
        self.pending[key] = None

    def fetched(self, now: float) -> None:
        """Record the next fetch of the session, at ``now``."""
        self.epoch = next_epoch(self.epoch)
        self.fetched_at = now

    def close(self) -> None:
        """End the session and record the acknowledgements of its idle partitions."""
        self.is_closed = True
        for key in self.partitions:
            self.mark(key)

    def must_send(self, key: Key, offsets: tuple[int, int] | None, *, has_more: bool) -> bool:
        """Return whether a response must include a pending partition, and record it as sent then.

        ``offsets`` is its high watermark and log start offset, None for an error; ``has_more``
        means that there are records or a divergence. Such a partition moves behind the others,
        so that a response of the maximal size does not starve them.
        """
        partition = self.partitions[key]
        if offsets is not None and offsets == partition.sent and not has_more:
            return False
        partition.sent = offsets
        if has_more:
            del self.pending[key]
            self.pending[key] = None
        return True

    def make_idle(self, keys: Iterable[tuple[Key, LeaderView | None]]) -> None:
        """Make partitions idle until they are marked.

        A follower's partition comes with the leader's view in which it is caught up.
        """
        for key, view in keys:
            self.partitions[key].idle_in = view
            del self.pending[key]
