"""Each way in which a reassignment meets what it cannot change, from some seeds."""

import pytest

from tests.simulation.hard_moves import PLACES, WAYS, run_hard_moves

SEEDS = range(4)


@pytest.mark.parametrize("way", WAYS)
def test_reassignments_end_or_let_others_pass(way: str) -> None:
    outcomes = [run_hard_moves(seed, way) for seed in SEEDS]
    assert {outcome.place for outcome in outcomes} == {*PLACES}
    assert {outcome.killed for outcome in outcomes} == {False, True}
