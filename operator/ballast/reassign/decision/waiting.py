"""The steps of a reassignment that waits for others: in the queue, or for their pending moves."""

from ballast.reassign.decision.steps import Wait
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.queueing import QueuePlace

_NAMED = 3
"""How many of those before in the queue are named in a message."""


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
