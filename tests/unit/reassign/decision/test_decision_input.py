from ballast.model.assignments import ReplicaAssignment
from tests.unit.reassign.builders import T0, T1, observation, partition


def test_a_pending_change_shows_all_replicas_and_the_origin() -> None:
    seen = observation(
        partition(T0, 1, 2), pending={T0: ReplicaAssignment.of(1, 2).reassign_to((4, 1))}
    )
    assert seen.replicas(T0) == (4, 1, 2)
    assert seen.origin(T0) == (1, 2)


def test_a_settled_partition_is_where_metadata_says() -> None:
    seen = observation(partition(T0, 2, 1, leader=1), live=(2, 1))
    assert seen.replicas(T0) == seen.origin(T0) == (2, 1)
    assert seen.leaders == {T0: 1}
    assert seen.live_brokers == {1, 2}


def test_no_partition_needs_more_in_sync_replicas_than_it_had() -> None:
    moving = ReplicaAssignment.of(1).reassign_to((1, 2, 3))
    seen = observation(partition(T0, 1, 2, 3), partition(T1, 2, 3), min_isr=2, pending={T0: moving})
    assert [seen.needed_in_sync(tp) for tp in (T0, T1)] == [1, 2]
    assert (seen.min_isr("t"), seen.min_isr("of which nothing is known")) == (2, 1)
