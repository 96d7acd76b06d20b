import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner.placement.rack_apportionment import apportion_to_racks


@pytest.mark.parametrize(
    ("supply", "is_open", "wanted", "expected"),
    [
        pytest.param([4], [[1, 1]], [2, 2], [[2, 2]], id="in proportion"),
        pytest.param([2, 2], [[1, 1], [1, 0]], [2, 2], [[0, 2], [2, 0]], id="only one way"),
        pytest.param([3], [[1, 0]], [1, 5], [[3, 0]], id="more than is wanted"),
        pytest.param([2], [[1, 1]], [0, 0], [[1, 1]], id="nothing is wanted"),
        pytest.param([0], [[0, 0]], [1, 1], [[0, 0]], id="nothing is there"),
        pytest.param(
            [1, 1, 1],
            [[1, 1, 0], [0, 1, 1], [1, 0, 0]],
            [1, 1, 1],
            [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
            id="over others",
        ),
    ],
)
def test_transport(
    supply: list[int], is_open: list[list[int]], wanted: list[int], expected: list[list[int]]
) -> None:
    found = apportion_to_racks(np.array(supply), np.array(is_open, np.bool_), np.array(wanted), 1.0)
    assert found.tolist() == expected


def most(supply: list[int], is_open: list[list[bool]], wanted: list[int]) -> int:
    """Return how many can be sent where they are wanted: augmenting, one at a time."""
    sent = [[0] * len(wanted) for _ in supply]

    def augment(row: int, seen: set[int]) -> bool:
        for rack, is_free in enumerate(is_open[row]):
            if not is_free or rack in seen:
                continue
            seen.add(rack)
            if sum(line[rack] for line in sent) < wanted[rack]:
                sent[row][rack] += 1
                return True
            for other in range(len(supply)):
                if sent[other][rack] and augment(other, seen):
                    sent[other][rack] -= 1
                    sent[row][rack] += 1
                    return True
        return False

    return sum(augment(row, set()) for row, count in enumerate(supply) for _ in range(count))


@given(st.data())
def test_as_many_as_can_go_where_they_are_wanted(data: st.DataObject) -> None:
    rows, racks = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    supply = data.draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows))
    wanted = data.draw(st.lists(st.integers(0, 9), min_size=racks, max_size=racks))
    row_ids = st.lists(st.booleans(), min_size=racks, max_size=racks).filter(any)
    is_open = data.draw(st.lists(row_ids, min_size=rows, max_size=rows))
    sent = apportion_to_racks(np.array(supply), np.array(is_open), np.array(wanted), 1.0)
    assert sent.sum(axis=1).tolist() == supply
    assert not sent[~np.array(is_open)].any()
    assert np.minimum(sent.sum(axis=0), wanted).sum() == most(supply, is_open, wanted)
