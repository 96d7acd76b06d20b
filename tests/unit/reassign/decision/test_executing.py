"""What is done about moves that do not come on."""

from dataclasses import replace

from ballast.reassign.decision.decide import decide
from ballast.reassign.decision.decision_input import TransientState
from ballast.reassign.decision.steps import (
    CancelActive,
    SubmitBatch,
    Wait,
)
from ballast.reassign.spec.spec import DesiredState
from tests.unit.reassign.builders import T0, decision_input, observation, partition, persisted_state
from tests.unit.reassign.decision.test_decide import FORWARD

PAUSED, CANCELLED = DesiredState.PAUSED, DesiredState.CANCELLED
ROLLED_BACK = DesiredState.ROLLED_BACK


class TestMovesToAFullVolume:
    def test_none_is_started_and_it_says_so(self) -> None:
        there = observation(partition(T0, 1, 2, 3))
        free = decision_input(there, state=persisted_state())
        assert isinstance(decide(free), SubmitBatch)
        step = decide(replace(free, full_brokers=frozenset({4})))
        assert isinstance(step, Wait)
        assert step.reason == "TargetVolumeFull"
        assert "such as 4; 0 moves in flight" in step.message

    def test_a_full_broker_that_gets_nothing_is_no_matter(self) -> None:
        there = observation(partition(T0, 1, 2, 3))
        step = decide(
            replace(decision_input(there, state=persisted_state()), full_brokers=frozenset({1, 3}))
        )
        assert isinstance(step, SubmitBatch)


class TestMovesToADeadBroker:
    def test_what_is_under_way_keeps_the_turn(self) -> None:
        going = observation(partition(T0, 4, 1, 2), pending={T0: FORWARD}, live=(1, 2, 3))
        step = decide(
            decision_input(going, state=persisted_state(), transient=TransientState(is_idle=True))
        )
        assert isinstance(step, Wait)
        assert step.reason == "Moving"

    def test_after_the_deadline_moves_to_a_dead_broker_are_taken_back(self) -> None:
        going = observation(partition(T0, 4, 1, 2), pending={T0: FORWARD}, live=(1, 2, 3))
        step = decide(
            decision_input(
                going, state=persisted_state(), transient=TransientState(is_stalled=True)
            )
        )
        assert step == CancelActive(partitions=(T0,))
        alive = observation(partition(T0, 4, 1, 2), pending={T0: FORWARD})
        waits = decide(
            decision_input(
                alive, state=persisted_state(), transient=TransientState(is_stalled=True)
            )
        )
        assert isinstance(waits, Wait)
        assert waits.reason == "ProgressDeadlineExceeded"
