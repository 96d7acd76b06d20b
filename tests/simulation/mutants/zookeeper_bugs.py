"""Bugs of what happens while ZooKeeper is away: sessions, acknowledgements, who leads."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ballast.broker.following.newer_leaders import NewerLeaders
from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas import produce
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.candidate.returning_brokers import ReturningBrokers
from ballast.protocol.error_codes import ErrorCode
from ballast.replication.partition import LeaderView
from tests.simulation.mutants.mutant import Mutant, NotFound, Test
from tests.simulation.violations import InvariantViolation
from tests.simulation.zookeeper_away import run_away

AWAY_S = 8.0


@dataclass(frozen=True, slots=True)
class Away:
    """A run in which ZooKeeper is away in one way; one of the rules is broken."""

    rules: frozenset[str]
    way: str
    seeds: int = 5

    def check(self) -> None:
        for seed in range(self.seeds):
            run_away(seed, self.way, AWAY_S)

    def find(self) -> str:
        for seed in range(self.seeds):
            try:
                run_away(seed, self.way, AWAY_S)
            except InvariantViolation as violation:
                if violation.rule not in self.rules:
                    raise NotFound(f"{violation}, not {sorted(self.rules)}") from violation
                return f"{violation.rule} by seed {seed}, ZooKeeper {self.way}"
        raise NotFound(f"{self.seeds} runs with ZooKeeper {self.way} find nothing")


def waiting_produces_are_not_tried_again(patch: pytest.MonkeyPatch) -> None:
    # While the broker is not registered nothing is acknowledged, and nobody looks again after it.
    acknowledgement = produce.acknowledgement

    def held(replicas: ReplicaManager, partition: Partition | None, produced: Any) -> Any:
        if not replicas.identity.is_registered:
            return None
        return acknowledgement(replicas, partition, produced)

    patch.setattr(produce, "acknowledgement", held)


def nothing_is_acknowledged_without_a_session(patch: pytest.MonkeyPatch) -> None:
    # A leader refuses what it is sent until it has registered again.
    acknowledgement = produce.acknowledgement

    def refused(replicas: ReplicaManager, partition: Partition | None, produced: Any) -> Any:
        if not replicas.identity.is_registered:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return acknowledgement(replicas, partition, produced)

    patch.setattr(produce, "acknowledgement", refused)


def leaders_without_zookeeper_count_themselves_alone(patch: pytest.MonkeyPatch) -> None:
    # A leader that cannot write the ISR acts as if it had put everybody else out of it.
    certain: dict[int, Callable[[], bool]] = {}
    made, advance = NewerLeaders.__init__, LeaderView.advance_high_watermark

    def make(self: NewerLeaders, replicas: ReplicaManager, *others: Any) -> None:
        made(self, replicas, *others)
        certain[replicas.identity.broker_id] = self._is_certain

    def advance_alone(view: LeaderView, log_end_offset: int, now: float, lag_ms: int) -> bool:
        if certain[view.broker_id]() or log_end_offset <= view.high_watermark:
            return advance(view, log_end_offset, now, lag_ms)
        view.high_watermark = log_end_offset
        return True

    patch.setattr(NewerLeaders, "__init__", make)
    patch.setattr(LeaderView, "advance_high_watermark", advance_alone)


def deposed_leaders_ask_nobody(patch: pytest.MonkeyPatch) -> None:
    # A leader that is cut off from ZooKeeper holds its clients until their time is up.
    patch.setattr(NewerLeaders, "take", lambda *_: None)


def controllers_wait_for_nobody(patch: pytest.MonkeyPatch) -> None:
    # Brokers that have not registered again yet are taken for dead.

    async def go_on(_: ReturningBrokers, __: float) -> None:
        return None

    patch.setattr(ReturningBrokers, "wait", go_on)


def rules(*names: str) -> frozenset[str]:
    return frozenset(names)


MUTANTS = (
    Mutant(waiting_produces_are_not_tried_again, Away(rules("W1", "W2"), "frozen")),
    Mutant(
        nothing_is_acknowledged_without_a_session,
        Test(
            "tests/unit/broker/test_broker.py::test_a_leader_serves_whatever_becomes_of_its_session"
        ),
    ),
    Mutant(
        leaders_without_zookeeper_count_themselves_alone,
        Away(rules("P1", "P2", "P3", "P4", "P7"), "cut off from one broker"),
    ),
    Mutant(deposed_leaders_ask_nobody, Away(rules("W1"), "cut off from one broker")),
    Mutant(
        controllers_wait_for_nobody,
        Test(
            "tests/unit/candidate/test_candidate.py"
            "::test_brokers_whose_sessions_ended_with_the_controllers_are_waited_for",
            away_s=2,
            isr=[1, 2, 3],
        ),
    ),
)
