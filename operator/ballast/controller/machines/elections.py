"""Leader selection: pure functions of assignment, ISR and live brokers.

| strategy            | leader                                         | ISR after                |
|---------------------|------------------------------------------------|--------------------------|
| offline             | first of RS that is live and in the ISR        | live members only        |
| offline, unclean    | the same, else first of RS that is live        | … else only the leader   |
| reassign            | first of TRS that is live and in the ISR       | unchanged                |
| preferred           | the first of RS, if it is live and in the ISR  | unchanged                |
| controlled shutdown | first of RS in the ISR and not shutting down   | without those that stop  |

Kafka: ``PartitionLeaderElectionAlgorithms`` and ``Election``. They return None where no replica
can lead.
"""

from collections.abc import Collection, Sequence
from enum import Enum, IntEnum

import msgspec


class ElectionType(IntEnum):
    """ElectLeaders' election types, with their wire values."""

    PREFERRED = 0
    UNCLEAN = 1


class ElectionStrategy(Enum):
    """The reason of an election, which determines the selection."""

    OFFLINE = "the leader is gone"
    OFFLINE_UNCLEAN = "the leader is gone and an operator accepts the loss of records"
    REASSIGN = "the replicas move"
    PREFERRED = "the first replica is to lead"
    CONTROLLED_SHUTDOWN = "the leader's broker will stop"


class ElectionResult(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The leader that was selected, and the ISR to write with it."""

    leader: int
    isr: tuple[int, ...]


def elect_offline(
    replicas: Sequence[int], isr: Sequence[int], live: Collection[int], *, unclean: bool = False
) -> ElectionResult | None:
    """Replace a leader that is offline; ``unclean`` allows a replica outside the ISR."""
    leader = _first(replicas, live, isr)
    if leader is not None:
        return ElectionResult(leader=leader, isr=tuple([r for r in isr if r in live]))
    leader = _first(replicas, live, None) if unclean else None
    return None if leader is None else ElectionResult(leader=leader, isr=(leader,))


def elect_reassigned(
    target_replicas: Sequence[int], isr: Sequence[int], live: Collection[int]
) -> ElectionResult | None:
    """Move leadership into the target replicas."""
    leader = _first(target_replicas, live, isr)
    return None if leader is None else ElectionResult(leader=leader, isr=tuple(isr))


def elect_preferred(
    replicas: Sequence[int], isr: Sequence[int], live: Collection[int]
) -> ElectionResult | None:
    leader = _first(replicas[:1], live, isr)
    return None if leader is None else ElectionResult(leader=leader, isr=tuple(isr))


def elect_for_controlled_shutdown(
    replicas: Sequence[int],
    isr: Sequence[int],
    live_or_shutting_down: Collection[int],
    shutting_down: Collection[int],
) -> ElectionResult | None:
    """Move leadership off the brokers that will stop, and take these out of the ISR."""
    remaining = tuple(r for r in isr if r not in shutting_down)
    leader = _first(replicas, live_or_shutting_down, remaining)
    return None if leader is None else ElectionResult(leader=leader, isr=remaining)


def _first(
    replicas: Sequence[int], live: Collection[int], isr: Collection[int] | None
) -> int | None:
    """Return the first live replica; with ``isr`` the first that is also in it."""
    for replica in replicas:
        if replica in live and (isr is None or replica in isr):
            return replica
    return None
