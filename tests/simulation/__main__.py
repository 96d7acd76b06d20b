"""Replay a seed, or run many: ``python -m tests.simulation 17``, or ``0-1999 --steps 5000``."""

import argparse
import os
import sys
import time

from tests.simulation.campaign import campaign
from tests.simulation.scenario import Outcome, run_seed


def main(arguments: list[str] | None = None) -> int:
    """Run the seeds given; return 1 if one of them broke a promise."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("seeds", help="one seed, or first-last")
    parser.add_argument("--steps", type=int, default=0, help="of a seed under faults, at least")
    parser.add_argument(
        "--faults",
        type=lambda text: tuple(text.split(",")),
        default=(),
        help="of these kinds only, joined by commas",
    )
    parser.add_argument("--lines", type=int, default=400, help="of the trace to show")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    first, dash, last = options.seeds.partition("-")
    if dash:
        return campaign(
            range(int(first), int(last) + 1),
            min_steps=options.steps,
            kinds=options.faults,
            processes=options.processes,
            lines=options.lines,
        )
    began = time.perf_counter()
    outcome = run_seed(
        int(first), lines_kept=options.lines, min_steps=options.steps, kinds=options.faults
    )
    _show(outcome, time.perf_counter() - began, options.lines)
    return 0 if outcome.failure is None else 1


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
