"""200 small clusters of all kinds, each against the best plan that there is."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from ballast.planner.errors import Infeasible
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.optimize import count_moves
from ballast.planner.plan import plan_targets
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.planner.builders import counts, ids, made
from tests.unit.planner.exact import Counts, moves_lower_bound, sets_by_rule

CLUSTERS = 200
AT_ONCE = 10
Sets = Mapping[frozenset[int], int]
Badness = Callable[[frozenset[int]], int]


@dataclass
class Case:
    """One cluster and what is asked of it."""

    cluster: ClusterColumns
    options: PlanOptions

    @property
    def brokers(self) -> list[int]:
        return list(map(int, self.cluster.brokers.ids))

    @property
    def rows(self) -> list[tuple[int, ...]]:
        return ids(self.cluster, self.cluster.replicas)

    def badness(self, chosen: frozenset[int]) -> int:
        """Return how unevenly a partition's replicas are spread over racks."""
        if not self.cluster.brokers.has_racks:
            return 0
        used = np.bincount(self.cluster.brokers.racks[sorted(chosen)])
        return int((used**2).sum())

    def choices(self) -> list[Sets]:
        """Return the sets of brokers that each partition may be on."""
        named = set(self.options.broker_ids)
        if self.options.strategy is Strategy.REBALANCE:
            return [sets_by_rule(row, self.brokers, (), self.badness) for row in self.rows]
        if self.options.strategy is Strategy.REMOVE_BROKERS:
            stay = set(self.brokers) - named
            return [sets_by_rule(row, stay, set(row) - named, self.badness) for row in self.rows]
        return [
            sets_by_rule(row, {*row, *named}, (), _no_worse(self.badness, row)) for row in self.rows
        ]

    def best(self, choices: Sequence[Sets]) -> tuple[int, int]:
        """Return the most level share-out, as a sum of squares, and the fewest moves to it."""
        found = moves_lower_bound(choices, self.brokers)
        if self.options.strategy is not Strategy.ADD_BROKERS:
            return min((_squares(given), cost) for given, cost in found.items())
        # New brokers get no more than they would if all were dealt anew.
        free = [sets_by_rule(row, self.brokers, (), self.badness) for row in self.rows]
        level = moves_lower_bound(free, self.brokers)
        least = min(map(_squares, level))
        most = [
            max(given[place] for given in level if _squares(given) == least)
            for place in range(len(self.brokers))
        ]
        new = [self.brokers.index(broker) for broker in self.options.broker_ids]
        return min(
            (_squares(given), cost)
            for given, cost in found.items()
            if all(given[place] <= most[place] for place in new)
        )


def _no_worse(badness: Badness, row: Sequence[int]) -> Badness:
    before = badness(frozenset(row))
    return lambda chosen: max(0, badness(chosen) - before)


def _squares(given: Counts) -> int:
    return sum(count**2 for count in given)


def drawn(seed: int) -> Case:
    """Return a case: with racks, one, many or none; with replicas as many as there are or few."""
    chance = random.Random(seed)
    brokers = range(chance.randint(2, 7))
    racks = chance.choice([0, 1, 2, 3, 4])
    factors = chance.choice([(1,), (2,), (3,), (1, 2, 3), (2, 3), (4,)])
    used = brokers[: chance.randint(1, len(brokers))]
    rows = [
        chance.sample(used, min(len(used), chance.choice(factors)))
        for _ in range(chance.randint(1, 9))
    ]
    rack_of = {broker: f"r{chance.randrange(racks)}" if racks else None for broker in brokers}
    cluster = made(rack_of, {"t": rows})
    empty = tuple(broker for broker in brokers if not any(broker in row for row in rows))
    strategies = [Strategy.REBALANCE, Strategy.REMOVE_BROKERS]
    strategies += [Strategy.ADD_BROKERS] if empty else []
    strategy = chance.choice(strategies)
    named = empty if strategy is Strategy.ADD_BROKERS else ()
    if strategy is Strategy.REMOVE_BROKERS:
        named = tuple(chance.sample(brokers, chance.randint(1, max(1, len(brokers) // 3))))
    return Case(cluster, PlanOptions(strategy=strategy, broker_ids=named, seed=seed))


@pytest.mark.parametrize("first", range(0, CLUSTERS, AT_ONCE))
def test_small_clusters_are_planned_as_well_as_can_be(first: int) -> None:
    """Neither level nor moves can be better, no rule is broken that can be kept.

    Nothing is refused that can be planned.
    """
    for seed in range(first, first + AT_ONCE):
        case = drawn(seed)
        choices = case.choices()
        if not all(choices):
            with pytest.raises(Infeasible):
                plan_targets(case.cluster, case.options)
            continue
        rows = plan_targets(case.cluster, case.options)
        after = [frozenset(row) for row in ids(case.cluster, rows)]
        assert all(row in sets for row, sets in zip(after, choices, strict=True)), seed
        found = _squares(tuple(counts(case.cluster, rows).values()))
        assert (found, count_moves(rows, case.cluster.replicas)) == case.best(choices), seed
