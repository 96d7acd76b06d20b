"""Clients that ask for long waits and vanish."""

import pytest

from tests.simulation.vanishing_clients import CAPACITY, run_vanishings


@pytest.mark.parametrize("seed", range(4))
def test_what_vanished_clients_asked_for_costs_nobody_else(seed: int) -> None:
    outcome = run_vanishings(seed)
    assert outcome.acknowledged > 100
    assert outcome.honest_fetches > 20
    assert outcome.waits_max > CAPACITY / 2
