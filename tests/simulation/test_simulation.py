"""200 seeds of the whole system: every promise is kept, whatever goes wrong.

A seed that fails says how to run it again. ``BALLAST_SIMULATION_FIRST_SEED`` moves the range, to
look at other seeds than always the same.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.scenario import Outcome, run_seed

CHUNKS = 10
SEEDS_PER_CHUNK = 20
FIRST_SEED = int(os.environ.get("BALLAST_SIMULATION_FIRST_SEED", "0"))


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_promise_is_kept(chunk: int) -> None:
    first = FIRST_SEED + chunk * SEEDS_PER_CHUNK
    outcomes = []
    for seed in range(first, first + SEEDS_PER_CHUNK):
        outcome = run_seed(seed)
        if outcome.failure is not None:
            pytest.fail(outcome.describe(), pytrace=False)
        outcomes.append(outcome)
    require_reach(outcomes)


def require_reach(outcomes: list[Outcome]) -> None:
    """Fail when the runs were too quiet to show anything."""
    assert sum(outcome.acknowledged for outcome in outcomes) > 25 * len(outcomes)
    assert sum(outcome.completed_moves for outcome in outcomes) > len(outcomes) / 2
    assert sum(outcome.faults for outcome in outcomes) > 3 * len(outcomes)
    assert sum(outcome.elections for outcome in outcomes) > len(outcomes)
    compacted = [
        outcome for outcome in outcomes if outcome.seed_plan and outcome.seed_plan.compaction
    ]
    assert all(outcome.tables_read for outcome in compacted)
    assert sum(outcome.compacted_replicas for outcome in compacted) >= len(compacted)
    assert sum(outcome.directory_moves for outcome in outcomes) > len(outcomes) / 2


def test_a_seed_gives_the_same_run_in_every_process() -> None:
    """Sets of strings iterate differently from process to process: no effect may depend on it."""
    digests = {
        subprocess.run(
            [sys.executable, "-m", "tests.simulation", "9"],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": "operator:."},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            check=True,
            text=True,
        ).stdout.rpartition("digest ")[2]
        for hash_seed in ("1", "2")
    }

    assert len(digests) == 1
