"""Bugs in what is done for clients that wait and vanish.

Each undoes one of the rules by which they cost nobody else.
"""

from dataclasses import dataclass
from typing import Any

import pytest

from ballast.broker.apis.responses import DelayedResponse
from ballast.net.server import liveness
from ballast.net.server.liveness import NEVER, Liveness
from ballast.purgatory.shares import Holder, WaitShares
from tests.simulation.mutants.mutant import Mutant, NotFound
from tests.simulation.vanishing_clients import run_vanishings
from tests.simulation.violations import InvariantViolation


@dataclass(frozen=True, slots=True)
class Vanishing:
    """A run in which crowds of clients vanish; the rule is broken."""

    rule: str
    seeds: int = 4

    def check(self) -> None:
        for seed in range(self.seeds):
            run_vanishings(seed)

    def find(self) -> str:
        for seed in range(self.seeds):
            try:
                run_vanishings(seed)
            except InvariantViolation as violation:
                if violation.rule != self.rule:
                    raise NotFound(f"{violation}, not {self.rule}") from violation
                return f"{violation.rule} by seed {seed}"
        raise NotFound(f"{self.seeds} runs with crowds that vanish find nothing")


def a_wait_outlives_its_connection(patch: pytest.MonkeyPatch) -> None:
    # The operation stays in the purgatory, and counts, until its own time is up.
    when_over = DelayedResponse.when_over

    def only_when_answered(answer: DelayedResponse[Any], *, ended: Any, abandoned: Any) -> None:
        del abandoned
        when_over(answer, ended=ended, abandoned=lambda: None)

    patch.setattr(DelayedResponse, "when_over", only_when_answered)


def a_bound_is_everybodys(patch: pytest.MonkeyPatch) -> None:
    # Once so many wait, nobody else may.
    begin = WaitShares.begin

    def up_to_the_capacity(shares: WaitShares, holder: Holder) -> bool:
        return shares.total < shares._capacity and begin(shares, holder)

    patch.setattr(WaitShares, "begin", up_to_the_capacity)


def a_connection_with_open_requests_is_never_idle(patch: pytest.MonkeyPatch) -> None:
    # A client that has vanished with as many requests as it may have keeps its connection.
    overdue = Liveness.overdue

    def unless_held(state: Liveness, now: float, *, pending: int, unsent: int) -> str | None:
        if state._held_at != NEVER:
            return None
        return overdue(state, now, pending=pending, unsent=unsent)

    patch.setattr(Liveness, "overdue", unless_held)


def a_connection_is_looked_at_too_early(patch: pytest.MonkeyPatch) -> None:
    # Just before its idle time is over, and then not for another period.
    patch.setattr(liveness, "EARLY_S", 0.0)


MUTANTS = (
    Mutant(a_wait_outlives_its_connection, Vanishing("V2")),
    Mutant(a_bound_is_everybodys, Vanishing("V1")),
    Mutant(a_connection_with_open_requests_is_never_idle, Vanishing("V2")),
    Mutant(a_connection_is_looked_at_too_early, Vanishing("V2")),
)
