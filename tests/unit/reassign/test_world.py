import pytest

from ballast.model.assignments import ReplicaAssignment
from tests.unit.reassign.worlds import T0, observed, partition


def test_a_pending_change_shows_all_replicas_and_the_origin() -> None:
    seen = observed(
        partition(T0, 1, 2), pending={T0: ReplicaAssignment.of(1, 2).reassign_to((4, 1))}
    )
    assert seen.replicas(T0) == (4, 1, 2)
    assert seen.origin(T0) == (1, 2)


def test_a_settled_partition_is_where_metadata_says() -> None:
    seen = observed(partition(T0, 2, 1, leader=1), live=(2, 1))
    assert seen.replicas(T0) == seen.origin(T0) == (2, 1)
    assert seen.leaders == {T0: 1}
    assert seen.live_brokers == {1, 2}


@pytest.mark.parametrize(
    ("value", "min_isr"), [("2", 2), ("", 1), ("-1", 1), ("two", 1), ("9" * 30, 1)]
)
def test_min_isr_of_a_topic(value: str, min_isr: int) -> None:
    assert observed(topic_configs={"t": {"min.insync.replicas": value}}).min_isr("t") == min_isr
    assert observed().min_isr("t") == 1
