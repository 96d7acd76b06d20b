"""Which piece of a large plan is executed next, and from which state it starts. Pure."""

from ballast.reassign.plan.pieces import Piece
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.lifecycle import INTENT_RANK
from ballast.reassign.state.persisted_state import Intent, PersistedState


def piece_to_run(state: PersistedState, requested: Intent) -> Piece | None:
    """Return the piece to execute now: the persisted one, or its neighbour once that has ended.

    ``requested`` is the intent that the spec asks for. None if the plan is not in pieces.
    """
    piece = state.piece
    if piece is None or state.outcome is None:
        return piece
    intent = max(requested, state.intent, key=lambda one: INTENT_RANK[one])
    is_back = state.outcome is LifecycleState.ROLLED_BACK
    if is_back or (intent is Intent.ROLL_BACK and state.start_time_ms is None):
        # Every piece before this one has been executed.
        return piece.at(piece.number - 1) if piece.number and intent is not Intent.ORPHAN else piece
    if intent is Intent.EXECUTE and state.outcome is LifecycleState.COMPLETED:
        return piece if piece.is_last else piece.at(piece.number + 1)
    return piece


def has_more_pieces(state: PersistedState, requested: Intent) -> bool:
    """Whether the persisted piece has ended, and another one is to be executed."""
    return state.outcome is not None and piece_to_run(state, requested) != state.piece


def outcome_of_whole(state: PersistedState, outcome: LifecycleState) -> LifecycleState:
    """Return the outcome of the whole plan if no piece follows one with this outcome."""
    piece = state.piece
    is_part = piece is not None and not piece.is_last
    if is_part and outcome is LifecycleState.COMPLETED and state.intent is Intent.EXECUTE:
        return LifecycleState.CANCELLED
    return outcome


def is_next_piece(piece: Piece | None, state: PersistedState) -> bool:
    """Whether a piece may replace the persisted one, which has ended."""
    return (
        piece is not None
        and state.piece is not None
        and state.outcome is not None
        and piece.is_next_to(state.piece)
    )
