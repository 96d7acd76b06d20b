"""How many partitions of each class go to each rack, as integers.

A class is a set of partitions with the same open racks. Goals: all partitions of a class go to open
racks; no rack gets more than its demand if that can be avoided; no class takes all slots of a rack.

Algorithm: Sinkhorn's iteration spreads the classes in proportion to the racks' demand. Numbers are
rounded. What is above a rack's demand is shifted along shortest paths: a class gives it to another
open rack, which may hand on partitions of another class.

Example, racks a and b with demand 3 and 1::

    class 1, open to a and b, 2 partitions:   1 to a, 1 to b
    class 2, open to a only, 2 partitions:    2 to a

"""

from collections import deque

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints

_ITERATIONS = 60
_NEVER = -1e18


def apportion_to_racks(supply: Ints, is_open: Bools, demand: Ints, share: float) -> Ints:
    """Return how many partitions of each class (rows) go to each rack (columns).

    ``supply`` is the size of each class. ``demand`` is what the racks may get at most, and
    ``share`` the part of it that they are to get in this round. A rack gets more than its demand
    only if there is no other way.
    """
    spread = _spread(supply, is_open, demand.astype(np.float64) * share)
    apportioned = np.floor(spread).astype(np.int64)
    fractions = spread - apportioned
    room = demand - apportioned.sum(axis=0)
    for row, remaining in enumerate((supply - apportioned.sum(axis=1)).tolist()):
        for _ in range(remaining):
            priority = np.where(room > 0, 2.0, np.minimum(room, 0) * 2.0) + fractions[row]
            rack = int(np.argmax(np.where(is_open[row], priority, _NEVER)))
            apportioned[row, rack] += 1
            fractions[row, rack] -= 1.0
            room[rack] -= 1
    _shift_overflow(apportioned, is_open, room)
    return apportioned


def _spread(supply: Ints, is_open: Bools, demand: Floats) -> Floats:
    spread = np.where(is_open, np.maximum(demand, 1e-9)[None, :], 0.0)
    for _ in range(_ITERATIONS):
        spread *= (supply / np.maximum(spread.sum(axis=1), 1e-30))[:, None]
        sums = spread.sum(axis=0)
        spread *= np.where(sums > 0, demand / np.maximum(sums, 1e-30), 0.0)[None, :]
    rows = spread.sum(axis=1)
    # If all open racks of a class have no demand, it is spread over all of them.
    without_demand = rows <= 0
    spread[without_demand] = is_open[without_demand]
    rows = spread.sum(axis=1)
    return np.asarray(spread * (supply / np.maximum(rows, 1e-30))[:, None])


def _shift_overflow(apportioned: Ints, is_open: Bools, room: Ints) -> None:
    """Shift what is above the demand along shortest paths to racks with room.

    If a rack reaches none, all that it reaches share the surplus.
    """
    while (room < 0).any():
        overfull = int(np.argmin(room))
        came_from: dict[int, int] = {overfull: overfull}
        end = _nearest_room(overfull, apportioned, is_open, room, came_from)
        if end is None:
            reachable = list(came_from)
            room[reachable] += max(1, -int(room[reachable].sum()) // len(reachable))
            continue
        steps = []
        current = end
        while current != overfull:
            rows = np.where(is_open[:, current], apportioned[:, came_from[current]], 0)
            steps.append((int(np.argmax(rows)), came_from[current], current))
            current = came_from[current]
        count = min(-int(room[overfull]), int(room[end]))
        count = min(count, *(int(apportioned[row, rack]) for row, rack, _ in steps))
        for row, rack, to in steps:
            apportioned[row, rack] -= count
            apportioned[row, to] += count
        room[overfull] += count
        room[end] -= count


def _nearest_room(
    start: int, apportioned: Ints, is_open: Bools, room: Ints, came_from: dict[int, int]
) -> int | None:
    queue = deque([start])
    while queue:
        rack = queue.popleft()
        reachable = is_open[apportioned[:, rack] > 0].any(axis=0)
        for other in np.flatnonzero(reachable).tolist():
            if other in came_from:
                continue
            came_from[other] = rack
            if room[other] > 0:
                return other
            queue.append(other)
    return None
