import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner.arrays import Ints, Shorts, count_by_index
from ballast.planner.leaders.balance import LeaderProblem, balance_leaders


def leading(
    rows: Shorts, low: list[int], high: list[int], *, receivers: list[bool] | None = None
) -> LeaderProblem:
    return LeaderProblem(
        rows=rows,
        changeable=np.ones(len(rows), np.bool_),
        receivers=np.array(receivers or [True] * len(low)),
        target=np.array(high),
        low=np.array(low),
        high=np.array(high),
        seed=0,
    )


def led(rows: Shorts, brokers: int) -> list[int]:
    return list(map(int, count_by_index(rows[:, 0], brokers)))


def test_only_the_order_changes() -> None:
    rows = np.array([[0, 1, 2]] * 9, np.int32)
    balance_leaders(leading(rows, [3, 3, 3], [3, 3, 3]))
    assert led(rows, 3) == [3, 3, 3]
    assert np.sort(rows, axis=1).tolist() == [[0, 1, 2]] * 9


def test_a_chain_is_found() -> None:
    """Broker 0 shares partitions with 1 only, and 1 with 2 only."""
    rows = np.array([[0, 1], [0, 1], [1, 2]], np.int32)
    balance_leaders(leading(rows, [1, 1, 1], [1, 1, 1]))
    assert led(rows, 3) == [1, 1, 1]


def test_who_may_not_take_leads_no_more() -> None:
    rows = np.array([[0, 1], [0, 2]], np.int32)
    balance_leaders(leading(rows, [0, 0, 0], [1, 1, 1], receivers=[True, False, True]))
    assert rows.tolist() == [[0, 1], [2, 0]]


def test_what_may_not_change_stays() -> None:
    rows = np.array([[0, 1], [0, 1]], np.int32)
    given = leading(rows, [1, 1], [1, 1])
    given.changeable[0] = False
    balance_leaders(given)
    assert rows.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("rows", [[[0], [0]], [[0, -1], [0, -1]]])
def test_single_replicas_lead(rows: list[list[int]]) -> None:
    table = np.array(rows, np.int32)
    balance_leaders(leading(table, [1, 1], [1, 1]))
    assert table.tolist() == rows


def fewest_beyond(rows: Ints, brokers: int, high: int) -> int:
    """Return how many leaders are beyond ``high`` at least: found by trying all."""
    best: set[tuple[int, ...]] = {(0,) * brokers}
    for row in rows.tolist():
        best = {
            tuple(n + (broker == chosen) for broker, n in enumerate(counts))
            for counts in best
            for chosen in row
        }
    return min(sum(max(0, n - high) for n in counts) for counts in best)


@given(st.data())
def test_as_level_as_can_be(data: st.DataObject) -> None:
    brokers = data.draw(st.integers(2, 5))
    row = st.lists(st.integers(0, brokers - 1), min_size=2, max_size=2, unique=True)
    rows = np.array(data.draw(st.lists(row, min_size=1, max_size=8)), np.int32)
    high = -(-len(rows) // brokers)
    least = fewest_beyond(rows.astype(np.int64), brokers, high)
    balance_leaders(leading(rows, [0] * brokers, [high] * brokers))
    assert sum(max(0, count - high) for count in led(rows, brokers)) == least
