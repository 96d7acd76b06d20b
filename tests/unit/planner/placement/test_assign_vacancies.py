from collections import Counter

import numpy as np
import pytest

from ballast.planner.placement.assign_vacancies import Vacancies, assign_vacancies
from ballast.planner.problem.rack_rules import RackRules


def vacancies(rows: list[list[int]], factors: list[int] | None = None) -> Vacancies:
    """Return vacancies where a row has -1."""
    table = np.array(rows, np.int32)
    given = [len(row) for row in rows] if factors is None else factors
    return Vacancies(rows=table, unassigned=table == -1, factors=np.array(given, np.int32))


def distribute_slots(
    given: Vacancies, want: list[int], racks: list[int] | None, receivers: list[bool] | None = None
) -> list[int]:
    numbers = None if racks is None else np.array(racks, np.int32)
    may_take = np.array(receivers or [True] * len(want))
    rules = RackRules.of(numbers, np.ones(len(want), np.bool_), 4)
    return list(map(int, assign_vacancies(given, np.array(want), may_take, rules, 0)))


def test_every_broker_gets_what_it_wants() -> None:
    given = vacancies([[0, -1], [0, -1], [1, -1], [1, -1], [2, -1], [2, -1]])
    assert distribute_slots(given, [2, 2, 2], None) == []
    assert Counter(given.rows[:, 1].tolist()) == {0: 2, 1: 2, 2: 2}
    assert all(first != second for first, second in given.rows.tolist())


def test_racks_are_kept_apart() -> None:
    given = vacancies([[0, -1], [1, -1], [2, -1], [3, -1]])
    assert distribute_slots(given, [1, 1, 1, 1], [0, 0, 1, 1]) == []
    assert all((first < 2) != (second < 2) for first, second in given.rows.tolist())
    assert sorted(given.rows[:, 1].tolist()) == [0, 1, 2, 3]


def test_several_of_one_partition() -> None:
    given = vacancies([[0, -1, -1], [0, -1, -1]])
    assert distribute_slots(given, [0, 1, 1, 1, 1], [0, 1, 1, 2, 2]) == []
    assert sorted(given.rows[:, 1:].ravel().tolist()) == [1, 2, 3, 4]
    assert all(sorted((b + 1) // 2 for b in row[1:]) == [1, 2] for row in given.rows.tolist())


def test_more_come_than_are_wanted() -> None:
    given = vacancies([[-1], [-1], [-1], [-1]])
    assert distribute_slots(given, [1, 0, 9], None, [True, True, False]) == []
    # What is too much is shared: two more than it wants for one, and one more for the other.
    assert sorted(given.rows.ravel().tolist()) == [0, 0, 0, 1]


def test_who_finds_no_place_is_told() -> None:
    given = vacancies([[0, -1], [2, -1]])
    assert distribute_slots(given, [0, 2, 0], [0, 0, 1], [False, True, False]) == [1]
    assert given.rows.tolist() == [[0, -1], [2, 1]]


@pytest.mark.parametrize("brokers", [60, 70, 300])
def test_the_last_ones_change_places(brokers: int) -> None:
    """Everyone wants one, and no row may get the broker that it has: with and without a table."""
    given = vacancies([[broker, -1] for broker in range(brokers)])
    assert distribute_slots(given, [1] * brokers, None) == []
    assert sorted(given.rows[:, 1].tolist()) == list(range(brokers))
    assert (given.rows[:, 0] != given.rows[:, 1]).all()


def test_those_that_fit_nowhere_else_come_through() -> None:
    """Half of the rows are on all brokers but one pair; the others may go anywhere."""
    brokers = 80
    tight = [[*range(2, 32), -1]] * 20
    loose = [[*range(40, 70), -1]] * 20
    given = vacancies(loose + tight, [31] * 40)
    rules = RackRules.of(None, np.ones(brokers, np.bool_), 31)
    want = np.zeros(brokers, np.int64)
    want[[0, 1]] = 10
    want[[2, 3]] = 10
    assert assign_vacancies(given, want, want > 0, rules, 0).tolist() == []
    assert Counter(given.rows[:, -1].tolist()) == {0: 10, 1: 10, 2: 10, 3: 10}


def test_a_topic_goes_to_many_brokers() -> None:
    given = vacancies([[0, -1]] * 40)
    assert distribute_slots(given, [0, 8, 8, 8, 8, 8], None) == []
    for first in range(0, 40, 5):
        assert len(set(given.rows[first : first + 5, 1].tolist())) == 5
