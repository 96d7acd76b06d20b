import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner.problem.replica_targets import (
    BalanceBounds,
    balanced_targets,
    fair_shares,
    round_to_current,
)


def limits(
    weights: list[float],
    racks: list[int] | None = None,
    *,
    low: list[int] | None = None,
    high: list[int] | None = None,
    rack_high: list[int] | None = None,
    rack_low: list[int] | None = None,
) -> BalanceBounds:
    count = len(weights)
    in_racks = racks or [0] * count
    rack_count = max(in_racks) + 1
    return BalanceBounds(
        weights=np.array(weights, np.float64),
        low=np.array(low or [0] * count),
        high=np.array(high or [1000] * count),
        racks=np.array(in_racks),
        rack_low=np.array(rack_low or [0] * rack_count),
        rack_high=np.array(rack_high or [10_000] * rack_count),
    )


@pytest.mark.parametrize(
    ("given", "total", "expected"),
    [
        pytest.param(limits([1, 1, 1]), 12, [4, 4, 4], id="level"),
        pytest.param(limits([1, 2, 1]), 12, [3, 6, 3], id="by weight"),
        pytest.param(limits([1, 1, 0]), 12, [6, 6, 0], id="no weight"),
        pytest.param(limits([1, 1, 1], high=[2, 9, 9]), 12, [2, 5, 5], id="one is full"),
        pytest.param(limits([1, 1, 1], low=[8, 0, 0]), 12, [8, 2, 2], id="one keeps more"),
        pytest.param(
            limits([1, 1, 1], [0, 1, 1], rack_high=[3, 99]), 12, [3, 4.5, 4.5], id="a rack is full"
        ),
        pytest.param(
            limits([1, 1, 1], [0, 1, 1], rack_low=[6, 0]), 12, [6, 3, 3], id="a rack must have more"
        ),
        pytest.param(limits([1, 1], high=[2, 2]), 12, [2, 2], id="more than there is room for"),
        pytest.param(limits([1, 1], low=[7, 8]), 12, [7, 8], id="less than there is"),
    ],
)
def test_level(given: BalanceBounds, total: int, expected: list[float]) -> None:
    assert fair_shares(given, total) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("ideal", "have", "total", "expected"),
    [
        ([2.5, 2.5], [9, 0], 5, [3, 2]),
        ([2.5, 2.5], [0, 9], 5, [2, 3]),
        ([2.0, 3.0], [9, 0], 5, [2, 3]),
        ([1.3, 1.3, 1.4], [5, 5, 0], 4, [1, 2, 1]),
        ([0.4, 0.4, 0.2], [0, 0, 0], 1, [1, 0, 0]),
    ],
)
def test_nearest(ideal: list[float], have: list[int], total: int, expected: list[int]) -> None:
    assert round_to_current(np.array(ideal), np.array(have), total).tolist() == expected


@given(st.data())
def test_targets_are_balanced_and_near(data: st.DataObject) -> None:
    """Any share-out moves at least what is beyond the bands; the targets move no more."""
    count = data.draw(st.integers(1, 6))
    have = np.array(data.draw(st.lists(st.integers(0, 20), min_size=count, max_size=count)))
    racks = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    total = int(have.sum())
    found = balanced_targets(limits([1.0] * count, racks), have, total)
    assert found.target.sum() == total
    assert found.target.max() - found.target.min() <= 1
    assert (found.low <= found.target).all()
    assert (found.target <= found.high).all()
    moved = 0
    by_rack = np.zeros((3, 2), np.int64)
    for rack in {*racks}:
        own = np.array(racks) == rack
        leaving = (have - found.high)[own].clip(0).sum()
        missing = (found.low - have)[own].clip(0).sum()
        by_rack[rack] = have[own].sum(), found.target[own].sum()
        moved += max(leaving, missing + by_rack[rack, 0] - by_rack[rack, 1])
    assert (have - found.target).clip(0).sum() == moved
    # Racks are level too: what a rack gives is no more than what is beyond its rounded share.
    shares = np.bincount(racks, fair_shares(limits([1.0] * count, racks), total), minlength=3)
    beyond = (by_rack[:, 0] - np.ceil(shares - 1e-9)).clip(0).sum()
    short = (np.floor(shares + 1e-9) - by_rack[:, 0]).clip(0).sum()
    assert (by_rack[:, 0] - by_rack[:, 1]).clip(0).sum() == max(beyond, short)
