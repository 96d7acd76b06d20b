"""Tables of whole numbers with given sums: blocks by brokers, blocks by racks."""

from collections import deque
from collections.abc import Iterator

import numpy as np

from ballast.planner.arrays import Floats, Ints, stride_pieces

_ITERATIONS = 60
_PIECE = 65_536
"""Places that are dealt at once."""


def apportion_columns(weights: Ints, totals: Ints) -> Ints:
    """Return a table whose columns add up to ``totals``, in proportion to ``weights``.

    By largest remainder. No cell is larger than its weight where no total is larger than the sum of
    its column's.
    """
    sums = weights.sum(axis=0)
    exact = totals * weights / np.maximum(sums, 1)
    parts: Ints = np.floor(exact).astype(np.int64)
    order = np.argsort(parts - exact, axis=0, kind="stable")
    rest = np.where(sums > 0, totals - parts.sum(axis=0), 0)
    gets = np.arange(len(weights))[:, None] < rest
    np.put_along_axis(parts, order, np.take_along_axis(parts, order, axis=0) + gets, axis=0)
    return parts


def distribute_slots(wanted: Ints, groups: Ints, table: Ints) -> Ints:
    """Return how many places of each item every row gets: rows by items.

    ``wanted`` is the number of places of each item, ``groups`` the group of each, ``table`` how
    many places of each group a row gets. A group's places stand in an order in which those of one
    item are far apart, and are cut into the rows' pieces; where a group has too few places, its
    items take turns.
    """
    found = np.zeros((len(table), len(wanted)), np.int64)
    for group in np.flatnonzero(table.any(axis=0)):
        items = np.flatnonzero(groups == group)
        ends = np.cumsum(table[:, group])
        there = 0
        for places in _places(items, wanted[items], int(ends[-1])):
            rows = np.searchsorted(ends, np.arange(there, there + len(places)), side="right")
            np.add.at(found, (rows, places), 1)
            there += len(places)
    return found


def _places(items: Ints, wanted: Ints, count: int) -> Iterator[Ints]:
    """Yield ``count`` places of items in pieces: there may be as many as replicas that move."""
    left = count
    for places in stride_pieces(items[wanted > 0], wanted[wanted > 0], _PIECE):
        yield places[:left]
        left -= len(places[:left])
    for start in range(0, left, _PIECE):
        yield items[np.arange(start, min(start + _PIECE, left)) % len(items)]


def balanced_table(rows: Ints, columns: Ints, low: Ints, high: Ints) -> Ints:
    """Return a table with these sums of rows and columns, each cell between its bounds.

    As near to proportion as the bounds allow. Rows are exact; where the bounds contradict the sums
    they give way, and then the columns. ``rows`` and ``columns`` have the same sum.
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
    """Take from the largest cells of rows that come to more than their sum."""
    for row in np.flatnonzero(table.sum(axis=1) > rows).tolist():
        over = int(table[row].sum() - rows[row])
        for column in np.argsort(-table[row], kind="stable").tolist():
            less = min(over, int(table[row, column]))
            table[row, column] -= less
            over -= less
    return table


class _Filling:
    """A table whose rows and columns are brought to their sums along ways over its cells."""

    def __init__(self, table: Ints, low: Ints, high: Ints) -> None:
        self._table = table
        self._low = low
        self._high = high

    def run(self, rows: Ints, columns: Ints) -> Ints:
        """Return the table, with these sums."""
        lacking = rows - self._table.sum(axis=1)
        room = columns - self._table.sum(axis=0)
        while (lacking > 0).any():
            row = int(np.argmax(lacking))
            end, several = self._send({row: -1}, {}, room, int(lacking[row]))
            if not several:
                # The bounds leave no way: the column that lacks the most gets it all the same.
                end, several = int(np.argmax(room)), int(lacking[row])
                several = min(several, int(room[end])) if room[end] > 0 else several
                self._table[row, end] += several
            lacking[row] -= several
            room[end] -= several
        for column in np.flatnonzero(room < 0).tolist():
            while room[column] < 0:
                own = np.flatnonzero(self._table[:, column] > self._low[:, column])
                starts = dict.fromkeys(own.tolist(), column)
                end, several = self._send(starts, {column: -1}, room, -int(room[column]))
                if not several:
                    break
                room[column] += several
                room[end] -= several
        return self._table

    def _send(
        self, by_row: dict[int, int], by_column: dict[int, int], room: Ints, most: int
    ) -> tuple[int, int]:
        """Send up to ``most`` along the shortest way to a column with room.

        ``by_row`` are the rows to begin with. Returns the column, and how many went there.
        """
        end = self._nearest(by_row, by_column, room)
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
        several = min(most, int(room[end]))
        several = min(several, *(int(self._high[cell] - self._table[cell]) for cell in ups))
        for cell in downs:
            several = min(several, int(self._table[cell] - self._low[cell]))
        for cell in ups:
            self._table[cell] += several
        for cell in downs:
            self._table[cell] -= several
        return end, several

    def _nearest(self, by_row: dict[int, int], by_column: dict[int, int], room: Ints) -> int | None:
        queue = deque(by_row)
        while queue:
            row = queue.popleft()
            for column in np.flatnonzero(self._table[row] < self._high[row]).tolist():
                if column in by_column:
                    continue
                by_column[column] = row
                if room[column] > 0:
                    return column
                own = np.flatnonzero(self._table[:, column] > self._low[:, column])
                for other in own.tolist():
                    if other not in by_row:
                        by_row[other] = column
                        queue.append(other)
        return None
