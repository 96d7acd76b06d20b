"""Test suites of foreign clients, as published: what became of each of their tests."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from xml.etree import ElementTree

NEEDED_SHARE = 0.95
"""How much of what can pass at all must pass."""


class Outcome(StrEnum):
    """What became of one test."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, kw_only=True)
class SuiteRun:
    """One run of a suite, and which of its tests cannot count here."""

    suite: str
    outcomes: Mapping[str, Outcome]
    excused: Mapping[str, str] = field(default_factory=dict)
    """The beginnings of test names, and what these tests need that is not there to be had."""

    def excuse(self, name: str) -> str | None:
        """Return why a test does not count."""
        for beginning, reason in self.excused.items():
            if name.startswith(beginning):
                return reason
        return None

    def named(self, outcome: Outcome) -> list[str]:
        """Return the tests that count and ended so."""
        return sorted(
            name
            for name, found in self.outcomes.items()
            if found is outcome and self.excuse(name) is None
        )

    @property
    def share(self) -> float:
        """How much of what counts, and was not skipped by the suite itself, has passed."""
        passed = len(self.named(Outcome.PASSED))
        return passed / max(1, passed + len(self.named(Outcome.FAILED)))

    def summary(self) -> str:
        """Return a line of figures, and one for each test that failed or did not count."""
        counted = {outcome: len(self.named(outcome)) for outcome in Outcome}
        excused = {name: self.excuse(name) for name in sorted(self.outcomes) if self.excuse(name)}
        return "\n".join(
            [
                f"{self.suite}: {counted[Outcome.PASSED]} passed, "
                f"{counted[Outcome.FAILED]} failed, {counted[Outcome.SKIPPED]} skipped, "
                f"{len(excused)} not counted ({100 * self.share:.1f} %)",
                *(f"  failed: {name}" for name in self.named(Outcome.FAILED)),
                *(f"  not counted: {name}: {reason}" for name, reason in excused.items()),
            ]
        )


def cache(name: str) -> Path:
    """Return a folder that outlives the run, for what has been fetched."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "ballast" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def outcomes_of_junit(report: Path) -> dict[str, Outcome]:
    """Read the report that ``pytest --junitxml`` writes; a test's name begins with its module's."""
    outcomes: dict[str, Outcome] = {}
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314 - written by pytest here
        module = case.get("classname", "").removeprefix("test.integration.")
        name = f"{module}.{case.get('name')}"
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            outcomes[name] = Outcome.FAILED
        elif "skipped" in kinds:
            outcomes.setdefault(name, Outcome.SKIPPED)
        else:
            outcomes.setdefault(name, Outcome.PASSED)
    return outcomes
