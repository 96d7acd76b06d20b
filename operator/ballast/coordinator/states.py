"""The states of a group, and the table of valid previous states (Kafka 2.8).

::

    Empty ─► PreparingRebalance ─► CompletingRebalance ─► Stable
      ▲          │   ▲  ▲                   │               │
      └──────────┘   │  └───────────────────┘               │
                     └──────────────────────────────────────┘      any ─► Dead

- *Empty*: no members; the group may keep offsets until they expire.
- *PreparingRebalance*: members join again; the rebalance waits for them.
- *CompletingRebalance*: all have joined; the leader has not sent the assignment yet.
- *Stable*: every member has, or can fetch, its assignment.
- *Dead*: deleted, or coordinated by another broker now; a final state.
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
