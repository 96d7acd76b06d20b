import pytest

from ballast.model.ids import TopicPartition
from ballast.planner.errors import Infeasible


@pytest.mark.parametrize(
    ("total", "expected"),
    [(1, "t-3: no room"), (8, "t-3: no room (and 7 other partitions)")],
)
def test_what_is_infeasible_names_a_partition(total: int, expected: str) -> None:
    error = Infeasible(TopicPartition("t", 3), "no room", total)
    assert str(error) == expected
    assert (error.topic_partition, error.total) == (TopicPartition("t", 3), total)
