import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner import integer_tables as tables
from ballast.planner.integer_tables import apportion_columns, balanced_table, distribute_slots


@given(st.data())
def test_columns_are_apportioned(data: st.DataObject) -> None:
    """Sums are exact, no cell is above its weight, and equal weights get the same to within one."""
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    cell = st.integers(0, 50)
    weights = np.array(
        data.draw(st.lists(cell, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    ).reshape(shape)
    totals = np.array([data.draw(st.integers(0, int(total))) for total in weights.sum(axis=0)])
    table = apportion_columns(weights, totals)
    assert table.sum(axis=0).tolist() == totals.tolist()
    assert (table <= weights).all()
    exact = totals * weights / np.maximum(weights.sum(axis=0), 1)
    assert (np.abs(table - exact) < 1).all()


def test_places_are_dealt_evenly() -> None:
    wanted = np.array([6, 3, 0, 4])
    groups = np.array([0, 0, 0, 1])
    table = np.array([[3, 1], [3, 3], [3, 0]])
    found = distribute_slots(wanted, groups, table)
    assert found.tolist() == [[2, 1, 0, 1], [2, 1, 0, 3], [2, 1, 0, 0]]


def test_where_there_are_too_few_places_the_items_take_turns() -> None:
    found = distribute_slots(np.array([1, 0]), np.array([0, 0]), np.array([[3]]))
    assert found.sum() == 3
    assert found[0].tolist() == [2, 1]


def test_places_are_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where places are lacking, and where there are more than are asked for."""
    wanted, groups = np.array([400, 3, 0, 90, 7]), np.array([0, 0, 0, 1, 1])
    table = np.array([[100, 30], [7, 1], [350, 20]])
    at_once = distribute_slots(wanted, groups, table)
    assert at_once.sum(axis=1).tolist() == table.sum(axis=1).tolist()
    monkeypatch.setattr(tables, "_PIECE", 11)
    assert distribute_slots(wanted, groups, table).tolist() == at_once.tolist()


def test_cells_in_proportion() -> None:
    rows, columns = np.array([10, 30]), np.array([20, 20])
    table = balanced_table(rows, columns, np.zeros((2, 2), np.int64), np.full((2, 2), 99))
    assert table.tolist() == [[5, 5], [15, 15]]


def test_bounds_that_leave_one_way() -> None:
    """What each row may put where is fixed: as where every rack has a replica of each partition."""
    rows, columns = np.array([4, 6]), np.array([5, 5])
    fixed = np.array([[1, 3], [4, 2]])
    assert balanced_table(rows, columns, fixed, fixed).tolist() == fixed.tolist()


def test_a_column_that_has_too_much_gives_it_on() -> None:
    """The least that the cells of column 0 must hold is above its share by proportion."""
    rows, columns = np.array([4, 4]), np.array([5, 3])
    low = np.array([[3, 0], [0, 0]])
    table = balanced_table(rows, columns, low, np.full((2, 2), 4))
    assert table.sum(axis=1).tolist() == [4, 4]
    assert table.sum(axis=0).tolist() == [5, 3]
    assert (table >= low).all()


def test_bounds_that_contradict_give_way() -> None:
    rows, columns = np.array([4]), np.array([4, 0])
    table = balanced_table(rows, columns, np.zeros((1, 2), np.int64), np.array([[1, 0]]))
    assert table.sum() == 4


@given(st.data())
def test_sums_are_met_where_they_can_be(data: st.DataObject) -> None:
    """Made from a table within its bounds, so there is one."""
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    count = shape[0] * shape[1]
    cells = st.lists(st.integers(0, 9), min_size=count, max_size=count)
    there, slack, below = (np.array(data.draw(cells)).reshape(shape) for _ in range(3))
    low, high = np.maximum(there - below, 0), there + slack
    table = balanced_table(there.sum(axis=1), there.sum(axis=0), low, high)
    assert table.sum(axis=1).tolist() == there.sum(axis=1).tolist()
    assert table.sum(axis=0).tolist() == there.sum(axis=0).tolist()
    assert (table >= low).all()
    assert (table <= high).all()
