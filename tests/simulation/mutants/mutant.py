"""What a mutant is, and the ways in which one is found."""

import asyncio
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from tests.simulation.crash_equivalence import sweep
from tests.simulation.replica_group import ReplicaGroup
from tests.simulation.scenario import NotConverged, run_seed
from tests.simulation.violations import InvariantViolation

MAX_SEEDS = 1_000
STEPS_OF_A_WALK = 400
ASSERTION = "assertion"
"""The rule of whatever the product asserts itself."""


class NotFound(Exception):
    """The bug was not found, or what should find it fails without the bug too."""


class Finder(Protocol):
    """Something that finds a bug."""

    def check(self) -> None:
        """Raise `NotFound` if this finds a bug where there is none; run without the mutant."""

    def find(self) -> str:
        """Return what was found, and where; raises `NotFound`."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """Seeds of the whole simulation; one of the rules (C7: it does not come to rest) is broken.

    ``kinds`` of faults are those that the bug needs, where drawn ones would take long.
    """

    rules: frozenset[str]
    kinds: tuple[str, ...] = ()
    limit: int = MAX_SEEDS

    def check(self) -> None:
        """Trust the simulation's own tests: hundreds of seeds pass."""

    def find(self) -> str:
        for seed in range(self.limit):
            failure = run_seed(seed, kinds=self.kinds).failure
            if failure is None:
                continue
            rule = _rule(failure)
            if rule in self.rules:
                return f"{rule} by seed {seed}"
            raise NotFound(f"seed {seed} fails with {failure!r}, not by {sorted(self.rules)}")
        raise NotFound(f"{self.limit} seeds find nothing")


def _rule(failure: BaseException) -> str:
    if isinstance(failure, InvariantViolation):
        return failure.rule
    return "C7" if isinstance(failure, NotConverged) else type(failure).__name__


@dataclass(frozen=True, slots=True)
class Walks:
    """Random walks of a replica group; one of the rules is broken."""

    rules: frozenset[str]
    group: type[ReplicaGroup] = ReplicaGroup
    limit: int = MAX_SEEDS

    def check(self) -> None:
        """Trust the group's own tests: thousands of walks pass."""

    def find(self) -> str:
        for seed in range(self.limit):
            try:
                violation = self.group(seed).walk(STEPS_OF_A_WALK)
            except AssertionError as failure:
                violation = f"{ASSERTION}: {failure}"
            if violation is not None:
                rule = violation.partition(":")[0]
                if rule not in self.rules:
                    raise NotFound(f"walk {seed} breaks {violation}, not {sorted(self.rules)}")
                return f"{rule} by walk {seed}"
        raise NotFound(f"{self.limit} walks find nothing")


@dataclass(frozen=True, slots=True)
class Crashes:
    """Crashes after every effect of one scenario; the cluster asserts R1, R2 and R4 meanwhile."""

    scenario: str

    def check(self) -> None:
        asyncio.run(sweep(self.scenario))

    def find(self) -> str:
        try:
            boundaries = asyncio.run(sweep(self.scenario))
        except AssertionError as failure:
            return f"crashes of {self.scenario!r}: {_first_line(failure)}"
        raise NotFound(f"{boundaries} boundaries of {self.scenario!r} find nothing")


class Test:
    """A named test; arguments are those of its parameters, if it has any."""

    def __init__(self, name: str, **arguments: Any) -> None:
        self._name = name
        self._arguments = arguments

    def check(self) -> None:
        try:
            self._run()
        except BaseException as failure:
            raise NotFound(f"{self._name} fails without the bug: {failure!r}") from failure

    def find(self) -> str:
        try:
            self._run()
        except (AssertionError, Exception, pytest.fail.Exception) as failure:  # noqa: BLE001
            return f"{self._name}: {_first_line(failure)}"
        raise NotFound(f"{self._name} passes")

    def _run(self) -> None:
        path, _, names = self._name.partition("::")
        found: Any = importlib.import_module(path.removesuffix(".py").replace("/", "."))
        for name in names.split("::"):
            found = getattr(found() if inspect.isclass(found) else found, name)
        with pytest.MonkeyPatch.context() as patch:
            wants = inspect.signature(found).parameters
            given = {"monkeypatch": patch} if "monkeypatch" in wants else {}
            outcome = found(**given, **self._arguments)
            if inspect.iscoroutine(outcome):
                asyncio.run(outcome)


def _first_line(failure: BaseException) -> str:
    return (str(failure).splitlines() or [type(failure).__name__])[0][:100]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One deliberate bug."""

    plant: Callable[[pytest.MonkeyPatch], None]
    """Puts the bug in; its name is the bug's."""
    finder: Finder
    published: str = ""
    """The number of the defect in Kafka, where it was one."""

    @property
    def name(self) -> str:
        """What the bug does, in words with underscores."""
        return self.plant.__name__

    def hunt(self) -> str:
        """Put the bug in and return what found it; raises `NotFound`."""
        self.finder.check()
        with pytest.MonkeyPatch.context() as patch:
            self.plant(patch)
            return self.finder.find()
