"""The controller may die after any effect of any scenario."""

import pytest

from tests.simulation.crash_equivalence import SCENARIOS, sweep


@pytest.mark.parametrize("second_crash", [0, 1, 3], ids=["once", "twice", "later again"])
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_interrupted_after_any_effect_it_ends_the_same(
    scenario: str, second_crash: int
) -> None:
    """C8 and R6."""
    assert await sweep(scenario, second_crash=second_crash) > 3
