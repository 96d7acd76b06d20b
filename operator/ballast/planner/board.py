"""Who holds how much while replicas are given out: counts per broker, kept in order.

A broker's load is its replicas, its preferred leaders and its bytes. Brokers stand in order of load
within their rack, and racks in the order of their least loaded broker, so that the best place for a
replica is found without looking at every broker.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from ballast.planner.snapshot import PlacedPartition

_NO_RACK = ""
_Load = tuple[int, int, int, int]


@dataclass(slots=True, kw_only=True)
class Place:
    """Where one partition's replicas are to be."""

    partition: PlacedPartition
    replicas: list[int]
    moved: tuple[int, ...]
    """Positions in the list that were given out: these, and no other, may change again."""


class Board:
    """The loads of the brokers that may get replicas."""

    def __init__(self, *, brokers: Collection[int], racks: Mapping[int, str]) -> None:
        self.brokers = frozenset(brokers)
        self._rack_of = racks
        self._replicas: Counter[int] = Counter(dict.fromkeys(self.brokers, 0))
        self._leaders: Counter[int] = Counter()
        self._bytes: Counter[int] = Counter()
        self._orders: tuple[_Order, _Order] | None = None
        """For followers and for leaders; made when all that is there has been counted."""

    def count(self, partition: PlacedPartition, without: frozenset[int]) -> None:
        """Count the replicas that stay; all of them before the first is placed."""
        assert self._orders is None, "what is there is counted before anything is placed"
        for position, broker in enumerate(partition.replicas):
            if broker not in without and broker in self.brokers:
                self._replicas[broker] += 1
                self._bytes[broker] += partition.size
                self._leaders[broker] += position == 0

    def place(self, partition: PlacedPartition, gone: frozenset[int]) -> Place:
        """Give every replica on a broker that is ``gone`` the best other one; there must be one."""
        moved = tuple(i for i, broker in enumerate(partition.replicas) if broker in gone)
        staying = [broker for broker in partition.replicas if broker not in gone]
        usage = Counter(map(self.rack, staying))
        chosen: list[int] = []
        for position in moved:
            broker = self._best([*staying, *chosen], usage, is_leader=position == 0)
            usage[self.rack(broker)] += 1
            chosen.append(broker)
        if 0 in moved:
            # Of those that come in, whoever leads least is to lead.
            chosen.sort(key=lambda broker: (self._leaders[broker], self._load(broker)))
        place = Place(partition=partition, replicas=list(partition.replicas), moved=moved)
        for position, broker in zip(moved, chosen, strict=True):
            place.replicas[position] = broker
            self._change(broker, 1, partition.size, is_leader=position == 0)
        return place

    def move(self, place: Place, position: int, broker: int) -> None:
        """Give one replica that was placed to another broker."""
        size, is_leader = place.partition.size, position == 0
        self._change(place.replicas[position], -1, size, is_leader=is_leader)
        place.replicas[position] = broker
        self._change(broker, 1, size, is_leader=is_leader)

    def replicas(self, broker: int) -> int:
        """Return how many replicas a broker holds."""
        return self._replicas[broker]

    def rack(self, broker: int) -> str:
        """Return the broker's rack; one and the same for all when racks do not count."""
        return self._rack_of.get(broker, _NO_RACK)

    def usage(self, place: Place, position: int) -> Counter[str]:
        """Return how many of the partition's other replicas are in each rack."""
        return Counter(self.rack(b) for i, b in enumerate(place.replicas) if i != position)

    def _best(self, taken: Collection[int], usage: Mapping[str, int], *, is_leader: bool) -> int:
        if self._orders is None:
            racks: dict[str, list[int]] = {}
            for broker in self.brokers:
                racks.setdefault(self.rack(broker), []).append(broker)
            self._orders = (_Order(racks, self._load), _Order(racks, self._load_of_leader))
        for used in range(len(taken) + 1):
            best = self._orders[is_leader].first(taken, usage, used)
            if best is not None:
                return best
        raise AssertionError("whether there is room was checked before")

    def _change(self, broker: int, by: int, size: int, *, is_leader: bool) -> None:
        assert self._orders is not None, "what changes was placed"
        rack = self.rack(broker)
        followers, leaders = self._orders
        followers.remove(rack, self._load(broker))
        leaders.remove(rack, self._load_of_leader(broker))
        self._replicas[broker] += by
        self._bytes[broker] += by * size
        self._leaders[broker] += by * is_leader
        followers.insert(rack, self._load(broker))
        leaders.insert(rack, self._load_of_leader(broker))

    def _load(self, broker: int) -> _Load:
        return (self._replicas[broker], self._bytes[broker], self._leaders[broker], broker)

    def _load_of_leader(self, broker: int) -> _Load:
        return (self._replicas[broker], self._leaders[broker], self._bytes[broker], broker)


class _Order:
    """Brokers by load within each rack, and the racks by their first broker."""

    def __init__(self, racks: Mapping[str, list[int]], load: Callable[[int], _Load]) -> None:
        self._by_rack = {rack: sorted(map(load, brokers)) for rack, brokers in racks.items()}
        self._racks = sorted((loads[0], rack) for rack, loads in self._by_rack.items())

    def first(self, taken: Collection[int], usage: Mapping[str, int], used: int) -> int | None:
        """Return the least loaded broker in racks that are used so often, but none of ``taken``."""
        best: _Load | None = None
        for least, rack in self._racks:
            if best is not None and best < least:
                break
            if usage.get(rack, 0) != used:
                continue
            free = next((load for load in self._by_rack[rack] if load[3] not in taken), None)
            if free is not None and (best is None or free < best):
                best = free
        return None if best is None else best[3]

    def remove(self, rack: str, load: _Load) -> None:
        """Take a broker out, to `insert` it with another load."""
        with_rack = self._by_rack[rack]
        del self._racks[bisect_left(self._racks, (with_rack[0], rack))]
        del with_rack[bisect_left(with_rack, load)]

    def insert(self, rack: str, load: _Load) -> None:
        """Put a broker back in."""
        with_rack = self._by_rack[rack]
        insort(with_rack, load)
        insort(self._racks, (with_rack[0], rack))
