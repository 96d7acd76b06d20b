"""The queue of the reassignments of one broker set: one begins at a time, agreed on in statuses.

Two reassignments must never both begin, even when two operator processes run for a moment. So each
*claims* its turn in its status (``queue.position`` 0) before it begins, and then reads the others
once more. Both claim before their second read, so at least one of the two sees the other: the one
of lower rank gives its claim up, the one of higher rank waits until that has happened or the other
has begun.
"""

from dataclasses import dataclass, replace
from enum import Enum, auto

from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import PARTITION_REASSIGNMENTS
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.queueing import QueueEntry, QueuePlace, places


class Verdict(Enum):
    """What a reassignment that is to begin has to do."""

    BEGIN = auto()
    """It has its turn, and its status says so."""
    CLAIM = auto()
    """It has its turn as far as the others' statuses say: claim it, and read them again."""
    HOLD = auto()
    """It keeps its claim until the other one that claims has given up, or has begun."""
    WAIT = auto()
    """Others are before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The verdict, and the place to report."""

    verdict: Verdict
    place: QueuePlace


_FIRST = QueuePlace(position=0)


def turn(me: QueueEntry, others: tuple[QueueEntry, ...]) -> Turn:
    """Return whether ``me``, that is Queued and claims when it ``has_begun``, may begin."""
    waiting = replace(me, state=LifecycleState.QUEUED, has_begun=False, is_paused=False)
    begun = [other for other in others if other.has_begun and not other.has_ended]
    claims = [other for other in begun if other.state is LifecycleState.QUEUED]
    is_held = len(begun) > len(claims) or any(_rank(claim) < _rank(me) for claim in claims)
    place = places((waiting, *others))[me.uid]
    if me.has_begun and not is_held:
        return Turn(verdict=Verdict.HOLD if claims else Verdict.BEGIN, place=_FIRST)
    if place.position == 0:
        return Turn(verdict=Verdict.CLAIM, place=_FIRST)
    return Turn(verdict=Verdict.WAIT, place=place)


def _rank(entry: QueueEntry) -> tuple[bool, int, str, str, str]:
    return replace(entry, has_begun=False).order


async def others_of(api: KubernetesApi, mine: ReassignmentObject) -> tuple[ReassignmentObject, ...]:
    """Return the other reassignments of the same broker set. Raises `KubernetesError`."""
    documents = await api.list(PARTITION_REASSIGNMENTS, mine.namespace)
    found = (ReassignmentObject(document=document) for document in documents)
    return tuple(
        other for other in found if other.broker_set == mine.broker_set and other.uid != mine.uid
    )


async def ask_for_turn(api: KubernetesApi, mine: ReassignmentObject) -> Turn:
    """Return whether the reassignment may begin now. Raises `KubernetesError`."""
    others = await others_of(api, mine)
    me = replace(mine.queue_entry(), has_begun=mine.has_claimed)
    return turn(me, tuple(other.queue_entry() for other in others))
