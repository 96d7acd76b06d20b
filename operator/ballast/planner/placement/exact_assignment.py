"""The best assignment of a small problem, as a min-cost flow.

Goals, in order: fewest rack violations, best balance of replica counts, fewest moves. Constraint:
at most `MAX_ARCS` arcs; larger problems take too long.

Algorithm: every replica is a unit of flow from its partition over a rack to a broker and on to the
sink. Arcs cost according to the goals: a rack violation costs more than any balance, balance more
than any number of moves. The n-th replica of a broker costs ``marginal_cost(n)``, which grows with
n, so a balanced assignment is cheaper. `min_cost_flow` starts from the current assignment and
cancels negative cycles; when none is left, the assignment is optimal.

Example with marginal costs 1, 3, 5, …::

    partition 0: broker 1   ->   broker 1
    partition 1: broker 1   ->   broker 2

Two replicas on broker 1 cost 1 + 3. One on either broker costs 1 + 1, and one move: a cycle of
negative cost.

"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Ints, Shorts, count_by_index
from ballast.planner.placement.min_cost_flow import FlowNetwork, ResidualNetwork
from ballast.planner.problem.rack_rules import RackRules

MAX_ARCS = 20_000
"""Arcs between partitions and brokers; larger problems are not solved exactly."""
_MAX_CYCLES = 20_000

MarginalCost = Callable[[Ints], Ints]
"""Cost of the n-th replica of each broker, by n; grows with n. A better balance costs less."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AssignmentProblem:
    """Some partitions and their constraints."""

    rows: Shorts
    """The replica matrix; `solve_assignment` changes it."""
    origins: Shorts
    """Current replicas: a replica at its origin costs no move. As ``rows``."""
    fixed: Bools
    """As ``rows``: which replicas stay."""
    factors: Shorts
    receivers: Bools
    """Brokers that may receive replicas."""
    retainers: Bools
    """Brokers that may keep what they have."""
    repairs_racks: bool
    """Whether rack violations of the origins have to be repaired, or may stay."""
    other_counts: Ints
    """Replicas of other partitions on each broker."""
    marginal_cost: MarginalCost
    rules: RackRules

    @property
    def arcs(self) -> int:
        """The size of the search."""
        row_ids, width = self.rows.shape
        return int(row_ids * (self.receivers.sum() + width))


def solve_assignment(problem: AssignmentProblem) -> None:
    """Make ``problem.rows`` optimal. Requires at most `MAX_ARCS` arcs."""
    assert problem.arcs <= MAX_ARCS, "too much to be settled exactly"
    search = _Search(problem)
    for _ in range(_MAX_CYCLES):
        if not search.step():
            break
    search.write_back()


