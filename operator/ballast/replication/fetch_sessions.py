"""The fetch sessions of a broker: a bounded number of them (Kafka's ``FetchSessionCache``).

When no slot is free, a new session evicts the least recently used one, if its last use is more than
``eviction_s`` ago; else the least valuable one, if that is less valuable than the new one.
Followers' sessions are more valuable than consumers', then those with more partitions. A session
younger than ``eviction_s`` is not evicted, except a consumer's by a follower's.
"""

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from ballast.replication.errors import FetchSessionNotFound, InvalidFetchSessionEpoch
from ballast.replication.fetch_session import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION,
    FetchSession,
)

Key = TypeVar("Key")
Asked = TypeVar("Asked")

EVICTION_S = 120.0
"""Kafka's ``MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS``."""


class _Value(NamedTuple):
    """The value of a session, in ascending order."""

    is_privileged: bool
    partitions: int
    session_id: int


class FetchSessions(Generic[Key, Asked]):
    """Sessions by id, and by the partitions in them."""

    def __init__(
        self,
        slots: int,
        new_id: Callable[[], int],
        *,
        eviction_s: float = EVICTION_S,
        on_closed: Callable[[int], object] = lambda _: None,
    ) -> None:
        """Make it without sessions; ``new_id`` draws a positive number of 31 bits.

        ``on_closed`` is called with the id of each session that has ended.
        """
        self._slots = slots
        self._new_id = new_id
        self._eviction_s = eviction_s
        self.on_closed = on_closed
        self._by_use: OrderedDict[int, FetchSession[Key, Asked]] = OrderedDict()
        """Least recently used first."""
        self._values: dict[int, _Value] = {}
        self._by_value: list[_Value] = []
        self._watching: dict[Key, dict[int, FetchSession[Key, Asked]]] = {}
        self.evictions = 0
        """Number of evicted sessions."""

    def __len__(self) -> int:
        return len(self._by_use)

    @property
    def partition_count(self) -> int:
        """Partitions of all sessions."""
        return sum(value.partitions for value in self._by_value)

    def watching(self, key: Key) -> Iterable[FetchSession[Key, Asked]]:
        """Return a copy of the list of sessions with a partition."""
        sessions = self._watching.get(key)
        return tuple(sessions.values()) if sessions else ()

    # -- requests -------------------------------------------------------------------------------

    def fetched(
        self,
        session_id: int,
        epoch: int,
        replica_id: int,
        asked: Mapping[Key, Asked],
        forgotten: Sequence[Key],
        now: float,
    ) -> FetchSession[Key, Asked] | None:
        """Record a fetch; return its session, or None if it names all its partitions.

        Such a fetch ends the session that it names (Kafka ``FetchManager.newContext``), and so
        does one that removes the last partition of its session.
        Raises `FetchSessionNotFound` and `InvalidFetchSessionEpoch`.
        """
        session = self._by_use.get(session_id)
        if session is not None and session.replica_id != replica_id:
            session = None
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            if session is not None:
                self.close(session)
            return None
        if session is None:
            raise FetchSessionNotFound(f"there is no fetch session {session_id}")
        if session.epoch != epoch:
            raise InvalidFetchSessionEpoch(f"epoch {epoch} instead of {session.epoch}")
        if asked or forgotten:
            self._update(session, asked, forgotten)
        if not session.partitions:
            self.close(session)
            return None
        session.fetched(now)
        self._by_use.move_to_end(session_id)
        return session

    def create(
        self, replica_id: int, asked: Mapping[Key, Asked], now: float
    ) -> FetchSession[Key, Asked] | None:
        """Return a new session for a fetch at ``now`` in seconds, or None if no slot is free."""
        if len(self._by_use) >= self._slots and not self._evict(replica_id, len(asked), now):
            return None
        session: FetchSession[Key, Asked] = FetchSession(self._free_id(), replica_id, now)
        self._by_use[session.session_id] = session
        self._update(session, asked, ())
        return session

    def _free_id(self) -> int:
        while (session_id := self._new_id()) in self._by_use or session_id == NO_SESSION:
            pass
        return session_id

    def _update(
        self,
        session: FetchSession[Key, Asked],
        asked: Mapping[Key, Asked],
        forgotten: Iterable[Key],
    ) -> None:
        session_id = session.session_id
        for key, position in asked.items():
            if session.add(key, position):
                self._watching.setdefault(key, {})[session_id] = session
        for key in forgotten:
            if session.remove(key):
                self._unwatch(key, session_id)
        before = self._values.get(session_id)
        if before is None or before.partitions != len(session.partitions):
            self._forget_value(session_id)
            value = _Value(session.is_privileged, len(session.partitions), session_id)
            self._values[session_id] = value
            insort(self._by_value, value)

    def _forget_value(self, session_id: int) -> None:
        value = self._values.pop(session_id, None)
        if value is not None:
            del self._by_value[bisect_left(self._by_value, value)]

    def _unwatch(self, key: Key, session_id: int) -> None:
        sessions = self._watching[key]
        del sessions[session_id]
        if not sessions:
            del self._watching[key]

    # -- ends -----------------------------------------------------------------------------------

    def close(self, session: FetchSession[Key, Asked]) -> None:
        """End a session; its id is unknown from now on."""
        del self._by_use[session.session_id]
        self._forget_value(session.session_id)
        session.close()
        for key in session.partitions:
            self._unwatch(key, session.session_id)
        self.on_closed(session.session_id)

    def _evict(self, replica_id: int, partitions: int, now: float) -> bool:
        """Make room for a session (Kafka ``FetchSessionCache.tryEvict``)."""
        session = self._least_valuable(_Value(replica_id >= 0, partitions, 0), now)
        if session is None:
            return False
        self.close(session)
        self.evictions += 1
        return True

    def _least_valuable(self, new: _Value, now: float) -> FetchSession[Key, Asked] | None:
        oldest = next(iter(self._by_use.values()), None)
        if oldest is None:
            return None
        if now - oldest.fetched_at > self._eviction_s:
            return oldest
        for value in self._by_value:
            if new < value:
                return None
            session = self._by_use[value.session_id]
            if now - session.created_at > self._eviction_s or (
                new.is_privileged and not session.is_privileged
            ):
                return session
        return None
