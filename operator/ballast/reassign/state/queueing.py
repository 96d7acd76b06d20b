"""Who of the reassignments of one broker set has its turn: one at a time, the others wait in order.

Whoever has begun keeps its turn until it has ended, even while it is paused: what it submitted may
still be under way, and its throttle may be in force. Only when nothing of it is under way, its
throttle is put back and it cannot go on (or waits for no more than replicas to come in sync), it
yields: others begin, and it asks for its turn again before it starts another move.

Of the others a drain comes before an explicit plan, the older before the younger; equal ones go by
name. Who is not ready to run (not accepted, without a plan, not approved, or paused before it
began) stands in nobody's way, and whoever is invalid or has ended is not in the queue at all.

The places are computed from what all of them last reported. A reassignment that takes its turn must
therefore make that durable, and look again, before it changes anything: a drain may have come.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ballast.reassign.state.conditions import FINAL_STATUS, LifecycleState

_NOT_READY = frozenset(
    {LifecycleState.PENDING, LifecycleState.PLANNING, LifecycleState.AWAITING_APPROVAL}
)


class Purpose(StrEnum):
    """What a reassignment is for; the first named goes first."""

    DRAIN = "Drain"
    EXPLICIT = "Explicit"


_RANK: Mapping[Purpose, int] = {purpose: rank for rank, purpose in enumerate(Purpose)}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """One reassignment, as the queue needs to know it."""

    name: str
    uid: str
    """Of two with one name, which: an object deleted and made again."""
    creation_time: str
    """``metadata.creationTimestamp``: RFC 3339 in UTC, so that its order is that of the text."""
    state: LifecycleState = LifecycleState.PENDING
    """As last reported. Of the one that asks: what it would be if nobody were before it."""
    purpose: Purpose = Purpose.EXPLICIT
    has_begun: bool = False
    """Whether it may have changed something: it has a start time."""
    yields: bool = False
    """Whether it has begun, and lets others begin: it stands in nobody's way."""
    is_paused: bool = False
    """Whether ``spec.desiredState`` is Paused."""

    @property
    def has_ended(self) -> bool:
        """Whether it never runs again; invalid ones never ran."""
        return self.state in FINAL_STATUS

    @property
    def is_ready(self) -> bool:
        """Whether it runs as soon as it has its turn, or runs."""
        if self.has_ended or self.yields:
            return False
        return self.has_begun or not (self.is_paused or self.state in _NOT_READY)

    @property
    def order(self) -> tuple[bool, int, str, str, str]:
        """What to sort by."""
        rank = 0 if self.has_begun else _RANK[self.purpose]
        return (not self.has_begun, rank, self.creation_time, self.name, self.uid)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlace:
    """Where one reassignment stands."""

    position: int | None
    """0 = it has its turn; n = n others are before it; None = it is not in the queue."""
    blocked_by: tuple[str, ...] = ()
    """Names of those before it, the one that has its turn first."""
    yields: bool = False
    """Whether it has begun and lets others begin; it has no position then."""

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

    The same entries in another order give the same places. Exactly one has its turn when any is
    ready.
    """
    known = tuple(entries)
    found = {entry.uid: NOT_QUEUED for entry in known}
    before: list[str] = []
    for entry in sorted(known, key=lambda entry: entry.order):
        if entry.is_ready:
            found[entry.uid] = QueuePlace(position=len(before), blocked_by=tuple(before))
            before.append(entry.name)
    return found
