"""One fetch session as the leader keeps it (KIP-227; Kafka's ``FetchSession``).

A peer names its partitions once; later fetches name those only whose positions have changed, and
are answered with those only that have something to say. A fetch must not cost what the whole
session costs, so a session keeps apart the partitions that are *pending*: those that the next
answer must look at. The others are at rest: a read of them would give nothing, and the peer knows
all that could be said of them. Whatever happens to a partition makes it pending (`mark`).

A follower's fetch acknowledges for every partition of its session, those at rest included. They
are not touched for that: one at rest is at the end of the leader's log, so it is caught up as of
the session's last fetch, and the leader's view learns of that time when the rest ends.
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
"""Epoch of a fetch that names all partitions, ends its session and wants none."""
_MAX_EPOCH = INT_MAX


def next_epoch(epoch: int) -> int:
    """Return the epoch of the fetch after one of ``epoch`` (Kafka ``FetchMetadata.nextEpoch``)."""
    if epoch == FINAL_EPOCH:
        return FINAL_EPOCH
    return 1 if epoch == _MAX_EPOCH else epoch + 1


class SessionPartition(Generic[Asked]):
    """One partition of a session: what was asked, and what the peer was told last."""

    __slots__ = ("asked", "rests_in", "told")

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        """From where it is fetched, as the peer last said."""
        self.told: tuple[int, int] | None = None
        """High watermark and log start offset of the last answer; None before, or after an error:
        then the next answer without one is sent too."""
        self.rests_in: LeaderView | None = None
        """While a follower's partition is at rest: the leader's view in which it is caught up."""


class FetchSession(Generic[Key, Asked]):
    """The partitions that one peer fetches, and which of them are pending.

    Invariant: a follower's partition that is at rest is at the end of the leader's log and in the
    ISR, and ``rests_in`` is the view that says so.
    """

    def __init__(self, session_id: int, replica_id: int, now: float) -> None:
        """Make a session without partitions, of a fetch at ``now`` in seconds."""
        self.session_id = session_id
        self.replica_id = replica_id
        """The follower's broker id; negative for consumers."""
        self.epoch = next_epoch(INITIAL_EPOCH)
        """That the next fetch must state."""
        self.created_at = now
        self.fetched_at = now
        """When the session's last fetch came."""
        self.is_closed = False
        self.partitions: dict[Key, SessionPartition[Asked]] = {}
        self.pending: dict[Key, None] = {}
        """What the next answer looks at, in this order: those that it was longest silent about."""

    @property
    def is_privileged(self) -> bool:
        """Whether a follower fetches: its session does not give way to consumers' sessions."""
        return self.replica_id >= 0

    def add(self, key: Key, asked: Asked) -> bool:
        """Take a partition in, or its new position; return whether it is new."""
        known = self.partitions.get(key)
        if known is None:
            self.partitions[key] = SessionPartition(asked)
            self.pending[key] = None
            return True
        self.mark(key)
        if asked != known.asked:
            # A follower in a new leader epoch has been told nothing in it yet.
            known.asked, known.told = asked, None
        return False

    def remove(self, key: Key) -> bool:
        """Drop a partition; return whether it was there."""
        if key not in self.partitions:
            return False
        # What it acknowledged until the last fetch is kept; this fetch says nothing of it.
        self.mark(key)
        del self.partitions[key], self.pending[key]
        return True

    def mark(self, key: Key) -> None:
        """Let the next answer look at a partition, if it is the session's."""
        partition = self.partitions.get(key)
        if partition is None:
            return
        view, partition.rests_in = partition.rests_in, None
        if view is not None:
            view.caught_up_until(self.replica_id, self.fetched_at)
        self.pending[key] = None

    def fetched(self, now: float) -> None:
        """Take note that the next fetch of the session came at ``now``."""
        self.epoch = next_epoch(self.epoch)
        self.fetched_at = now

    def close(self) -> None:
        """End the session: nothing of it is at rest any more."""
        self.is_closed = True
        for key in self.partitions:
            self.mark(key)

    def must_tell(self, key: Key, told: tuple[int, int] | None, *, has_more: bool) -> bool:
        """Return whether an answer has to name a pending partition, and take it as named then.

        ``told`` is its high watermark and log start offset, None for an error; ``has_more`` says
        that there are records or a divergence. Partitions with more go behind the others, so that
        an answer that is full does not starve those.
        """
        partition = self.partitions[key]
        if told is not None and told == partition.told and not has_more:
            return False
        partition.told = told
        if has_more:
            del self.pending[key]
            self.pending[key] = None
        return True

    def rest(self, keys: Iterable[tuple[Key, LeaderView | None]]) -> None:
        """Look at partitions no more until they are marked.

        For a follower's the view says where it is caught up.
        """
        for key, view in keys:
            self.partitions[key].rests_in = view
            del self.pending[key]
