"""Levels what was given out replica by replica: the last ones may have found no good place.

While some broker holds two replicas more than another, and a replica that was placed on the first
can go to the second, over others if need be, with no more of its partition's replicas in one rack,
it goes there. As each step makes the sum of the squared counts smaller, this ends; when no such way
is left the counts are as level as the rules allow.
"""

from collections.abc import Iterator, Sequence

from ballast.planner.board import Board, Place

_Slot = tuple[Place, int]
"""One replica that was placed: its partition, and its position there."""
_Step = tuple[int, _Slot]
"""From which broker, and what."""


def level(board: Board, places: Sequence[Place]) -> None:
    """Change ``places``, on ``board``, until their brokers' counts are level."""
    leveling = _Leveling(board, places)
    while leveling.step():
        pass


class _Leveling:
    def __init__(self, board: Board, places: Sequence[Place]) -> None:
        self._board = board
        self._placed: dict[int, list[_Slot]] = {broker: [] for broker in board.brokers}
        for place in places:
            for position in place.moved:
                self._placed[place.replicas[position]].append((place, position))
        self._racks: dict[str, list[int]] = {}
        for broker in sorted(board.brokers):
            self._racks.setdefault(board.rack(broker), []).append(broker)

    def step(self) -> bool:
        """Move one replica's worth from a full broker to a less full one; False = none can."""
        count = self._board.replicas
        least = min(map(count, self._placed), default=0)
        hopeless: set[int] = set()
        for full in sorted(self._placed, key=lambda broker: (-count(broker), broker)):
            if count(full) - least < 2:
                return False
            if full in hopeless or not self._placed[full]:
                continue
            steps: dict[int, _Step] = {}
            empty = self._search(full, steps)
            if empty is not None:
                self._walk(full, empty, steps)
                return True
            # Whoever can be reached from here and is no fuller finds nothing either.
            hopeless.update(steps)
        return False

    def _search(self, full: int, steps: dict[int, _Step]) -> int | None:
        """Return the nearest broker with two replicas less; ``steps`` say how each was reached."""
        wanted = self._board.replicas(full) - 2
        queue = [full]
        for broker in queue:
            way = _places_on_the_way(full, broker, steps)
            for other, slot in self._neighbours(broker, {full, *steps}, way):
                steps[other] = (broker, slot)
                if self._board.replicas(other) <= wanted:
                    return other
                queue.append(other)
        return None

    def _neighbours(
        self, broker: int, seen: set[int], way: Sequence[Place]
    ) -> Iterator[tuple[int, _Slot]]:
        """Yield brokers not yet seen that can take a replica which was placed on this one."""
        open_racks = {
            rack: [other for other in brokers if other not in seen]
            for rack, brokers in self._racks.items()
        }
        own = self._board.rack(broker)
        for place, position in self._placed[broker]:
            if any(place is other for other in way):
                continue
            usage = self._board.usage(place, position)
            for rack in [rack for rack, brokers in open_racks.items() if brokers]:
                if usage[rack] > usage[own]:
                    continue
                free = [other for other in open_racks[rack] if other not in place.replicas]
                open_racks[rack] = [other for other in open_racks[rack] if other in place.replicas]
                for other in free:
                    yield other, (place, position)
            if not any(open_racks.values()):
                return

    def _walk(self, full: int, empty: int, steps: dict[int, _Step]) -> None:
        target = empty
        while target != full:
            broker, slot = steps[target]
            self._board.move(*slot, target)
            self._placed[broker].remove(slot)
            self._placed[target].append(slot)
            target = broker


def _places_on_the_way(full: int, broker: int, steps: dict[int, _Step]) -> list[Place]:
    """Return the partitions already moved on the way: each only once, or two rules could meet."""
    way = []
    while broker != full:
        broker, (place, _) = steps[broker]
        way.append(place)
    return way
