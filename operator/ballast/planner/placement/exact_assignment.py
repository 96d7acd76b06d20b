"""The best assignment there is, for few partitions: least by rules, then by level, then by moves.

Who holds what is a flow: from each partition over its racks to brokers. Rules, levels and moves are
its costs, in that order of weight; a flow of least cost is the best assignment (`residual`). It
starts from an assignment that is there and changes no more than what makes it better.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Ints, Shorts, count_by_index
from ballast.planner.placement.min_cost_flow import FlowNetwork, ResidualNetwork
from ballast.planner.problem.rack_rules import RackRules

MAX_ARCS = 20_000
"""Of partitions to brokers: more is not looked at."""
_MAX_CYCLES = 20_000

MarginalCost = Callable[[Ints], Ints]
"""What the n-th replica of each broker costs, by n; grows with n. Fewer is a better level."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AssignmentProblem:
    """Some partitions, and what may become of them."""

    rows: Shorts
    """Where their replicas are to be; changed by `solve_assignment`."""
    origins: Shorts
    """Where they are: a replica that is there already costs no move. As ``rows``."""
    fixed: Bools
    """As ``rows``: which replicas stay."""
    factors: Shorts
    receivers: Bools
    """Brokers that may get replicas."""
    retainers: Bools
    """Brokers that may keep what they have."""
    repairs: bool
    """Whether what the origins have against the rules is to be mended, or may stay."""
    others: Ints
    """Replicas that each broker holds of partitions that are not among these."""
    marginal: MarginalCost
    rules: RackRules

    @property
    def arcs(self) -> int:
        """How large the search is."""
        lines, width = self.rows.shape
        return int(lines * (self.receivers.sum() + width))


def solve_assignment(settling: AssignmentProblem) -> None:
    """Make ``settling.rows`` the best they can be. Requires at most `MAX_ARCS` arcs."""
    assert settling.arcs <= MAX_ARCS, "too much to be settled exactly"
    search = _Search(settling)
    for _ in range(_MAX_CYCLES):
        if not search.step():
            break
    search.write_back()


class _Search:
    """The network: node 0 is the sink, then the brokers, then partitions and their racks."""

    def __init__(self, settling: AssignmentProblem) -> None:
        self._settling = settling
        lines, width = settling.rows.shape
        brokers = len(settling.others)
        self._counts = settling.others + count_by_index(settling.rows, brokers)
        self._level_cost = lines * width + 1
        ends = (self._counts + lines + 1, np.zeros_like(self._counts))
        steepest = sum(int(np.abs(settling.marginal(end)).max(initial=1)) for end in ends)
        self._rule_cost = self._level_cost * steepest * (brokers + 2)
        self._nodes = 1 + brokers
        self._receivers = np.flatnonzero(settling.receivers).tolist()
        network = FlowNetwork()
        room = 2 * lines + 2
        self._to_sink = [
            network.arc(1 + broker, 0, capacity=room, flow=lines + 1, cost=0)
            for broker in range(brokers)
        ]
        self._options = [self._add_line(network, line) for line in range(lines)]
        self._residual: ResidualNetwork = network.frozen()
        self._price()

    def step(self) -> bool:
        """Make the assignment better; False when it is the best."""
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
        """Write what was found into the rows.

        Whoever was there is where it was; others stay where they are, or get what is left.
        """
        for line, row in enumerate(self._settling.rows):
            options = self._options[line]
            now = {broker for broker, arc in options.items() if self._residual.flow(arc)}
            now.update(row[self._settling.fixed[line]].tolist())
            before = row.tolist()
            open_places = [place for place, broker in enumerate(before) if broker >= 0]
            for places in (self._settling.origins[line].tolist(), before):
                for place in list(open_places):
                    if places[place] in now:
                        row[place] = places[place]
                        now.remove(places[place])
                        open_places.remove(place)
            row[open_places] = sorted(now)

    def _price(self) -> None:
        """Set what one replica more, and one less, costs on each broker."""
        marginal = self._settling.marginal
        brokers = len(self._to_sink)
        self._residual.costs[0 : 2 * brokers : 2] = self._level_cost * marginal(self._counts + 1)
        self._residual.costs[1 : 2 * brokers : 2] = -self._level_cost * marginal(self._counts)

    def _add_line(self, network: FlowNetwork, line: int) -> dict[int, int]:
        """Add a partition; return the arc to each broker that may hold it, but need not."""
        settling, rules = self._settling, self._settling.rules
        factor = int(settling.factors[line])
        row, origin = _brokers(settling.rows[line]), _brokers(settling.origins[line])
        fixed = {*settling.rows[line][settling.fixed[line]].tolist()}
        kept = {broker for broker in origin if settling.retainers[broker]}
        partition, spare = self._node(), self._node()
        extras = int(rules.extras[factor])
        now = _Room(rules, factor)
        before = _Room(rules, factor)
        arcs: dict[int, int] = {}
        by_rack: dict[int, list[int]] = {}
        for broker in sorted({*self._receivers, *row, *kept}):
            by_rack.setdefault(int(rules.racks[broker]), []).append(broker)
        for rack, brokers in by_rack.items():
            node = self._node()
            in_floor, in_extra, beyond = now.fill(rack, len(row & {*brokers}))
            tolerated = 0 if settling.repairs else before.fill(rack, len(origin & {*brokers}))[2]
            floor, top = int(rules.floors[factor, rack]), int(rules.tops[factor, rack])
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
            # What is fixed flows too, but nothing can change it: it needs no arc.
            for broker in (broker for broker in brokers if broker not in fixed):
                arcs[broker] = network.arc(
                    node,
                    1 + broker,
                    capacity=1,
                    flow=int(broker in row),
                    cost=int(broker not in origin),
                )
        network.arc(partition, spare, capacity=extras, flow=extras - now.extras, cost=0)
        return arcs

    def _node(self) -> int:
        self._nodes += 1
        return self._nodes - 1


class _Room:
    """What the rules leave for one partition while its racks are filled, one after the other."""

    def __init__(self, rules: RackRules, factor: int) -> None:
        self._floors = rules.floors[factor]
        self._tops = rules.tops[factor]
        self.extras = int(rules.extras[factor])
        """Of those that are left over after the floors."""

    def fill(self, rack: int, used: int) -> tuple[int, int, int]:
        """Return how many of ``used`` are of the floor, left over, and against the rule."""
        floor = int(self._floors[rack])
        in_floor = min(used, floor)
        in_extra = min(used - in_floor, int(self._tops[rack]) - floor, self.extras)
        self.extras -= in_extra
        return in_floor, in_extra, used - in_floor - in_extra


def _brokers(row: Shorts) -> set[int]:
    return {broker for broker in row.tolist() if broker >= 0}
