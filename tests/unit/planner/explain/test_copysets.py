import numpy as np
import pytest

from ballast.planner.explain.copysets import MAX_HASHES, Copysets, all_copysets, copysets


def drawn(number: int, brokers: int) -> Copysets:
    chance = np.random.default_rng(number)
    return copysets(chance.integers(0, brokers, (number, 3)).astype(np.int32))


def test_order_and_width_mean_nothing() -> None:
    narrow = np.array([[0, 1], [1, 0], [2, -1], [0, -1]], np.int32)
    wide = np.array([[1, -1, 0, -1], [-1, -1, -1, 2]], np.int32)
    assert copysets(narrow).count == 3
    assert all_copysets([copysets(narrow), copysets(wide)]).count == 3
    assert copysets(np.zeros((0, 2), np.int32)).count == 0


def test_sets_are_not_taken_for_one_another() -> None:
    rows = np.array([[a, b] for a in range(120) for b in range(a)], np.int32)
    assert copysets(rows).count == len(rows)


@pytest.mark.parametrize("number", [100_000, 400_000])
def test_many_sets_are_counted_nearly(number: int) -> None:
    found = drawn(number, 100_000)
    assert len(found.hashes) == MAX_HASHES
    assert found.count == pytest.approx(number, rel=0.03)


def test_parts_come_to_the_same_as_the_whole() -> None:
    chance = np.random.default_rng(1)
    rows = chance.integers(0, 1000, (60_000, 3)).astype(np.int32)
    parts = [copysets(rows[first : first + 7_000]) for first in range(0, len(rows), 7_000)]
    assert all_copysets(parts).count == copysets(rows).count
