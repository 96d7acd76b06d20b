import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner.placement.size_matching import (
    assign_by_size,
    select_by_mean_size,
    select_largest,
    select_smallest,
)


@pytest.mark.parametrize(
    ("sizes", "places", "needs", "expected"),
    [
        pytest.param([9, 5, 4, 1], [2, 2], [10, 9], [0, 1, 1, 0], id="level"),
        pytest.param([9, 1, 1], [1, 2], [9, 2], [0, 1, 1], id="large to who lacks most by place"),
        pytest.param([5, 5, 1, 1], [2, 2], [10, 0], [0, 0, 1, 1], id="one lacks nothing"),
        pytest.param([6, 1, 1], [1, 2], [2, 3], [1, 0, 1], id="if none fits"),
        pytest.param([6, 2, 1], [1, 3], [2, 7], [1, 0, 1], id="not to who lacks little"),
        pytest.param([3, 2, 1], [3, 0], [0, 50], [0, 0, 0], id="no places"),
        pytest.param([], [1], [5], [], id="nothing"),
    ],
)
def test_share_out(
    sizes: list[int], places: list[int], needs: list[float], expected: list[int]
) -> None:
    found = assign_by_size(np.array(sizes, np.int64), np.array(places), np.array(needs, np.float64))
    assert found.tolist() == expected


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(-100, 2**40)), min_size=1, max_size=12),
    st.lists(st.integers(0, 2**38), max_size=60),
)
def test_few_and_many_get_the_same(brokers: list[tuple[int, int]], sizes: list[int]) -> None:
    places = np.array([count for count, _ in brokers])
    needs = np.array([lacking for _, lacking in brokers], np.float64)
    some = np.array(sorted(sizes, reverse=True)[: int(places.sum())], np.int64)
    few = assign_by_size(some, places, needs)
    # Brokers without any place change nothing but how many there are.
    none = np.zeros(100, np.int64)
    many = assign_by_size(some, np.append(places, none), np.append(needs, none + 2.0**41))
    assert few.tolist() == many.tolist()


def by_mean(sizes: list[list[int]], surplus: list[int], excess: list[float]) -> list[list[int]]:
    """Return the sizes picked of each broker; every candidate is of its own partition."""
    brokers = np.repeat(np.arange(len(sizes)), [len(some) for some in sizes])
    flat = np.array([size for some in sizes for size in some])
    chosen = select_by_mean_size(
        brokers, flat, np.arange(len(flat)), np.array(surplus), np.array(excess)
    )
    return [flat[chosen[brokers[chosen] == broker]].tolist() for broker in range(len(sizes))]


def test_the_mean_of_what_goes_is_what_is_too_much() -> None:
    sizes = list(range(1, 101))
    for excess in (20.0, 100.0, 505.0, 800.0, 955.0):
        (found,) = by_mean([sizes], [10], [excess])
        assert len(found) == 10
        assert sum(found) == pytest.approx(excess, rel=0.2, abs=45)


def test_the_smallest_where_nothing_and_the_largest_where_all_is_too_much() -> None:
    sizes = [1, 2, 3, 50, 60]
    assert by_mean([sizes, sizes], [2, 2], [0.0, 500.0]) == [[1, 2], [50, 60]]
    assert by_mean([sizes, [7]], [0, 3], [100.0, 7.0]) == [[], [7]]


def test_one_of_a_partition() -> None:
    chosen = select_by_mean_size(
        np.array([0, 1]), np.array([5, 5]), np.array([3, 3]), np.array([1, 1]), np.array([5.0, 5.0])
    )
    assert len(chosen) == 1


def test_the_largest_that_fit() -> None:
    brokers = np.array([0, 0, 0, 0, 1])
    sizes = np.array([1, 4, 5, 20, 3])
    free = np.ones(5, np.bool_)
    chosen = select_largest(brokers, sizes, free, np.array([9.5, 2.0]))
    assert sorted(sizes[chosen].tolist()) == [4, 5]
    free[2] = False
    chosen = select_largest(brokers, sizes, free, np.array([9.5, 3.0]))
    assert sorted(sizes[chosen].tolist()) == [1, 3, 4]


def test_the_smallest() -> None:
    brokers = np.array([0, 0, 0, 1, 1])
    free = np.array([True, False, True, True, True])
    assert select_smallest(brokers, free, np.array([2, 1])).tolist() == [0, 2, 3]
