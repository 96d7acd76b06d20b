"""Bugs of reassignments that meet inherited minimums, dead targets and refusals."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pytest

from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.reassign.decision import decide, submission
from ballast.reassign.decision.closing import close
from ballast.reassign.decision.decision_input import DecisionInput, Observation
from ballast.reassign.decision.log_dir_moves import log_dir_cancellations
from ballast.reassign.decision.move_states import MoveStates
from ballast.reassign.decision.steps import CancelActive, ElectPreferred, RestoreThrottle, Step
from ballast.reassign.state.persisted_state import PersistedState
from tests.simulation.hard_moves import run_hard_moves
from tests.simulation.mutants.mutant import Mutant, NotFound
from tests.simulation.violations import InvariantViolation


@dataclass(frozen=True, slots=True)
class Hard:
    """Runs in one way of `hard_moves.WAYS`; the rule is broken."""

    rule: str
    way: str
    seeds: int = 4

    def check(self) -> None:
        for seed in range(self.seeds):
            run_hard_moves(seed, self.way)

    def find(self) -> str:
        for seed in range(self.seeds):
            try:
                run_hard_moves(seed, self.way)
            except InvariantViolation as violation:
                if violation.rule != self.rule:
                    raise NotFound(f"{violation}, not {self.rule}") from violation
                return f"{violation.rule} by seed {seed}, {self.way}"
        raise NotFound(f"{self.seeds} runs in which {self.way} find nothing")


def minimum_is_read_from_topics_alone(patch: pytest.MonkeyPatch) -> None:
    # What topics inherit of min.insync.replicas is not seen.

    async def of_topics(
        admin: AdminClient, topics: Collection[str], names: Collection[str]
    ) -> Mapping[str, Mapping[str, str]]:
        return await admin.topic_configs(topics, names)

    patch.setattr(AdminClient, "effective_topic_configs", of_topics)


def minimum_counts_beyond_the_replicas(patch: pytest.MonkeyPatch) -> None:
    # A partition with one replica waits for two in sync, before it may get a second one.

    def needed(observation: Observation, partition: TopicPartition) -> int:
        return observation.min_isr(partition.topic)

    patch.setattr(Observation, "needed_in_sync", needed)


def cure_waits_for_the_dead(patch: pytest.MonkeyPatch) -> None:
    # A partition under its minimum is not moved off the broker whose death has put it there.
    patch.setattr(submission, "_heals", lambda *_: False)


def throttle_waits_for_elections(patch: pytest.MonkeyPatch) -> None:
    # Preferred leaders are elected first, and the throttle is put back after that.
    under_way = decide._under_way

    def elect_first(inputs: DecisionInput, state: PersistedState, move_states: MoveStates) -> Step:
        step = under_way(inputs, state, move_states)
        if isinstance(step, RestoreThrottle) and not move_states.unfinished:
            later = close(inputs, state, move_states)
            return later if isinstance(later, ElectPreferred) else step
        return step

    patch.setattr(decide, "_under_way", elect_first)


def throttle_waits_for_cancels(patch: pytest.MonkeyPatch) -> None:
    # A cancel that was refused is repeated before anything else is done.

    def again(
        inputs: DecisionInput, state: PersistedState, move_states: MoveStates
    ) -> CancelActive | None:
        copying = log_dir_cancellations(state.plan, inputs.observation)
        return (
            CancelActive(partitions=move_states.own_pending, log_dirs=copying)
            if move_states.own_pending
            else None
        )

    patch.setattr(decide, "_cancel", again)


def what_cannot_end_keeps_its_turn(patch: pytest.MonkeyPatch) -> None:
    # Others wait until the broker is back that this one waits for.
    patch.setattr(PersistedState, "yields_turn", property(lambda _: False))


MUTANTS = (
    Mutant(minimum_is_read_from_topics_alone, Hard("M3", "plan goes below the minimum")),
    Mutant(minimum_counts_beyond_the_replicas, Hard("M1", "single replicas grow")),
    Mutant(cure_waits_for_the_dead, Hard("M1", "dead replica is replaced")),
    Mutant(throttle_waits_for_elections, Hard("M2", "elections are refused")),
    Mutant(throttle_waits_for_cancels, Hard("M2", "cancels are refused")),
    Mutant(what_cannot_end_keeps_its_turn, Hard("M1", "target dies at the end")),
)
