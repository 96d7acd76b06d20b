"""A fetch session as a follower keeps it (KIP-227; Kafka's ``FetchSessionHandler``).

The follower says what it wants of each partition; the next fetch names what has changed since the
last one. After an error or a lost answer nobody knows what the leader has taken up, so the next
fetch names everything and begins a new session.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from ballast.replication.fetch_session import INITIAL_EPOCH, NO_SESSION, next_epoch

Key = TypeVar("Key")
Asked = TypeVar("Asked")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFetch(Generic[Key, Asked]):
    """What one fetch of a session says."""

    session_id: int
    epoch: int
    asked: dict[Key, Asked]
    """The partitions to name, in their order."""
    forgotten: list[Key]


class FollowerSession(Generic[Key, Asked]):
    """What one follower wants of one leader, and what the leader knows of that."""

    def __init__(self) -> None:
        self._session_id = NO_SESSION
        self._epoch = INITIAL_EPOCH
        self._wanted: dict[Key, Asked] = {}
        self._known: dict[Key, Asked] = {}
        """As the last fetch left it with the leader."""
        self._changed: dict[Key, None] = {}
        """Partitions that may be wanted otherwise than the leader knows."""

    @property
    def wants_any(self) -> bool:
        """Whether a fetch would ask for anything."""
        return bool(self._wanted)

    def want(self, key: Key, asked: Asked) -> None:
        """Fetch a partition from where ``asked`` says.

        In a fetch that names everything it comes last: what was answered last is behind what was
        not, so that answers that are full starve none.
        """
        self._wanted.pop(key, None)
        self._wanted[key] = asked
        self._changed[key] = None

    def is_wanted(self, key: Key) -> bool:
        """Whether the next fetch asks for a partition."""
        return key in self._wanted

    def leave_out(self, key: Key) -> None:
        """Do not fetch a partition for now."""
        if self._wanted.pop(key, None) is not None:
            self._changed[key] = None

    def next_fetch(self) -> SessionFetch[Key, Asked]:
        """Return what the next fetch says; call it once per fetch that is sent."""
        asked: dict[Key, Asked] = {}
        forgotten: list[Key] = []
        if self._epoch == INITIAL_EPOCH:
            asked = dict(self._wanted)
            self._known = dict(self._wanted)
        else:
            for key in self._changed:
                wanted = self._wanted.get(key)
                if wanted is None:
                    if self._known.pop(key, None) is not None:
                        forgotten.append(key)
                elif wanted != self._known.get(key):
                    asked[key] = self._known[key] = wanted
        self._changed.clear()
        return SessionFetch(
            session_id=self._session_id, epoch=self._epoch, asked=asked, forgotten=forgotten
        )

    def answered(self, session_id: int) -> None:
        """Take the id of an answer without error; the leader may have given none."""
        self._session_id = session_id
        self._epoch = INITIAL_EPOCH if session_id == NO_SESSION else next_epoch(self._epoch)

    def failed(self, *, is_unknown: bool = False) -> None:
        """Begin anew after an error or without an answer.

        The next fetch ends the session, unless ``is_unknown`` to the leader.
        """
        self._epoch = INITIAL_EPOCH
        if is_unknown:
            self._session_id = NO_SESSION
