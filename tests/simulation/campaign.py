"""Many seeds at once, over all processors, and the sum of what they came to."""

import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from tests.simulation.crash_equivalence import sweep_all
from tests.simulation.scenario import run_seed
from tests.simulation.violations import InvariantViolation

SEEDS_PER_REPORT = 100


@dataclass(kw_only=True)
class Sum:
    """What seeds came to together."""

    seeds: int = 0
    steps: int = 0
    boundaries: int = 0
    violations: int = 0

    def line(self, seconds: float) -> str:
        """Return the last line of a campaign."""
        rate = self.steps / seconds if seconds else 0.0
        return (
            f"simulate: seeds={self.seeds} steps={self.steps} boundaries={self.boundaries} "
            f"violations={self.violations} ({seconds:.0f} s, {rate:.0f} steps/s)"
        )


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one seed came to; ``failure`` is how to see it again, or None."""

    steps: int
    boundaries: int
    failure: str | None


def _one(seed: int, min_steps: int, lines: int, kinds: Sequence[str]) -> Result:
    outcome = run_seed(seed, lines_kept=lines, min_steps=min_steps, kinds=kinds)
    failure = None if outcome.failure is None else outcome.describe(lines)
    return Result(steps=outcome.steps, boundaries=outcome.boundaries, failure=failure)


def campaign(
    seeds: Iterable[int],
    *,
    min_steps: int,
    kinds: Sequence[str],
    processes: int,
    lines: int,
) -> int:
    """Run the crash sweeps, then the seeds; return 1 if a promise was broken."""
    began = time.perf_counter()
    total = Sum()
    try:
        total.boundaries += sweep_all()
    except InvariantViolation as violation:
        total.violations += 1
        print(violation)
    with ProcessPoolExecutor(processes) as pool:
        run = partial(_one, min_steps=min_steps, lines=lines, kinds=kinds)
        for result in pool.map(run, seeds):
            total.seeds += 1
            total.steps += result.steps
            total.boundaries += result.boundaries
            if result.failure is not None:
                total.violations += 1
                print(result.failure, flush=True)
            if total.seeds % SEEDS_PER_REPORT == 0:
                print(total.line(time.perf_counter() - began), file=sys.stderr, flush=True)
    print(total.line(time.perf_counter() - began))
    return 1 if total.violations else 0
