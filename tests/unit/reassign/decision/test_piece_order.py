"""Which piece of a plan follows which."""

import pytest

from ballast.reassign.decision.piece_order import (
    has_more_pieces,
    is_next_piece,
    outcome_of_whole,
    piece_to_run,
)
from ballast.reassign.plan.plan import Plan
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.persisted_state import Intent, PersistedState
from tests.unit.reassign.plan.test_pieces import piece
from tests.unit.reassign.scenario import ORIGINS, TARGETS

COMPLETED, CANCELLED = LifecycleState.COMPLETED, LifecycleState.CANCELLED
FAILED, ROLLED_BACK = LifecycleState.FAILED, LifecycleState.ROLLED_BACK
EXECUTE, CANCEL, ROLL_BACK = Intent.EXECUTE, Intent.CANCEL, Intent.ROLL_BACK


def persisted_state(
    number: int,
    outcome: LifecycleState | None = None,
    intent: Intent = EXECUTE,
    *,
    has_begun: bool = True,
) -> PersistedState:
    return PersistedState(
        name="move",
        plan=Plan.of(TARGETS, ORIGINS),
        piece=piece(number),
        intent=intent,
        outcome=outcome,
        start_time_ms=1 if has_begun else None,
    )


@pytest.mark.parametrize(
    ("before", "wanted", "number"),
    [
        pytest.param(persisted_state(1), EXECUTE, 1, id="under way"),
        pytest.param(persisted_state(1), ROLL_BACK, 1, id="under way, to be rolled back"),
        pytest.param(persisted_state(0, COMPLETED), EXECUTE, 1, id="the next one"),
        pytest.param(persisted_state(2, COMPLETED), EXECUTE, 2, id="none after the last"),
        pytest.param(persisted_state(0, COMPLETED), CANCEL, 0, id="cancelled between two"),
        pytest.param(persisted_state(1, COMPLETED), ROLL_BACK, 1, id="it goes back itself first"),
        pytest.param(
            persisted_state(1, ROLLED_BACK, ROLL_BACK), ROLL_BACK, 0, id="then the one before"
        ),
        pytest.param(
            persisted_state(1, ROLLED_BACK, ROLL_BACK), EXECUTE, 0, id="whatever is wanted then"
        ),
        pytest.param(
            persisted_state(0, ROLLED_BACK, ROLL_BACK), ROLL_BACK, 0, id="none before the first"
        ),
        pytest.param(
            persisted_state(1, ROLLED_BACK, has_begun=False), ROLL_BACK, 0, id="not begun"
        ),
        pytest.param(
            persisted_state(1, CANCELLED, has_begun=False), ROLL_BACK, 0, id="cancelled first"
        ),
        pytest.param(persisted_state(1, FAILED), EXECUTE, 1, id="nothing follows a failure"),
        pytest.param(
            persisted_state(1, CANCELLED, CANCEL), EXECUTE, 1, id="nothing follows a cancel"
        ),
    ],
)
def test_the_piece_that_is_carried_on(before: PersistedState, wanted: Intent, number: int) -> None:
    assert piece_to_run(before, wanted) == piece(number)
    assert before.piece is not None
    assert has_more_pieces(before, wanted) is (number != before.piece.number)
    assert is_next_piece(piece(number), before) is (number != before.piece.number)


def test_what_ends_between_two_pieces_is_cancelled() -> None:
    assert outcome_of_whole(persisted_state(0, COMPLETED), COMPLETED) is CANCELLED
    assert outcome_of_whole(persisted_state(2, COMPLETED), COMPLETED) is COMPLETED
    assert outcome_of_whole(persisted_state(0, FAILED), FAILED) is FAILED


def test_a_plan_in_one_piece_has_no_order() -> None:
    whole = PersistedState(name="move", plan=Plan.of(TARGETS, ORIGINS), outcome=COMPLETED)
    assert piece_to_run(whole, EXECUTE) is None
    assert not is_next_piece(piece(1), whole)
