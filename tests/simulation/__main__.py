"""Replay a seed or a range of them: ``python -m tests.simulation 17``, or ``0-99``."""

import argparse
import sys
import time

from tests.simulation.scenario import Outcome, run_seed


def main(arguments: list[str] | None = None) -> int:
    """Run the seeds given; return 1 if one of them broke a promise."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("seeds", help="one seed, or first-last")
    parser.add_argument("--lines", type=int, default=400, help="of the trace to show")
    options = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("-")
    failed = 0
    for seed in range(int(first), int(last or first) + 1):
        began = time.perf_counter()
        outcome = run_seed(seed, lines_kept=options.lines)
        _show(outcome, time.perf_counter() - began, options.lines)
        failed += outcome.failure is not None
    return 1 if failed else 0


def _show(outcome: Outcome, seconds: float, lines: int) -> None:
    if outcome.failure is not None:
        print(outcome.describe(lines))
    print(
        f"seed {outcome.seed}: {'FAILED' if outcome.failure else 'ok'}, "
        f"{outcome.virtual_s:.1f} virtual s in {seconds:.2f} s, {outcome.steps} steps, "
        f"{outcome.acknowledged} acknowledged, {outcome.completed_moves} moves, "
        f"{outcome.faults} faults, {outcome.elections} elections, digest {outcome.trace.digest:08x}"
    )


if __name__ == "__main__":
    sys.exit(main())
