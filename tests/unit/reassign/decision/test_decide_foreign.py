"""Pending moves of others: what they touch waits, the rest goes on."""

from collections.abc import Mapping

import pytest

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decide import decide
from ballast.reassign.decision.steps import SaveMemory, SubmitBatch, Wait
from tests.unit.reassign.worlds import T0, TARGETS, memory, observed, world

Pending = Mapping[TopicPartition, ReplicaAssignment]


def pending(origin: int, target: int) -> Pending:
    return {TopicPartition("other", 0): ReplicaAssignment.of(origin).reassign_to((target,))}


BESIDE_ALL = pending(1, 2)
BESIDE_T1 = pending(3, 5)
APART = pending(5, 6)


def test_it_begins_beside_moves_that_touch_nothing_of_it() -> None:
    step = decide(world(observed(pending=APART), remembered=memory(started=False)))
    assert isinstance(step, SaveMemory)
    assert step.memory.start_time_ms is not None


def test_moves_that_touch_all_of_it_are_waited_for() -> None:
    step = decide(world(observed(pending=BESIDE_ALL), remembered=memory()))
    assert isinstance(step, Wait)
    assert step.reason == "ForeignReassignment"


@pytest.mark.parametrize(
    ("others", "targets"), [(BESIDE_T1, {T0: TARGETS[T0]}), (APART, dict(TARGETS))]
)
def test_what_others_do_not_touch_is_submitted(
    others: Pending, targets: Mapping[TopicPartition, tuple[int, ...]]
) -> None:
    step = decide(world(observed(pending=others), remembered=memory()))
    assert step == SubmitBatch(targets=targets)
