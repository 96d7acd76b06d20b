import numpy as np
import pytest

from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.problem.move_limits import apply_move_limits, new_replicas
from tests.unit.planner.builders import made

CLUSTER = made(dict.fromkeys(range(4)), {"t": [[0, 1]] * 4}, sizes={"t": [10, 20, 30, 40]})
ROWS = np.array([[2, 1], [2, 3], [1, 0], [0, 3]], np.int32)


@pytest.mark.parametrize(
    ("moves", "size", "kept"),
    [
        pytest.param(None, None, {0, 1, 2, 3}, id="no limit"),
        pytest.param(4, None, {0, 1, 2, 3}, id="just enough"),
        pytest.param(1, None, {2, 3}, id="what must move comes first"),
        pytest.param(0, None, {2}, id="what costs nothing stays"),
        pytest.param(None, 49, {2, 3}, id="bytes"),
        pytest.param(None, 39, {2}, id="too few bytes for the first"),
        pytest.param(99, 90, {0, 1, 2, 3}, id="both"),
    ],
)
def test_cut(moves: int | None, size: int | None, kept: set[int]) -> None:
    first = np.array([False, False, False, True])
    options = PlanOptions(
        strategy=Strategy.REBALANCE, max_replica_moves=moves, max_bytes_to_move=size
    )
    found = apply_move_limits(CLUSTER, ROWS, first, options)
    whole = [ROWS[n].tolist() if n in kept else [0, 1] for n in range(4)]
    assert found.tolist() == whole


def test_added() -> None:
    before = np.array([[0, 1, -1], [0, 1, 2]], np.int32)
    after = np.array([[1, 0, 2], [3, -1, -1]], np.int32)
    assert new_replicas(after, before).tolist() == [[False, False, True], [True, False, False]]
