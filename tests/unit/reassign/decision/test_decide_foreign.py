"""Pending moves of others: what they touch waits, the rest goes on."""

from collections.abc import Mapping

import pytest

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decide import decide
from ballast.reassign.decision.steps import SaveState, SubmitBatch, Wait
from tests.unit.reassign.builders import T0, TARGETS, decision_input, observation, persisted_state

Pending = Mapping[TopicPartition, ReplicaAssignment]


def pending(origin: int, target: int) -> Pending:
    return {TopicPartition("other", 0): ReplicaAssignment.of(origin).reassign_to((target,))}


BESIDE_ALL = pending(1, 2)
BESIDE_T1 = pending(3, 5)
APART = pending(5, 6)


def test_it_begins_beside_moves_that_touch_nothing_of_it() -> None:
    step = decide(decision_input(observation(pending=APART), state=persisted_state(started=False)))
    assert isinstance(step, SaveState)
    assert step.state.start_time_ms is not None


def test_moves_that_touch_all_of_it_are_waited_for() -> None:
    step = decide(decision_input(observation(pending=BESIDE_ALL), state=persisted_state()))
    assert isinstance(step, Wait)
    assert step.reason == "ForeignReassignment"


@pytest.mark.parametrize(
    ("others", "targets"), [(BESIDE_T1, {T0: TARGETS[T0]}), (APART, dict(TARGETS))]
)
def test_what_others_do_not_touch_is_submitted(
    others: Pending, targets: Mapping[TopicPartition, tuple[int, ...]]
) -> None:
    step = decide(decision_input(observation(pending=others), state=persisted_state()))
    assert step == SubmitBatch(targets=targets)
