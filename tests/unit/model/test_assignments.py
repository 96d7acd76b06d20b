import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.model.assignments import ReplicaAssignment

replica_sets = st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True).map(tuple)


@pytest.mark.parametrize(
    ("replicas", "targets", "expected"),
    [
        pytest.param((1, 2, 3), [(4, 5, 6)], ((4, 5, 6, 1, 2, 3), (4, 5, 6), (1, 2, 3)), id="move"),
        pytest.param(
            (1, 2, 3),
            [(4, 5, 6), (7, 8, 9)],
            ((7, 8, 9, 1, 2, 3), (7, 8, 9), (1, 2, 3)),
            id="override-keeps-the-first-origin",
        ),
        pytest.param((1, 2, 3), [(4, 5, 6), (1, 2, 3)], ((1, 2, 3), (), ()), id="cancel"),
        pytest.param(
            (1, 2, 3, 4), [(4, 2, 5, 3)], ((4, 2, 5, 3, 1), (5,), (1,)), id="overlap-and-reorder"
        ),
    ],
)
def test_reassign_to_as_kafka_does(
    replicas: tuple[int, ...], targets: list[tuple[int, ...]], expected: tuple[object, ...]
) -> None:
    """Kafka's ControllerContextTest."""
    assignment = ReplicaAssignment(replicas=replicas)
    for target in targets:
        assignment = assignment.reassign_to(target)
    assert (
        assignment.replicas,
        assignment.adding_replicas,
        assignment.removing_replicas,
    ) == expected


def test_cancel_loses_the_order_of_the_origin() -> None:
    """[1,2,3] to [3,4,2] is stored as [3,2,1] plus 4: a cancel cannot know the old order."""
    pending = ReplicaAssignment.of(1, 2, 3).reassign_to((3, 4, 2))
    assert pending.replicas == (3, 4, 2, 1)
    assert pending.reassign_to(pending.origin_replicas) == ReplicaAssignment.of(3, 2, 1)


@given(origin=replica_sets, first=replica_sets, second=replica_sets)
def test_algebra(origin: tuple[int, ...], first: tuple[int, ...], second: tuple[int, ...]) -> None:
    pending = ReplicaAssignment(replicas=origin).reassign_to(first).reassign_to(second)
    assert set(pending.origin_replicas) == set(origin)
    assert pending.target_replicas == second
    assert pending.reassign_to(second) == pending
    assert pending.settled() == ReplicaAssignment(replicas=second)
    assert set(pending.replicas) == set(origin) | set(second)
    assert pending.preferred_replica == second[0]
    assert pending.is_being_reassigned == (set(origin) != set(second))
