"""An incremental fetch session on the follower's side (KIP-227; Kafka's ``FetchSessionHandler``).

The follower sets the position of each partition; the next fetch names those that have changed since
the last one. After an error or a lost response it is unknown what the leader has applied, so the
next fetch names all partitions and starts a new session.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from ballast.replication.fetch_session import INITIAL_EPOCH, NO_SESSION, next_epoch

Key = TypeVar("Key")
Asked = TypeVar("Asked")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFetch(Generic[Key, Asked]):
    """The session fields of one fetch request."""

    session_id: int
    epoch: int
    asked: dict[Key, Asked]
    """The partitions to name, in their order."""
    forgotten: list[Key]


class FollowerSession(Generic[Key, Asked]):
    """The partitions that one follower fetches from one leader, and those the leader has."""

    def __init__(self) -> None:
        self._session_id = NO_SESSION
        self._epoch = INITIAL_EPOCH
        self._positions: dict[Key, Asked] = {}
        self._sent: dict[Key, Asked] = {}
        """The session's partitions at the leader after the last fetch."""
        self._changed: dict[Key, None] = {}
        """Partitions that may differ between ``_positions`` and ``_sent``."""

    @property
    def wants_any(self) -> bool:
        """Whether there is a partition to fetch."""
        return bool(self._positions)

    def want(self, key: Key, asked: Asked) -> None:
        """Fetch a partition from the position ``asked``.

        A fetch that names all partitions names it last: partitions that were answered recently
        are behind the others, so that responses of the maximal size starve none.
        """
        self._positions.pop(key, None)
        self._positions[key] = asked
        self._changed[key] = None

    def is_wanted(self, key: Key) -> bool:
        """Whether the next fetch includes a partition."""
        return key in self._positions

    def leave_out(self, key: Key) -> None:
        """Do not fetch a partition for now."""
        if self._positions.pop(key, None) is not None:
            self._changed[key] = None

    def next_fetch(self) -> SessionFetch[Key, Asked]:
        """Return the fields of the next fetch; call it once per fetch that is sent."""
        asked: dict[Key, Asked] = {}
        forgotten: list[Key] = []
        if self._epoch == INITIAL_EPOCH:
            asked = dict(self._positions)
            self._sent = dict(self._positions)
        else:
            for key in self._changed:
                position = self._positions.get(key)
                if position is None:
                    if self._sent.pop(key, None) is not None:
                        forgotten.append(key)
                elif position != self._sent.get(key):
                    asked[key] = self._sent[key] = position
        self._changed.clear()
        return SessionFetch(
            session_id=self._session_id, epoch=self._epoch, asked=asked, forgotten=forgotten
        )

    def answered(self, session_id: int) -> None:
        """Record the session id of a response without error; the leader may have started none."""
        self._session_id = session_id
        self._epoch = INITIAL_EPOCH if session_id == NO_SESSION else next_epoch(self._epoch)

    def failed(self, *, is_unknown: bool = False) -> None:
        """Start a new session after an error or a missing response.

        The next fetch ends the present session, unless that ``is_unknown`` to the leader.
        """
        self._epoch = INITIAL_EPOCH
        if is_unknown:
            self._session_id = NO_SESSION
