"""The steps of a reassignment that waits for others: in the queue, or for their pending moves."""

from ballast.reassign.decision.steps import Wait
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.queueing import QueuePlace

_NAMED = 3
"""Reassignments before this one that a message names."""


def wait_for_turn(place: QueuePlace) -> Wait:
    """Return the step while other reassignments are before this one in the queue."""
    names = ", ".join(place.blocked_by[:_NAMED])
    more = len(place.blocked_by) - _NAMED
    message = f"behind {names}" if names else ""
    message += f" and {more} more" if more > 0 else ""
    return Wait(state=LifecycleState.QUEUED, reason="Queued", message=message)


def wait_for_foreign(state: LifecycleState, count: int, first: str) -> Wait:
    """Return the step while reassignments outside the plan, such as ``first``, are pending."""
    return Wait(
        state=state,
        reason="ForeignReassignment",
        message=f"{count} reassignments that are not part of the plan are pending, such as {first}",
    )