class _Search:
    """The network: node 0 is the sink, then the brokers, then partitions and their racks."""

    def __init__(self, problem: AssignmentProblem) -> None:
        self._problem = problem
        row_ids, width = problem.rows.shape
        brokers = len(problem.other_counts)
        self._counts = problem.other_counts + count_by_index(problem.rows, brokers)
        self._level_cost = row_ids * width + 1
        extremes = (self._counts + row_ids + 1, np.zeros_like(self._counts))
        steepest = sum(int(np.abs(problem.marginal_cost(end)).max(initial=1)) for end in extremes)
        self._rule_cost = self._level_cost * steepest * (brokers + 2)
        self._nodes = 1 + brokers
        self._receivers = np.flatnonzero(problem.receivers).tolist()
        network = FlowNetwork()
        room = 2 * row_ids + 2
        self._to_sink = [
            network.arc(1 + broker, 0, capacity=room, flow=row_ids + 1, cost=0)
            for broker in range(brokers)
        ]
        self._options = [self._add_partition(network, row_id) for row_id in range(row_ids)]
        self._residual: ResidualNetwork = network.residual()
        self._price()

    def step(self) -> bool:
        """Cancel one negative cycle; False = the assignment is optimal."""
        cycle = self._residual.negative_cycle()
        if not cycle:
            return False
        self._residual.push(cycle)
        for arc in cycle:
            broker = arc // 2
            if broker < len(self._to_sink):
                self._counts[broker] += 1 if arc % 2 == 0 else -1
        self._price()
        return True

    def write_back(self) -> None:
        """Write the flow into the rows.

        A broker keeps the position that it had in the origins, or else in the rows; others fill the
        rest.
        """
        for row_id, row in enumerate(self._problem.rows):
            options = self._options[row_id]
            current = {broker for broker, arc in options.items() if self._residual.flow(arc)}
            current.update(row[self._problem.fixed[row_id]].tolist())
            original = row.tolist()
            open_places = [place for place, broker in enumerate(original) if broker >= 0]
            for places in (self._problem.origins[row_id].tolist(), original):
                for place in list(open_places):
                    if places[place] in current:
                        row[place] = places[place]
                        current.remove(places[place])
                        open_places.remove(place)
            row[open_places] = sorted(current)

    def _price(self) -> None:
        """Set the cost of one replica more, and of one less, on each broker."""
        marginal_cost = self._problem.marginal_cost
        brokers = len(self._to_sink)
        self._residual.costs[0 : 2 * brokers : 2] = self._level_cost * marginal_cost(
            self._counts + 1
        )
        self._residual.costs[1 : 2 * brokers : 2] = -self._level_cost * marginal_cost(self._counts)

    def _add_partition(self, network: FlowNetwork, row_id: int) -> dict[int, int]:
        """Add a partition; return the arc to each broker that may hold it, unless it has to."""
        problem, rules = self._problem, self._problem.rules
        factor = int(problem.factors[row_id])
        row, origin = _brokers(problem.rows[row_id]), _brokers(problem.origins[row_id])
        fixed = {*problem.rows[row_id][problem.fixed[row_id]].tolist()}
        retained = {broker for broker in origin if problem.retainers[broker]}
        partition, spare = self._node(), self._node()
        extras = int(rules.extras[factor])
        current = _Room(rules, factor)
        original = _Room(rules, factor)
        arcs: dict[int, int] = {}
        by_rack: dict[int, list[int]] = {}
        for broker in sorted({*self._receivers, *row, *retained}):
            by_rack.setdefault(int(rules.racks[broker]), []).append(broker)
        for rack, brokers in by_rack.items():
            node = self._node()
            in_floor, in_extra, beyond = current.fill(rack, len(row & {*brokers}))
            tolerated = (
                0 if problem.repairs_racks else original.fill(rack, len(origin & {*brokers}))[2]
            )
            floor, top = int(rules.floors[factor, rack]), int(rules.ceilings[factor, rack])
            network.arc(partition, node, capacity=floor, flow=in_floor, cost=0)
            network.arc(spare, node, capacity=top - floor, flow=in_extra, cost=0)
            network.arc(partition, node, capacity=tolerated, flow=min(beyond, tolerated), cost=0)
            network.arc(
                partition,
                node,
                capacity=len(brokers),
                flow=max(0, beyond - tolerated),
                cost=self._rule_cost,
            )
            # A fixed replica counts in the flow, but it cannot change: it needs no arc.
            for broker in (broker for broker in brokers if broker not in fixed):
                arcs[broker] = network.arc(
                    node,
                    1 + broker,
                    capacity=1,
                    flow=int(broker in row),
                    cost=int(broker not in origin),
                )
        network.arc(partition, spare, capacity=extras, flow=extras - current.extras, cost=0)
        return arcs

    def _node(self) -> int:
        self._nodes += 1
        return self._nodes - 1


class _Room:
    """The rack rule of one partition while its racks are filled one after the other."""

    def __init__(self, rules: RackRules, factor: int) -> None:
        self._floors = rules.floors[factor]
        self._ceilings = rules.ceilings[factor]
        self.extras = int(rules.extras[factor])
        """Extras that are not used yet."""

    def fill(self, rack: int, used: int) -> tuple[int, int, int]:
        """Return how many of ``used`` are floor, extra, and violation."""
        floor = int(self._floors[rack])
        in_floor = min(used, floor)
        in_extra = min(used - in_floor, int(self._ceilings[rack]) - floor, self.extras)
        self.extras -= in_extra
        return in_floor, in_extra, used - in_floor - in_extra


def _brokers(row: Shorts) -> set[int]:
    return {broker for broker in row.tolist() if broker >= 0}
