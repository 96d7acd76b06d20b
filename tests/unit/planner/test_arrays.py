import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner import arrays


@given(
    st.lists(st.integers(0, 3) | st.integers(-1, 2**63 - 1)),
    st.sampled_from([np.int64, np.uint64, np.int32]),
)
def test_the_stable_order_is_that_of_argsort(keys: list[int], dtype: type[np.integer]) -> None:
    top = int(np.iinfo(dtype).max)
    low = int(np.iinfo(dtype).min)
    column = np.array([max(low, min(key, top)) for key in keys], dtype)
    order = arrays.stable_order(column)
    assert order.dtype == np.int64
    assert order.tolist() == np.argsort(column, kind="stable").tolist()


def test_rows() -> None:
    table = np.array([[True, False, True], [False, False, False], [False, True, False]])
    assert arrays.row_counts(table).tolist() == [2, 0, 1]
    assert arrays.row_any(table).tolist() == [True, False, True]
    assert arrays.row_counts(table[:0]).tolist() == arrays.row_any(table[:0]).tolist() == []
    assert arrays.row_counts(table[:, :0]).tolist() == [0, 0, 0]


def test_ranks_count_those_before_in_the_same_group() -> None:
    assert arrays.ranks(np.array([5, 2, 5, 5, 2])).tolist() == [0, 0, 1, 2, 1]
    assert arrays.ranks(np.array([], np.int64)).tolist() == []


def test_runs_and_firsts() -> None:
    assert arrays.run_starts(np.array([1, 1, 4, 4, 4, 7])).tolist() == [0, 0, 2, 2, 2, 5]
    assert arrays.first_occurrences(np.array([3, 1, 3, 2, 1])).tolist() == [0, 1, 3]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        pytest.param([4, 2], [7, 8, 7, 7, 8, 7], id="those of one are apart"),
        pytest.param([0, 1], [8], id="none of one"),
        pytest.param([0, 0], [], id="none at all"),
    ],
)
def test_stride_order(counts: list[int], expected: list[int]) -> None:
    assert arrays.stride_order(np.array([7, 8]), np.array(counts)).tolist() == expected


@given(st.lists(st.integers(0, 300), min_size=1, max_size=8), st.integers(1, 200))
def test_the_pieces_of_an_order_are_the_order(amounts: list[int], size: int) -> None:
    counts = np.array(amounts)
    items = np.arange(10, 10 + len(counts))
    pieces = [*arrays.stride_pieces(items, counts, size)]
    found = [item for piece in pieces for item in piece.tolist()]
    places = sorted(
        ((number + 0.5) / count, item, number)
        for item, count in zip(items.tolist(), amounts, strict=True)
        for number in range(count)
    )
    assert found == [item for _, item, _ in places]
    assert all(len(piece) <= size + len(counts) for piece in pieces)


def test_noise_is_the_same_everywhere() -> None:
    """The first two are SplitMix64's own for the seed 0 (Vigna, splitmix64.c)."""
    golden = 0x9E3779B97F4A7C15 - 2**64
    drawn = arrays.noise(0, np.array([0, golden]))
    assert [hex(value) for value in drawn.tolist()] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4"]
    assert arrays.noise(1, np.array([0])).tolist() == [0x6E789E6AA1B965F4]


def test_counts_and_sums() -> None:
    assert arrays.count_by_index(np.array([[0, 2], [2, -1]]), 4).tolist() == [1, 0, 2, 0]
    assert arrays.sum_by_index(np.array([1, 1, 0]), np.array([2**52, 1, 7]), 2).tolist() == [
        7,
        2**52 + 1,
    ]


def test_cells_take_turns_in_each_row() -> None:
    found = arrays.stride_cells(np.array([[2, 0, 1], [0, 3, 0]]))
    assert found.tolist() == [0, 2, 0, 4, 4, 4]


def test_parts_are_cut_by_largest_remainder() -> None:
    assert arrays.apportion(np.array([1.0, 1.0, 2.0]), 7).tolist() == [2, 2, 3]
    assert arrays.apportion(np.array([0.0, 1.0]), 3).tolist() == [0, 3]
