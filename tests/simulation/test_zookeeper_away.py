"""ZooKeeper away in each way, for less and for more than a session."""

import pytest

from tests.simulation.zookeeper_away import WAYS, run_away


@pytest.mark.parametrize("away_s", [1.0, 8.0, 40.0])
@pytest.mark.parametrize("way", WAYS)
def test_acknowledgements_do_not_wait_for_zookeeper(way: str, away_s: float) -> None:
    outcome = run_away(3, way, away_s)
    # As many as there is time for: six producers, ten times a second each.
    assert outcome.acknowledged > 40 * away_s / 2
