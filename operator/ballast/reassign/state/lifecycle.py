"""The states of a PartitionReassignment, and which may follow which: the table, nothing else.

The state is the reason of the condition ``Succeeded``::

    Pending ◄──► Planning ◄──► AwaitingApproval        nothing in the cluster is changed
       │            │                 │
       ▼            ▼                 ▼
    Invalid       Queued ◄──────► Paused ◄───────┐     before the start, or after a yield
                    │               │            │
                    ▼               ▼            │
                 Executing ◄──► Verifying        │     moves, then the checks at the end
                  │     │        │      │        │
           ┌──────┘     └────┐   │      └────────┼──┐
           ▼                 ▼   ▼               │  ▼
       Cancelling ────► RollingBack ◄────────────┘ Completed | Failed
           │                 │
           ▼                 ▼
       Cancelled         RolledBack

- A reassignment that has not started can be cancelled, or wait again, at any time.
- *Queued* and *Paused* are reported before the start and while the reassignment runs: one that
  cannot go on lets others begin, and waits in the queue before it submits another move.
- *Completed*, *Failed* and *Cancelled* are final unless the user asks for a rollback. *RolledBack*
  and *Invalid* are final.
- A plan that is executed in pieces goes through the table once for each piece.

What the reassignment works towards is its *intent*. It only goes down the table `PHASES`: a
cancelled reassignment can be rolled back, but not resumed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.persisted_state import Intent

_S = LifecycleState


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """The states that an intent goes through."""

    active: LifecycleState
    """While moves are submitted or cancelled."""
    closing: LifecycleState
    """Once every move is over."""
    outcome: LifecycleState
    """At the end, unless a move has failed."""


_CANCEL = Phases(active=_S.CANCELLING, closing=_S.CANCELLING, outcome=_S.CANCELLED)

PHASES: Mapping[Intent, Phases] = {
    Intent.EXECUTE: Phases(active=_S.EXECUTING, closing=_S.VERIFYING, outcome=_S.COMPLETED),
    Intent.CANCEL: _CANCEL,
    Intent.ROLL_BACK: Phases(
        active=_S.ROLLING_BACK, closing=_S.ROLLING_BACK, outcome=_S.ROLLED_BACK
    ),
    Intent.CANCEL_ON_DELETE: _CANCEL,
    Intent.ORPHAN: _CANCEL,
}
"""In the order in which an intent may replace another."""

INTENT_RANK: Mapping[Intent, int] = {intent: rank for rank, intent in enumerate(PHASES)}

_NOT_STARTED = frozenset({_S.PENDING, _S.PLANNING, _S.AWAITING_APPROVAL, _S.QUEUED, _S.PAUSED})
_ENDED_BEFORE_START = frozenset({_S.INVALID, _S.CANCELLED, _S.ROLLED_BACK})
_STARTED = frozenset({_S.EXECUTING, _S.VERIFYING, _S.CANCELLING, _S.ROLLING_BACK})
_BEFORE_START = _NOT_STARTED | _ENDED_BEFORE_START | {_S.EXECUTING, _S.VERIFYING}

NEXT_STATES: Mapping[LifecycleState, frozenset[LifecycleState]] = {
    _S.PENDING: _BEFORE_START,
    _S.PLANNING: _BEFORE_START,
    _S.AWAITING_APPROVAL: _BEFORE_START,
    _S.QUEUED: _BEFORE_START | _STARTED | {_S.COMPLETED, _S.FAILED},
    _S.PAUSED: _BEFORE_START | _STARTED | {_S.COMPLETED, _S.FAILED},
    _S.EXECUTING: _STARTED | {_S.QUEUED, _S.PAUSED, _S.COMPLETED, _S.FAILED},
    _S.VERIFYING: _STARTED | {_S.QUEUED, _S.PAUSED, _S.COMPLETED, _S.FAILED},
    _S.CANCELLING: frozenset({_S.CANCELLING, _S.CANCELLED, _S.QUEUED, _S.ROLLING_BACK}),
    _S.ROLLING_BACK: frozenset(
        {_S.ROLLING_BACK, _S.ROLLED_BACK, _S.FAILED, _S.QUEUED, _S.PAUSED, _S.CANCELLING}
    ),
    _S.COMPLETED: frozenset({_S.COMPLETED, _S.QUEUED, _S.ROLLING_BACK}),
    _S.CANCELLED: frozenset({_S.CANCELLED, _S.QUEUED, _S.ROLLING_BACK}),
    _S.FAILED: frozenset({_S.FAILED, _S.QUEUED, _S.ROLLING_BACK}),
    _S.ROLLED_BACK: frozenset({_S.ROLLED_BACK}),
    _S.INVALID: frozenset({_S.INVALID}),
}
