"""Few large replicas: brokers end up level by bytes, by few copies, within numbers and rules."""

import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner.arrays import Ints, Shorts, count_by_index
from ballast.planner.explain.explain import explain
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.balance_bytes import balance_bytes
from ballast.planner.plan import plan_targets
from ballast.planner.problem.balance_bounds import broker_bytes_of
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.strategies import placement_problem
from ballast.planner.problem.targets import balance_targets
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.planner.builders import against_the_rules, made, skewed_cluster

HOT, COLD = 1000, 100


def hot_cluster(
    brokers: int, topics: int, partitions: int, factor: int, racks: int = 0
) -> ClusterColumns:
    """Return a cluster whose topic ``t0`` is ten times larger and on as few brokers as can be."""
    rows: dict[str, Sequence[Sequence[int]]] = {
        "t0": [[(p + place) % factor for place in range(factor)] for p in range(partitions)]
    }
    sizes: Mapping[str, Sequence[int]] = {
        f"t{number}": [COLD if number else HOT] * partitions for number in range(topics)
    }
    for number in range(1, topics):
        rows[f"t{number}"] = [
            [(p + number + place) % brokers for place in range(factor)] for p in range(partitions)
        ]
    names = {broker: f"r{broker % racks}" if racks else None for broker in range(brokers)}
    return made(names, rows, sizes=sizes)


def rebalanced(cluster: ClusterColumns) -> tuple[Shorts, Ints]:
    """Return the plan, and the bytes of each broker under it."""
    rows = plan_targets(cluster, PlanOptions(strategy=Strategy.REBALANCE))
    assert cluster.sizes is not None
    return rows, broker_bytes_of(rows, cluster.sizes, cluster.brokers.count)


@pytest.mark.parametrize(
    ("shape", "racks"),
    [
        ((4, 5, 4, 2), 0),
        ((4, 4, 8, 2), 0),
        ((6, 6, 6, 2), 3),
        ((6, 6, 6, 3), 3),
        ((6, 10, 12, 3), 3),
        ((9, 10, 9, 3), 3),
        ((30, 10, 200, 3), 3),
    ],
)
def test_a_hot_topic_is_moved_apart(shape: tuple[int, int, int, int], racks: int) -> None:
    """Each partition lay on the same few brokers with all its replicas: several of them go."""
    cluster = hot_cluster(*shape, racks)
    rows, held = rebalanced(cluster)
    brokers, _, partitions, factor = shape
    assert held.max() <= 1.02 * held.mean()
    of_hot = count_by_index(rows[:partitions], brokers)
    assert np.ptp(of_hot) <= 1
    assert np.ptp(count_by_index(rows, brokers)) <= 1
    found = explain(cluster, rows)
    assert found.rack_violations[1] == 0
    assert of_hot.sum() == partitions * factor


def test_more_than_can_be_changed_one_by_one_is_chosen_in_turns() -> None:
    """4,500 large replicas lie on three brokers, and only one of a partition goes in a turn."""
    rows, held = rebalanced(hot_cluster(30, 5, 1500, 3, 3))
    assert held.max() <= 1.02 * held.mean()
    assert np.ptp(count_by_index(rows, 30)) <= 1
    assert np.ptp(count_by_index(rows[:1500], 30)) <= 0.05 * 1500 * 3 / 30


def test_what_no_plan_can_level_is_left_as_level_as_it_can_be() -> None:
    """Of 4 hot and 16 cold replicas one of three brokers gets 2 and 4: 6 is the fewest it may."""
    cluster = hot_cluster(3, 5, 4, 1)
    rows, held = rebalanced(cluster)
    assert sorted(count_by_index(rows[:4], 3).tolist()) == [1, 1, 2]
    assert sorted(held.tolist()) == [HOT + 6 * COLD, HOT + 6 * COLD, 2 * HOT + 4 * COLD]


def test_numbers_stay_within_one_though_bytes_would_have_it_otherwise() -> None:
    rows = {"large": [[0]], "small": [[1], [2], [1], [2], [0], [0]]}
    cluster = made(dict.fromkeys(range(3)), rows, sizes={"large": [600], "small": [100] * 6})
    found, _ = rebalanced(cluster)
    assert np.ptp(count_by_index(found, 3)) <= 1


def test_nothing_is_copied_that_is_not_worth_it() -> None:
    """Two large replicas of nearly the same size are not exchanged for their difference."""
    rows = {"a": [[0], [1]]}
    cluster = made(dict.fromkeys(range(2)), rows, sizes={"a": [1000, 900]})
    found, _ = rebalanced(cluster)
    assert found.tolist() == [[0], [1]]


def test_what_levels_little_for_all_that_it_copies_is_left() -> None:
    """To exchange the 900 for an 800 would copy 1,700 bytes, and 100 of them count."""
    rows = [[0], [1], [0], [1]]
    cluster = made(dict.fromkeys(range(2)), {"a": rows}, sizes={"a": [1000, 800, 900, 800]})
    found, _ = rebalanced(cluster)
    assert found.tolist() == rows


