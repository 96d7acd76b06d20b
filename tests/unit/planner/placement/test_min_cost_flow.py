from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner.placement.min_cost_flow import FlowNetwork


def test_flow_goes_the_cheaper_way() -> None:
    network = FlowNetwork()
    dear = network.arc(0, 1, capacity=2, flow=2, cost=5)
    cheap = network.arc(0, 1, capacity=1, flow=0, cost=3)
    residual = network.residual()
    residual.push(residual.negative_cycle())
    assert (residual.flow(dear), residual.flow(cheap)) == (1, 1)
    assert residual.negative_cycle() == []


def test_a_long_way_round_is_found() -> None:
    network = FlowNetwork()
    arcs = [
        network.arc(i, (i + 1) % 9, capacity=1, flow=0, cost=-1 if i == 4 else 0) for i in range(9)
    ]
    residual = network.residual()
    assert sorted(residual.negative_cycle()) == arcs


def test_a_cycle_that_costs_nothing_is_left() -> None:
    network = FlowNetwork()
    network.arc(0, 1, capacity=1, flow=0, cost=2)
    network.arc(1, 0, capacity=1, flow=0, cost=-2)
    assert network.residual().negative_cycle() == []


@pytest.mark.parametrize("flow", [0, 1])
def test_room_and_its_twin(flow: int) -> None:
    network = FlowNetwork()
    arc = network.arc(0, 1, capacity=1, flow=flow, cost=1)
    residual = network.residual()
    assert residual.flow(arc) == flow
    assert residual.room.tolist() == [1 - flow, flow]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-3, 3)), max_size=8))
def test_no_circulation_costs_less(arcs: list[tuple[int, int, int]]) -> None:
    """All that can flow in a network of unit arcs is tried."""
    network = FlowNetwork()
    numbers = [network.arc(a, b, capacity=1, flow=0, cost=cost) for a, b, cost in arcs]
    residual = network.residual()
    while cycle := residual.negative_cycle():
        residual.push(cycle)
    flows = [residual.flow(number) for number in numbers]

    def cost(chosen: tuple[int, ...]) -> int:
        return sum(arc[2] for arc, is_used in zip(arcs, chosen, strict=True) if is_used)

    def is_circulation(chosen: tuple[int, ...]) -> bool:
        balance = [0] * 4
        for (a, b, _), is_used in zip(arcs, chosen, strict=True):
            balance[a] -= is_used
            balance[b] += is_used
        return not any(balance)

    assert is_circulation(tuple(flows))
    all_flows = filter(is_circulation, product((0, 1), repeat=len(arcs)))
    assert cost(tuple(flows)) == min(map(cost, all_flows))
