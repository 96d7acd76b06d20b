"""Who leads next: pure choices over assignment, ISR and live brokers.

| strategy            | leader                                         | ISR after                |
|---------------------|------------------------------------------------|--------------------------|
| offline             | first of RS that lives and is in the ISR       | without the dead         |
| offline, unclean    | the same, else first of RS that lives          | … else only the leader   |
| reassign            | first of TRS that lives and is in the ISR      | unchanged                |
| preferred           | the first of RS, if it lives and is in the ISR | unchanged                |
| controlled shutdown | first of RS in the ISR and not shutting down   | without those that leave |

Kafka: ``PartitionLeaderElectionAlgorithms`` and ``Election``. No candidate: None.
"""

from collections.abc import Collection, Sequence
from enum import Enum, IntEnum

import msgspec


class ElectionType(IntEnum):
    """ElectLeaders' election types, with their wire values."""

    PREFERRED = 0
    UNCLEAN = 1


class ElectionStrategy(Enum):
    """Why a leader is elected, which says how."""

    OFFLINE = "the leader is gone"
    OFFLINE_UNCLEAN = "the leader is gone and an operator accepts the loss of records"
    REASSIGN = "the replicas move"
    PREFERRED = "the first replica shall lead"
    CONTROLLED_SHUTDOWN = "the leader's broker is about to stop"


class Elected(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The outcome of an election."""

    leader: int
    isr: tuple[int, ...]


def elect_offline(
    replicas: Sequence[int], isr: Sequence[int], live: Collection[int], *, unclean: bool = False
) -> Elected | None:
    """Replace a leader that is gone; ``unclean`` lets a replica outside the ISR lead."""
    leader = _first(replicas, live, isr)
    if leader is not None:
        return Elected(leader=leader, isr=tuple([r for r in isr if r in live]))
    leader = _first(replicas, live, None) if unclean else None
    return None if leader is None else Elected(leader=leader, isr=(leader,))


def elect_reassigned(
    target_replicas: Sequence[int], isr: Sequence[int], live: Collection[int]
) -> Elected | None:
    """Move leadership into the target replicas."""
    leader = _first(target_replicas, live, isr)
    return None if leader is None else Elected(leader=leader, isr=tuple(isr))


def elect_preferred(
    replicas: Sequence[int], isr: Sequence[int], live: Collection[int]
) -> Elected | None:
    """Let the preferred replica lead."""
    leader = _first(replicas[:1], live, isr)
    return None if leader is None else Elected(leader=leader, isr=tuple(isr))


def elect_for_controlled_shutdown(
    replicas: Sequence[int],
    isr: Sequence[int],
    live_or_shutting_down: Collection[int],
    shutting_down: Collection[int],
) -> Elected | None:
    """Move leadership off the brokers that are about to stop, and these out of the ISR."""
    staying = tuple(r for r in isr if r not in shutting_down)
    leader = _first(replicas, live_or_shutting_down, staying)
    return None if leader is None else Elected(leader=leader, isr=staying)


def _first(
    replicas: Sequence[int], live: Collection[int], isr: Collection[int] | None
) -> int | None:
    """Return the first replica that lives and is in the ISR, where that is asked for."""
    for replica in replicas:
        if replica in live and (isr is None or replica in isr):
            return replica
    return None
