"""The queue of the reassignments of one broker set: one at a time has its turn, the others wait.

A reassignment that has started keeps its turn until it has ended, even while it is paused: its
moves may still be pending and its throttle in force. It gives up its turn (it *yields*) only when
none of its moves is pending, its throttle is restored, and it cannot continue or only waits for
replicas to get in sync. Then it needs a new turn before it submits another move.

Among the others a drain goes before an explicit plan, and an older one before a younger one; ties
go by name. A reassignment that is not ready to run (not accepted, without a plan, not approved, or
paused before its start) blocks no other. One that is invalid or has ended is not in the queue.

Places are computed from what all reassignments last reported. So a reassignment that gets its turn
must report that durably, and compute its place again, before it changes anything: a drain may have
been created in between.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ballast.reassign.state.conditions import FINAL_STATUS, LifecycleState

_NOT_READY = frozenset(
    {LifecycleState.PENDING, LifecycleState.PLANNING, LifecycleState.AWAITING_APPROVAL}
)


class Purpose(StrEnum):
    """What a reassignment is for; the first one has priority."""

    DRAIN = "Drain"
    EXPLICIT = "Explicit"


_RANK: Mapping[Purpose, int] = {purpose: rank for rank, purpose in enumerate(Purpose)}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """One reassignment in the queue."""

    name: str
    uid: str
    """Distinguishes an object from a deleted one of the same name."""
    creation_time: str
    """``metadata.creationTimestamp``: RFC 3339 in UTC, so that its order is that of the text."""
    state: LifecycleState = LifecycleState.PENDING
    """As last reported. Of the one being reconciled: the state if no other were before it."""
    purpose: Purpose = Purpose.EXPLICIT
    has_begun: bool = False
    """Whether it may have changed something: it has a start time."""
    yields: bool = False
    """Whether it has started and has yielded: it blocks no other."""
    is_paused: bool = False
    """Whether ``spec.desiredState`` is Paused."""

    @property
    def has_ended(self) -> bool:
        """Whether it is in a final state."""
        return self.state in FINAL_STATUS

    @property
    def is_ready(self) -> bool:
        """Whether it is running, or would run if it had its turn."""
        if self.has_ended or self.yields:
            return False
        return self.has_begun or not (self.is_paused or self.state in _NOT_READY)

    @property
    def order(self) -> tuple[bool, int, str, str, str]:
        """The sort key."""
        rank = 0 if self.has_begun else _RANK[self.purpose]
        return (not self.has_begun, rank, self.creation_time, self.name, self.uid)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlace:
    """The place of one reassignment in the queue."""

    position: int | None
    """0 = it has its turn; n = n others are before it; None = it is not in the queue."""
    blocked_by: tuple[str, ...] = ()
    """Names of those before it, first the one that has its turn."""
    yields: bool = False
    """Whether it has started and has yielded; it has no position then."""

    @property
    def has_turn(self) -> bool:
        """Whether it may run now."""
        return self.position == 0

    def to_document(self, most: int = 10) -> dict[str, object]:
        """Return ``status.queue``, with at most ``most`` names."""
        if self.position is None:
            return {"blockedBy": [], "yielding": True} if self.yields else {"blockedBy": []}
        return {"position": self.position, "blockedBy": list(self.blocked_by[:most])}


NOT_QUEUED = QueuePlace(position=None)
YIELDING = QueuePlace(position=None, yields=True)


def places(entries: Iterable[QueueEntry]) -> dict[str, QueuePlace]:
    """Return the place of each reassignment of one broker set, by uid.

    The order of the entries does not matter. Exactly one has its turn if any is ready.
    """
    all_entries = tuple(entries)
    result = {entry.uid: NOT_QUEUED for entry in all_entries}
    before: list[str] = []
    for entry in sorted(all_entries, key=lambda entry: entry.order):
        if entry.is_ready:
            result[entry.uid] = QueuePlace(position=len(before), blocked_by=tuple(before))
            before.append(entry.name)
    return result
