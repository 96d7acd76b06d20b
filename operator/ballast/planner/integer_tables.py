"""Tables of integers with given row and column sums: blocks by brokers, blocks by racks.

Goals: the sums are exact; cells are in proportion; cells stay within their bounds.

Example for `balanced_table`: rows of sums 3 and 3, columns of sums 4 and 2, every cell 0 to 2::

    2 1
    2 1

"""

from collections import deque
from collections.abc import Iterator

import numpy as np

from ballast.planner.arrays import Floats, Ints, stride_pieces

_ITERATIONS = 60
_PIECE = 65_536
"""Slots that are distributed at once."""


def apportion_columns(weights: Ints, totals: Ints) -> Ints:
    """Return a table whose columns add up to ``totals``, in proportion to ``weights``.

    By largest remainder. No cell exceeds its weight if no total exceeds the sum of its column's
    weights.
    """
    sums = weights.sum(axis=0)
    exact = totals * weights / np.maximum(sums, 1)
    parts: Ints = np.floor(exact).astype(np.int64)
    order = np.argsort(parts - exact, axis=0, kind="stable")
    rest = np.where(sums > 0, totals - parts.sum(axis=0), 0)
    gets = np.arange(len(weights))[:, None] < rest
    np.put_along_axis(parts, order, np.take_along_axis(parts, order, axis=0) + gets, axis=0)
    return parts


def distribute_slots(slots: Ints, groups: Ints, table: Ints) -> Ints:
    """Return how many slots of each item every row gets: rows by items.

    ``slots`` is the number of slots of each item, ``groups`` the group of each item, ``table`` how
    many slots of each group a row gets. The slots of a group are put in stride order, so that those
    of one item are far apart, and cut into the rows' pieces. If a group has too few slots, its
    items take turns.
    """
    slots_by_row = np.zeros((len(table), len(slots)), np.int64)
    for group in np.flatnonzero(table.any(axis=0)):
        items = np.flatnonzero(groups == group)
        ends = np.cumsum(table[:, group])
        start = 0
        for places in _places(items, slots[items], int(ends[-1])):
            rows = np.searchsorted(ends, np.arange(start, start + len(places)), side="right")
            np.add.at(slots_by_row, (rows, places), 1)
            start += len(places)
    return slots_by_row


def _places(items: Ints, slots: Ints, count: int) -> Iterator[Ints]:
    """Yield ``count`` slots in pieces: there may be as many as replicas that move."""
    left = count
    for places in stride_pieces(items[slots > 0], slots[slots > 0], _PIECE):
        yield places[:left]
        left -= len(places[:left])
    for start in range(0, left, _PIECE):
        yield items[np.arange(start, min(start + _PIECE, left)) % len(items)]


def balanced_table(rows: Ints, columns: Ints, low: Ints, high: Ints) -> Ints:
    """Return a table with these sums of rows and columns, each cell within its bounds.

    As close to proportion as the bounds allow. Row sums are exact. Where the bounds contradict the
    sums, first the bounds are violated, then the column sums. ``rows`` and ``columns`` have the
    same sum.
    """
    low = np.maximum(low, 0)
    high = np.maximum(high, low)
    table = np.clip(np.floor(_spread(rows, columns, low, high)).astype(np.int64), low, high)
    return _Filling(_lowered(table, rows), low, high).run(rows, columns)


def _spread(rows: Ints, columns: Ints, low: Ints, high: Ints) -> Floats:
    total = max(1, int(rows.sum()))
    spread = rows[:, None] * (columns / total)[None, :] + 1e-9
    for _ in range(_ITERATIONS):
        spread = np.clip(spread, low, high)
        spread *= (rows / np.maximum(spread.sum(axis=1), 1e-9))[:, None]
        spread = np.clip(spread, low, high)
        spread *= (columns / np.maximum(spread.sum(axis=0), 1e-9))[None, :]
    return np.asarray(np.clip(spread, low, high))


def _lowered(table: Ints, rows: Ints) -> Ints:
    """Take from the largest cells of rows that exceed their sum."""
    for row in np.flatnonzero(table.sum(axis=1) > rows).tolist():
        over = int(table[row].sum() - rows[row])
        for column in np.argsort(-table[row], kind="stable").tolist():
            less = min(over, int(table[row, column]))
            table[row, column] -= less
            over -= less
    return table


class _Filling:
    """A table that reaches its row and column sums by shortest paths over its cells."""

    def __init__(self, table: Ints, low: Ints, high: Ints) -> None:
        self._table = table
        self._low = low
        self._high = high

    def run(self, rows: Ints, columns: Ints) -> Ints:
        """Return the table with these sums."""
        row_shortage = rows - self._table.sum(axis=1)
        column_room = columns - self._table.sum(axis=0)
        while (row_shortage > 0).any():
            row = int(np.argmax(row_shortage))
            end, amount = self._send({row: -1}, {}, column_room, int(row_shortage[row]))
            if not amount:
                # The bounds leave no path: the column with the most room gets it against its bound.
                end, amount = int(np.argmax(column_room)), int(row_shortage[row])
                amount = min(amount, int(column_room[end])) if column_room[end] > 0 else amount
                self._table[row, end] += amount
            row_shortage[row] -= amount
            column_room[end] -= amount
        for column in np.flatnonzero(column_room < 0).tolist():
            while column_room[column] < 0:
                own = np.flatnonzero(self._table[:, column] > self._low[:, column])
                starts = dict.fromkeys(own.tolist(), column)
                end, amount = self._send(
                    starts, {column: -1}, column_room, -int(column_room[column])
                )
                if not amount:
                    break
                column_room[column] += amount
                column_room[end] -= amount
        return self._table

    def _send(
        self, by_row: dict[int, int], by_column: dict[int, int], column_room: Ints, most: int
    ) -> tuple[int, int]:
        """Send up to ``most`` along the shortest path to a column with room.

        ``by_row`` are the rows at which it starts. Returns the column, and the amount sent.
        """
        end = self._nearest(by_row, by_column, column_room)
        if end is None:
            return 0, 0
        ups, downs = [], []
        column = end
        while True:
            row = by_column[column]
            if row < 0:
                break
            ups.append((row, column))
            column = by_row[row]
            if column < 0:
                break
            downs.append((row, column))
        amount = min(most, int(column_room[end]))
        amount = min(amount, *(int(self._high[cell] - self._table[cell]) for cell in ups))
        for cell in downs:
            amount = min(amount, int(self._table[cell] - self._low[cell]))
        for cell in ups:
            self._table[cell] += amount
        for cell in downs:
            self._table[cell] -= amount
        return end, amount

    def _nearest(
        self, by_row: dict[int, int], by_column: dict[int, int], column_room: Ints
    ) -> int | None:
        queue = deque(by_row)
        while queue:
            row = queue.popleft()
            for column in np.flatnonzero(self._table[row] < self._high[row]).tolist():
                if column in by_column:
                    continue
                by_column[column] = row
                if column_room[column] > 0:
                    return column
                own = np.flatnonzero(self._table[:, column] > self._low[:, column])
                for other in own.tolist():
                    if other not in by_row:
                        by_row[other] = column
                        queue.append(other)
        return None