def test_a_broker_that_lacks_bytes_and_has_its_number_gets_none_without_giving_one() -> None:
    rows = [[0], [1], [3], [1], [1], [0], [0]]
    sizes = [10, 10, 10, 10, 50, 50, 10]
    found, _ = rebalanced(made(dict.fromkeys(range(4)), {"a": rows}, sizes={"a": sizes}))
    assert np.ptp(count_by_index(found, 4)) <= 1


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("brokers", "partitions"), [(12, 1000), (30, 4000), (60, 8000)])
@pytest.mark.parametrize(
    "size",
    [lambda chance: 1e8 * chance.lognormvariate(0, 1.5), lambda chance: 10 ** chance.uniform(3, 9)],
    ids=["lognormal", "log-uniform"],
)
def test_small_clusters_become_level_for_next_to_nothing(
    brokers: int, partitions: int, size: Callable[[random.Random], float], seed: int
) -> None:
    cluster = skewed_cluster(brokers, partitions, size, seed=seed)
    rows, held = rebalanced(cluster)
    found = explain(cluster, rows)
    assert found.bytes_to_move <= 1.03 * found.bytes_to_move_least
    assert found.replica_moves <= 1.02 * found.replica_moves_least
    assert found.rack_violations[1] == 0
    share = held.mean()
    assert 0.94 * share <= held.min()
    assert held.max() <= 1.0201 * share
    assert np.ptp(count_by_index(rows, brokers)) <= 1


@pytest.mark.parametrize("seed", [1, 6, 11])
def test_one_that_is_larger_than_any_share_does_not_have_all_others_copied(seed: int) -> None:
    cluster = skewed_cluster(12, 1000, lambda chance: 1e8 * chance.paretovariate(1.3), seed=seed)
    rows, held = rebalanced(cluster)
    assert cluster.sizes is not None
    assert cluster.sizes.max() > 0.95 * held.mean()
    found = explain(cluster, rows)
    assert found.replica_moves <= 1.5 * found.replica_moves_least
    assert found.bytes_to_move <= 1.3 * found.bytes_to_move_least
    assert held.min() >= 0.75 * held.mean()


def test_a_broker_gets_what_it_lacks_though_nobody_has_too_much() -> None:
    """60 brokers hold 1.5 % above their share, one a tenth of it: it gets large for small ones."""
    rows = [[broker] for broker in range(61) for _ in range(20)]
    sizes = [100] * 60 * 20 + [10] * 20
    cluster = made(dict.fromkeys(range(61)), {"a": rows}, sizes={"a": sizes})
    found, held = rebalanced(cluster)
    assert np.ptp(count_by_index(found, 61)) == 0
    assert held.min() >= 0.94 * held.mean()
    assert held.max() <= 1.02 * held.mean()


def test_a_broker_gives_within_its_rack_though_those_in_the_other_lack_more() -> None:
    """Every partition has a replica in either rack, so that none can change it."""
    racks: dict[int, str | None] = {broker: f"r{broker % 2}" for broker in range(60)}
    rows: list[list[int]] = []
    sizes: list[int] = []
    for number in range(30 * 60):
        mine, other = divmod(number, 60)
        # In the other rack the first half of the brokers has small ones only.
        other = other % 30 if mine else 15 + other % 15
        rows.append([2 * mine, 2 * other + 1])
        sizes.append(100 if mine == 0 else 5 if other < 15 else 15)
    cluster = made(racks, {"a": rows}, sizes={"a": sizes})
    problem = placement_problem(ClusterView(cluster, PlanOptions(strategy=Strategy.REBALANCE)))
    found = problem.rows.copy()
    balance_bytes(problem, found, balance_targets(problem))
    of_rack = broker_bytes_of(found, np.array(sizes), 60)[::2]
    assert of_rack.max() <= 1.02 * of_rack.mean()


@given(
    st.lists(st.permutations(range(6)), min_size=4, max_size=24),
    st.randoms(use_true_random=False),
    st.sets(st.integers(0, 5), min_size=1, max_size=3),
    st.booleans(),
)
def test_only_who_may_gets_something_and_numbers_and_rules_hold(
    orders: list[list[int]], chance: random.Random, added: set[int], has_racks: bool
) -> None:
    before = [order[:2] for order in orders]
    racks = {broker: f"r{broker % 3}" if has_racks else None for broker in range(6)}
    sizes = [chance.randrange(1, 1000) for _ in before]
    cluster = made(racks, {"t": before}, sizes={"t": sizes})
    options = PlanOptions(strategy=Strategy.ADD_BROKERS, broker_ids=tuple(added))
    problem = placement_problem(ClusterView(cluster, options))
    rows: Shorts = np.array(before, np.int32)
    targets, broken = balance_targets(problem), against_the_rules(cluster, rows)
    held = count_by_index(rows, 6)
    balance_bytes(problem, rows, targets)
    new = rows[(rows[:, :, None] != np.array(before)[:, None, :]).all(axis=2)]
    assert added.issuperset(new.tolist())
    after = count_by_index(rows, 6)
    assert (after <= np.maximum(held, targets.replica_targets.high)).all()
    assert (after >= np.minimum(held, targets.replica_targets.low)).all()
    assert against_the_rules(cluster, rows) <= broken
