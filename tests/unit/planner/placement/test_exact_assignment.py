from collections.abc import Sequence

import numpy as np
import pytest

from ballast.planner.arrays import Bools, Ints
from ballast.planner.placement.exact_assignment import MAX_ARCS, AssignmentProblem, solve_assignment
from ballast.planner.problem.rack_rules import RackRules


def level(numbers: Ints) -> Ints:
    return numbers


def settling(
    rows: Sequence[Sequence[int]],
    origins: Sequence[Sequence[int]],
    *,
    racks: list[int] | None = None,
    brokers: int = 4,
    others: list[int] | None = None,
    fixed: Bools | None = None,
    repairs_racks: bool = True,
    receivers: list[bool] | None = None,
) -> AssignmentProblem:
    table = np.array(rows, np.int32)
    numbers = None if racks is None else np.array(racks, np.int32)
    return AssignmentProblem(
        rows=table,
        origins=np.array(origins, np.int32),
        fixed=np.zeros(table.shape, np.bool_) if fixed is None else fixed,
        factors=(table >= 0).sum(axis=1).astype(np.int32),
        receivers=np.array(receivers or [True] * brokers),
        retainers=np.ones(brokers, np.bool_),
        repairs_racks=repairs_racks,
        other_counts=np.array(others or [0] * brokers),
        marginal_cost=level,
        rules=RackRules.of(numbers, np.ones(brokers, np.bool_), 4),
    )


def test_level_comes_before_moves() -> None:
    given = settling([[0], [0], [0], [0]], [[0], [0], [0], [0]])
    solve_assignment(given)
    assert sorted(given.rows.ravel().tolist()) == [0, 1, 2, 3]


def test_moves_that_are_of_no_use_are_taken_back() -> None:
    given = settling([[1, 2], [2, 1]], [[0, 1], [2, 3]])
    solve_assignment(given)
    assert given.rows.tolist() == [[0, 1], [2, 3]]


def test_rules_come_before_level() -> None:
    given = settling([[0, 1]], [[0, 1]], racks=[0, 0, 1, 1], others=[0, 0, 9, 9])
    solve_assignment(given)
    assert [row < 2 for row in sorted(given.rows[0].tolist())] == [True, False]


def test_what_was_against_the_rules_may_stay() -> None:
    given = settling(
        [[0, 1]], [[0, 1]], racks=[0, 0, 1, 1], others=[0, 0, 9, 9], repairs_racks=False
    )
    solve_assignment(given)
    assert given.rows.tolist() == [[0, 1]]


def test_what_is_fixed_stays_and_takers_take() -> None:
    fixed = np.array([[True, False], [False, False]])
    given = settling(
        [[0, 1], [0, 1]], [[0, 1], [0, 1]], fixed=fixed, receivers=[False, False, False, True]
    )
    solve_assignment(given)
    assert given.rows[0, 0] == 0
    assert {0, 1, 3} >= set(given.rows.ravel().tolist())
    assert (given.rows == 3).sum() == 1


def test_a_chain_of_moves_is_found() -> None:
    """Broker 3 can only take from the first partition: the second then takes that one's place."""
    given = settling(
        [[0, 1], [0, 3]], [[0, 1], [0, 3]], others=[0, 2, 9, 0], receivers=[True, True, True, True]
    )
    solve_assignment(given)
    counts = np.bincount(given.rows.ravel(), minlength=4)
    assert sorted((counts + np.array([0, 2, 9, 0])).tolist()) == [2, 2, 2, 9]


def test_too_much_is_refused() -> None:
    rows = [[0]] * MAX_ARCS
    with pytest.raises(AssertionError, match="too much"):
        solve_assignment(settling(rows, rows))
