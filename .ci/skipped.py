"""Prints which tests a run skipped, grouped by what they want: ``skipped.py JUNIT_XML``."""

import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

SKIPPED = re.compile(
    r'<testcase classname="([^"]*)"[^>]*>\s*<skipped [^>]*?message="([^"]*)"', re.DOTALL
)


def skipped_by_reason(report: str) -> Mapping[str, Sequence[str]]:
    """Return the modules of skipped tests, one entry a test, by the reason that the tests give."""
    modules = defaultdict(list)
    for module, reason in SKIPPED.findall(report):
        modules[reason].append(module)
    return modules


def summary(report: str) -> list[str]:
    """Return the lines to print; pytest's JUnit report is its own output and therefore trusted."""
    modules = skipped_by_reason(report)
    count = sum(map(len, modules.values()))
    if not count:
        return ["no test was skipped"]
    lines = [f"{count} tests were skipped (see CONTRIBUTING.md, Tests):"]
    for reason, names in sorted(modules.items(), key=lambda item: (-len(item[1]), item[0])):
        places = ", ".join(sorted({name.removeprefix("tests.") for name in names}))
        lines.append(f"  {len(names):4}  {reason}: {places}")
    return lines


if __name__ == "__main__":
    print("\n".join(summary(Path(sys.argv[1]).read_text())))
