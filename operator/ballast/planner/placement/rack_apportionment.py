"""How many of each class go to each rack: whole numbers, rows exact, columns as near as can be.

A class is a set of replicas with the same open racks. First every class is spread in proportion to
what the racks want (Sinkhorn's iteration), so that no class takes all the places of one rack; then
numbers are made whole; then what a rack has got too much of goes on, over other racks if need be,
by the shortest way.
"""

from collections import deque

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints

_ITERATIONS = 60
_NEVER = -1e18


def apportion_to_racks(supply: Ints, is_open: Bools, wanted: Ints, share: float) -> Ints:
    """Return how many of each class (rows) go to each rack (columns).

    ``supply`` is what each class has, all of which goes somewhere open; ``wanted`` is what the
    racks may get at most, and ``share`` the part of it that they are to get now. A rack gets more
    than it wants only when there is no other way.
    """
    spread = _spread(supply, is_open, wanted.astype(np.float64) * share)
    sent = np.floor(spread).astype(np.int64)
    rest = spread - sent
    room = wanted - sent.sum(axis=0)
    for row, left in enumerate((supply - sent.sum(axis=1)).tolist()):
        for _ in range(left):
            worth = np.where(room > 0, 2.0, np.minimum(room, 0) * 2.0) + rest[row]
            rack = int(np.argmax(np.where(is_open[row], worth, _NEVER)))
            sent[row, rack] += 1
            rest[row, rack] -= 1.0
            room[rack] -= 1
    _shift_overflow(sent, is_open, room)
    return sent


def _spread(supply: Ints, is_open: Bools, wanted: Floats) -> Floats:
    spread = np.where(is_open, np.maximum(wanted, 1e-9)[None, :], 0.0)
    for _ in range(_ITERATIONS):
        spread *= (supply / np.maximum(spread.sum(axis=1), 1e-30))[:, None]
        sums = spread.sum(axis=0)
        spread *= np.where(sums > 0, wanted / np.maximum(sums, 1e-30), 0.0)[None, :]
    rows = spread.sum(axis=1)
    # A class whose racks all want nothing goes to any of them.
    lost = rows <= 0
    spread[lost] = is_open[lost]
    rows = spread.sum(axis=1)
    return np.asarray(spread * (supply / np.maximum(rows, 1e-30))[:, None])


def _shift_overflow(sent: Ints, is_open: Bools, room: Ints) -> None:
    """Move what is too much along the shortest ways to racks with room.

    Where none can be reached from a rack, all that can be reached share what is too much.
    """
    while (room < 0).any():
        over = int(np.argmin(room))
        came_from: dict[int, int] = {over: over}
        end = _nearest_room(over, sent, is_open, room, came_from)
        if end is None:
            reached = list(came_from)
            room[reached] += max(1, -int(room[reached].sum()) // len(reached))
            continue
        steps = []
        at = end
        while at != over:
            rows = np.where(is_open[:, at], sent[:, came_from[at]], 0)
            steps.append((int(np.argmax(rows)), came_from[at], at))
            at = came_from[at]
        several = min(-int(room[over]), int(room[end]))
        several = min(several, *(int(sent[row, rack]) for row, rack, _ in steps))
        for row, rack, to in steps:
            sent[row, rack] -= several
            sent[row, to] += several
        room[over] += several
        room[end] -= several


def _nearest_room(
    start: int, sent: Ints, is_open: Bools, room: Ints, came_from: dict[int, int]
) -> int | None:
    queue = deque([start])
    while queue:
        rack = queue.popleft()
        reached = is_open[sent[:, rack] > 0].any(axis=0)
        for other in np.flatnonzero(reached).tolist():
            if other in came_from:
                continue
            came_from[other] = rack
            if room[other] > 0:
                return other
            queue.append(other)
    return None
