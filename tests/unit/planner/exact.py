"""The best there is for small clusters, found by another way than the planner's: integer search.

Every partition has a list of all the sets of brokers that it may be on by the rules; partitions are
gone through one after the other, and of all that has been tried so far only what differs in the
brokers' counts is kept, each with its fewest moves. So all assignments are looked at.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

Counts = tuple[int, ...]


def moves_lower_bound(
    choices: Sequence[Mapping[frozenset[int], int]], brokers: Sequence[int]
) -> dict[Counts, int]:
    """Return for each way to share out replicas among ``brokers`` the fewest moves it takes.

    ``choices`` has, per partition, the sets that it may be on, and what each costs.
    """
    place = {broker: index for index, broker in enumerate(brokers)}
    best: dict[Counts, int] = {(0,) * len(brokers): 0}
    for sets in choices:
        after: dict[Counts, int] = {}
        for counts, cost in best.items():
            for chosen, more in sets.items():
                grown = list(counts)
                for broker in chosen:
                    grown[place[broker]] += 1
                key = tuple(grown)
                if cost + more < after.get(key, 1 << 30):
                    after[key] = cost + more
        best = after
    return best


def sets_by_rule(
    replicas: Iterable[int],
    may_be_on: Iterable[int],
    must_be_on: Iterable[int],
    badness: Callable[[frozenset[int]], int],
) -> dict[frozenset[int], int]:
    """Return the sets of brokers that break the fewest rules, with what each costs in moves."""
    here = frozenset(replicas)
    must = frozenset(must_be_on)
    allowed = sorted({*may_be_on} | must)
    found = [
        frozenset(chosen)
        for chosen in combinations(allowed, len(here))
        if must <= frozenset(chosen)
    ]
    if not found:
        return {}
    least = min(map(badness, found))
    return {chosen: len(chosen - here) for chosen in found if badness(chosen) == least}
