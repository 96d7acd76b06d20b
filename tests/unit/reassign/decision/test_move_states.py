import pytest

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import Observation, TransientState
from ballast.reassign.decision.move_states import classify_moves, foreign_moves
from ballast.reassign.plan.progress import MoveState
from ballast.reassign.ports import RequestError
from ballast.reassign.state.persisted_state import Intent
from tests.unit.reassign.builders import (
    ORIGINS,
    PLAN,
    T0,
    T1,
    T2,
    observation,
    partition,
    persisted_state,
)

FORWARD = ReplicaAssignment.of(1, 2).reassign_to((1, 4))
ELSEWHERE = ReplicaAssignment.of(1, 2).reassign_to((1, 3))
ERROR = RequestError(error="X", message="")


@pytest.mark.parametrize(
    ("seen", "transient", "state"),
    [
        pytest.param(observation(), TransientState(), MoveState.PENDING, id="where it was"),
        pytest.param(
            observation(partition(T0, 4, 1, 2), pending={T0: FORWARD}),
            TransientState(),
            MoveState.IN_PROGRESS,
            id="on its way",
        ),
        pytest.param(
            observation(partition(T0, 1, 4)),
            TransientState(),
            MoveState.COMPLETED,
            id="where it goes",
        ),
        pytest.param(
            observation(partition(T0, 4, 1)), TransientState(), MoveState.PENDING, id="order counts"
        ),
        pytest.param(
            observation(partition(T0, 1, 4), pending={T0: FORWARD}),
            TransientState(),
            MoveState.IN_PROGRESS,
            id="pending counts more than metadata",
        ),
        pytest.param(
            observation(pending={T0: ELSEWHERE}),
            TransientState(),
            MoveState.FOREIGN,
            id="moved elsewhere",
        ),
        pytest.param(
            observation(partition(T1, 3, 2)),
            TransientState(),
            MoveState.BLOCKED,
            id="invisible for a moment",
        ),
        pytest.param(
            observation(partition(T1, 3, 2)),
            TransientState(deleted=frozenset({T0})),
            MoveState.SKIPPED,
            id="gone",
        ),
        pytest.param(
            observation(live=(1, 2, 3)), TransientState(), MoveState.BLOCKED, id="target is down"
        ),
        pytest.param(
            observation(live=(1, 4)), TransientState(), MoveState.PENDING, id="source is down"
        ),
        pytest.param(
            observation(),
            TransientState(recently_submitted=frozenset({T0})),
            MoveState.IN_PROGRESS,
            id="just submitted",
        ),
        pytest.param(
            observation(),
            TransientState(refusals={T0: ERROR}),
            MoveState.BLOCKED,
            id="just refused",
        ),
        pytest.param(
            observation(), TransientState(failures={T0: ERROR}), MoveState.FAILED, id="refused"
        ),
        pytest.param(
            observation(partition(T0, 1, 4)),
            TransientState(failures={T0: ERROR}, recently_submitted=frozenset({T0})),
            MoveState.COMPLETED,
            id="done counts more than hints",
        ),
    ],
)
def test_state_of_a_move(seen: Observation, transient: TransientState, state: MoveState) -> None:
    assert classify_moves(persisted_state(), seen, transient).states[T0] is state


@pytest.mark.parametrize(
    ("seen", "state"),
    [
        (observation(), MoveState.COMPLETED),
        (observation(partition(T0, 1, 4), partition(T1, 3, 2)), MoveState.PENDING),
        (observation(partition(T0, 4, 1, 2), pending={T0: FORWARD}), MoveState.PENDING),
        (observation(pending={T0: ELSEWHERE}), MoveState.FOREIGN),
        (
            observation(
                partition(T0, 2, 1, 4),
                pending={T0: ReplicaAssignment.of(1, 4).reassign_to((1, 2))},
            ),
            MoveState.IN_PROGRESS,
        ),
    ],
)
def test_state_of_a_move_on_the_way_back(seen: Observation, state: MoveState) -> None:
    found = classify_moves(
        persisted_state(Intent.ROLL_BACK), seen, TransientState(rollback_submitted=frozenset({T0}))
    )
    assert found.target_plan == PLAN.inverse()
    assert found.states[T0] is state


def test_what_only_seems_to_be_back_is_ordered_back() -> None:
    """Metadata of the broker that answers may not show yet that the move away is complete."""
    found = classify_moves(persisted_state(Intent.ROLL_BACK), observation(), TransientState())

    assert found.states[T0] is MoveState.PENDING


def test_whose_reassignments_are_pending() -> None:
    other = TopicPartition("other", 0)
    seen = observation(pending={T0: FORWARD, other: ELSEWHERE, T1: ELSEWHERE})
    found = classify_moves(persisted_state(), seen, TransientState())
    assert found.own_pending == (T0,)
    assert found.other_pending == (other, T1)
    assert foreign_moves(PLAN, seen) == (other, T1)


OTHER = TopicPartition("other", 0)


@pytest.mark.parametrize(
    ("other", "assignment", "held"),
    [
        pytest.param(OTHER, ReplicaAssignment.of(5).reassign_to((6,)), set(), id="apart"),
        pytest.param(OTHER, ReplicaAssignment.of(5).reassign_to((3,)), {T1}, id="to our source"),
        pytest.param(OTHER, ReplicaAssignment.of(1).reassign_to((5,)), {T0}, id="from our broker"),
        pytest.param(OTHER, ReplicaAssignment.of(5).reassign_to((4,)), {T0, T1}, id="our target"),
        pytest.param(T2, ReplicaAssignment.of(5).reassign_to((6,)), {T0, T1}, id="our topic"),
    ],
)
def test_what_others_touch_is_left_to_them(
    other: TopicPartition, assignment: ReplicaAssignment, held: set[TopicPartition]
) -> None:
    seen = observation(pending={other: assignment})
    states = classify_moves(persisted_state(), seen, TransientState()).states
    assert {tp for tp, state in states.items() if state is MoveState.FOREIGN} == held
    assert {tp for tp, state in states.items() if state is MoveState.PENDING} == {T0, T1} - held
    assert foreign_moves(PLAN, seen) == ((other,) if held else ())


def test_what_is_under_way_or_done_is_ours_whoever_moves_beside_it() -> None:
    beside = ReplicaAssignment.of(1).reassign_to((2,))
    seen = observation(
        partition(T0, 4, 1, 2), partition(T1, 4, 2), pending={T0: FORWARD, OTHER: beside}
    )
    states = classify_moves(persisted_state(), seen, TransientState()).states
    assert states == {T0: MoveState.IN_PROGRESS, T1: MoveState.COMPLETED}


def test_unfinished_moves_in_the_plans_order() -> None:
    seen = observation(partition(T0, 1, 4), partition(T1, *ORIGINS[T1]))
    found = classify_moves(persisted_state(), seen, TransientState())
    assert [move.topic_partition for move in found.unfinished] == [T1]
    assert [m.topic_partition for m in found.in_state(*MoveState)] == [T0, T1]
