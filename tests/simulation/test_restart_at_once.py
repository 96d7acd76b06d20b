"""Everything stops at once under idempotent writers."""

import pytest

from tests.simulation.restart_at_once import run_restarts


@pytest.mark.parametrize("seed", [5, 6, 7, 9])
def test_an_idempotent_writer_outlives_the_end_of_everything_at_once(seed: int) -> None:
    outcome = run_restarts(seed)
    assert outcome.acknowledged > 100
    assert outcome.repeated > 0
