"""The states of a group, and which may follow which: the table, nothing else (Kafka 2.8).

::

    Empty ─► PreparingRebalance ─► CompletingRebalance ─► Stable
      ▲          │   ▲  ▲                   │               │
      └──────────┘   │  └───────────────────┘               │
                     └──────────────────────────────────────┘      any ─► Dead

- *Empty*: no members; the group may keep offsets until they expire.
- *PreparingRebalance*: members are asked to join again, and waited for.
- *CompletingRebalance*: all have joined; the leader's assignment is waited for.
- *Stable*: every member has, or can fetch, its assignment.
- *Dead*: removed, or coordinated by another broker now; nothing follows.
"""

from collections.abc import Mapping
from enum import StrEnum

from ballast.coordinator.errors import IllegalTransition


class GroupState(StrEnum):
    """States of a group; the values are what ListGroups and DescribeGroups say."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


_S = GroupState

VALID_PREVIOUS_STATES: Mapping[GroupState, frozenset[GroupState]] = {
    _S.EMPTY: frozenset({_S.PREPARING_REBALANCE}),
    _S.PREPARING_REBALANCE: frozenset({_S.STABLE, _S.COMPLETING_REBALANCE, _S.EMPTY}),
    _S.COMPLETING_REBALANCE: frozenset({_S.PREPARING_REBALANCE}),
    _S.STABLE: frozenset({_S.COMPLETING_REBALANCE}),
    _S.DEAD: frozenset(_S),
}


def check_transition(group_id: str, before: GroupState, after: GroupState) -> None:
    """Raise `IllegalTransition` unless ``after`` may follow ``before``."""
    if before not in VALID_PREVIOUS_STATES[after]:
        raise IllegalTransition(f"group {group_id} cannot go from {before} to {after}")
