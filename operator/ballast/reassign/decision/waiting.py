"""What a reassignment waits for, in words, and the states it waits in."""

from collections.abc import Mapping

from ballast.reassign.decision.steps import Wait
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.persisted_state import Intent
from ballast.reassign.state.queueing import QueuePlace

_NAMED = 3
"""How many of those before in the queue are named in a message."""

ACTIVE_STATE: Mapping[Intent, LifecycleState] = {
    Intent.EXECUTE: LifecycleState.EXECUTING,
    Intent.CANCEL: LifecycleState.CANCELLING,
    Intent.ROLL_BACK: LifecycleState.ROLLING_BACK,
    Intent.CANCEL_ON_DELETE: LifecycleState.CANCELLING,
    Intent.LEAVE: LifecycleState.CANCELLING,
}
"""While moves are started or taken back."""

CLOSING_STATE: Mapping[Intent, LifecycleState] = {
    **ACTIVE_STATE,
    Intent.EXECUTE: LifecycleState.VERIFYING,
}
"""Once all moves are over."""


def wait_for_turn(place: QueuePlace) -> Wait:
    """Return the step of one that others are before in the queue."""
    names = ", ".join(place.blocked_by[:_NAMED])
    more = len(place.blocked_by) - _NAMED
    message = f"behind {names}" if names else ""
    message += f" and {more} more" if more > 0 else ""
    return Wait(state=LifecycleState.QUEUED, reason="Queued", message=message)


def wait_for_foreign(state: LifecycleState, count: int, first: str) -> Wait:
    """Return the step while others move partitions, such as ``first``, that it must not meet."""
    return Wait(
        state=state,
        reason="ForeignReassignment",
        message=f"{count} reassignments of others are pending, such as {first}",
    )
