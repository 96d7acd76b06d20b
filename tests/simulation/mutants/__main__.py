"""Try every mutant, or those named: ``python -m tests.simulation.mutants [NAME ...]``."""

import argparse
import sys
import time

from tests.simulation.mutants.catalogue import MUTANTS
from tests.simulation.mutants.mutant import Mutant, NotFound


def main(arguments: list[str] | None = None) -> int:
    """Hunt the mutants; return 1 if one of them was not found."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*MUTANTS, []], metavar="NAME")
    names = parser.parse_args(arguments).names or list(MUTANTS)
    found = sum(hunt(MUTANTS[name]) for name in names)
    print(f"{found} passed, {len(names) - found} failed")
    return 0 if found == len(names) else 1


def hunt(mutant: Mutant) -> bool:
    """Hunt one mutant and say how it went; return whether it was found."""
    began = time.perf_counter()
    try:
        where = f"found: {mutant.hunt()}"
    except NotFound as failure:
        where = f"NOT FOUND: {failure}"
    seconds = time.perf_counter() - began
    published = f" ({mutant.published})" if mutant.published else ""
    print(f"{mutant.name}{published}: {where} in {seconds:.1f} s", flush=True)
    return where.startswith("found")


if __name__ == "__main__":
    sys.exit(main())
