"""The steps that place replicas so that brokers are balanced; all strategies share them.

Goals, in order: no replica is without a broker; the rack rules hold; every broker ends within its
replica targets; brokers hold their byte targets; as few replicas and bytes as possible are copied.

1. Targets: how many replicas each broker is to hold (`problem.targets`).
2. Selection: the replicas that leave brokers with too many (`select_replicas`, or
   `select_replicas_by_size` where bytes count). Unassigned replicas move anyway.
3. Assignment: each of them gets a broker with a deficit (`assign_vacancies`).
4. Exact solution: if the result is above the lower bound and the problem is small, min-cost flow
   solves it (`exact_assignment`). In a large problem it solves parts around the brokers that are
   outside their targets.
5. Where bytes count and the cluster is one block, single replicas are exchanged until brokers are
   balanced (`balance_bytes`), and needless copies are undone (`remove_detours`).

The lower bound of copies is the largest of three numbers: replicas without a broker; replicas above
brokers' upper targets; replicas missing below brokers' lower targets. Step 2 selects that many, so
a plan in which step 3 finds a broker for each of them is minimal.

Example, one replica per partition, no racks: partitions 0 to 3 are on broker 1, partition 4 on
broker 2, nothing on broker 3. Targets for 5 replicas on 3 brokers are 2, 2, 1 in some order; broker
1 has the most, so it keeps 2. The surplus of broker 1 is 2, the deficits of brokers 2 and 3 are 1
each: two partitions leave broker 1, and the lower bound is 2 copies.
"""

from dataclasses import replace
from math import inf

import numpy as np

from ballast.model.ids import TopicPartition
from ballast.planner.arrays import Bools, Ints, Shorts, count_by_index, row_any, row_counts
from ballast.planner.errors import Infeasible
from ballast.planner.placement.assign_vacancies import Vacancies, assign_vacancies
from ballast.planner.placement.balance_bytes import balance_bytes
from ballast.planner.placement.exact_assignment import MAX_ARCS, AssignmentProblem, solve_assignment
from ballast.planner.placement.remove_detours import remove_detours
from ballast.planner.placement.select_replicas import ReplicaPool, select_surplus
from ballast.planner.placement.select_replicas_by_size import SizeTargets, select_replicas_by_size
from ballast.planner.placement.size_matching import TOLERANCE
from ballast.planner.problem.balance_bounds import bytes_of
from ballast.planner.problem.move_limits import new_replicas
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.problem.replica_targets import ReplicaTargets
from ballast.planner.problem.targets import BalanceTargets, balance_targets

_MAX_MENDINGS = 24
"""Times that a part of a large plan is looked at exactly."""
_MENDED_BROKERS = 48
_TURN_LEAVES_MAX = 0.5
"""A turn for the sake of bytes is worth its copies if it leaves no more of what is uneven."""
_LARGEST_BY_LACK = 1.5
"""In a part of a cluster nothing larger gives way, by the most that a broker lacks there."""
_WEIGHT_SCALE = 1000
_BEYOND = 10**9
"""What a replica costs on a broker that has as many as it may have: more than any level."""


def optimize(task: PlacementProblem, aims: BalanceTargets | None = None) -> Shorts:
    """Return the replicas of every partition; without ``aims``, as for a whole cluster.

    Raises `Infeasible` when some can have no place.
    """
    lack = infeasibility(task)
    if lack is not None:
        raise Infeasible(*lack)
    if aims is not None:
        return _once(task, aims)
    aims = balance_targets(task)
    rows = _once(task, aims)
    balance_bytes(task, rows, aims)
    # With many replicas one by one does not go far. Of each partition one gave way for the sake of
    # bytes: then another one may follow.
    for _ in range(rows.shape[1] - 1):
        uneven = _bytes_beyond(task, rows, aims)
        if not uneven:
            break
        again = optimize_again(task, rows, aims)
        balance_bytes(task, again, aims)
        if _bytes_beyond(task, again, aims) > _TURN_LEAVES_MAX * uneven:
            break
        rows = again
    remove_detours(task, rows, aims)
    return rows


def optimize_again(task: PlacementProblem, rows: Shorts, aims: BalanceTargets) -> Shorts:
    """Return the replicas of every partition after another turn, from ``rows`` on.

    There all have a place, and what may be elsewhere may go there now.
    """
    return _once(replace(task, rows=rows, unassigned=np.zeros_like(task.unassigned)), aims)


def _once(task: PlacementProblem, aims: BalanceTargets) -> Shorts:
    rows = task.rows.copy()
    rows[_movers(task, rows, aims)] = -1
    _place(task, rows, task.unassigned | (task.pickable & (rows < 0)), aims)
    _improve(task, rows, aims)
    return rows


def _bytes_beyond(task: PlacementProblem, rows: Shorts, aims: BalanceTargets) -> float:
    """Return the bytes that brokers hold beyond their share, where that is too many."""
    if task.sizes is None or aims.byte_target is None:
        return 0.0
    beyond = bytes_of(rows, task.sizes, len(task.low)) - aims.byte_target
    return float(beyond[beyond > TOLERANCE * aims.byte_target].sum())


def _movers(task: PlacementProblem, rows: Shorts, aims: BalanceTargets) -> Bools:
    """Return the replicas that give way, beside those that have no place already."""
    band = aims.band
    have = count_by_index(rows, len(task.low))
    surplus = np.maximum(have - band.target, 0)
    holdings = ReplicaPool(
        rows=rows, pickable=task.pickable, factors=task.factors, topics=task.columns.topic_of
    )
    wanting = task.receivers & (have < band.target)
    if task.sizes is None or aims.byte_target is None:
        return select_surplus(holdings, surplus, wanting, task.rules, task.seed)
    held = bytes_of(task.rows, task.sizes, len(task.low))
    largest = inf
    if aims.is_part:
        lacking = np.where(task.receivers, aims.byte_target - held, 0.0)
        largest = _LARGEST_BY_LACK * float(lacking.max(initial=0.0))
    loads = SizeTargets(sizes=task.sizes, held=held, target=aims.byte_target, largest=largest)
    picked = select_replicas_by_size(holdings, loads, surplus, task.receivers, task.rules)
    # What could not be picked by size is picked anyhow.
    rest = replace(holdings, rows=np.where(picked, -1, rows), pickable=task.pickable & ~picked)
    still = np.maximum(count_by_index(rest.rows, len(have)) - band.target, 0)
    return picked | select_surplus(rest, still, wanting, task.rules, task.seed)


def moves_lower_bound(task: PlacementProblem, band: ReplicaTargets) -> int:
    """Return a number of moves that no plan to within the bands can do without."""
    before = count_by_index(task.origins, len(task.low))
    return max(
        int(task.unassigned.sum()),
        int(np.maximum(before - band.high, 0).sum()),
        int(np.maximum(band.low - before, 0).sum()),
    )


def moves(rows: Shorts, origins: Shorts) -> int:
    """Return how many replicas have to be copied."""
    return int(new_replicas(rows, origins).sum())


def infeasibility(task: PlacementProblem) -> tuple[TopicPartition, str, int] | None:
    """Return for which partitions there are fewer brokers than replicas; None = for none.

    The first of them, the reason, and their number.
    """
    lacking = row_counts(task.unassigned)
    lines = np.flatnonzero(lacking)
    if not len(lines):
        return None
    staying = task.rows[lines]
    taken = row_counts((staying >= 0) & task.receivers[staying])
    free = int(task.receivers.sum()) - taken
    short = np.flatnonzero(free < lacking[lines])
    if not len(short):
        return None
    line = int(lines[short[0]])
    factor = int(task.factors[line])
    most = factor - int(lacking[line]) + int(free[short[0]])
    reason = (
        f"has {factor} replicas, and only {most} brokers stay that may hold one: fewer brokers "
        "may go, or the replication factor must be lowered first"
    )
    return task.columns.partition(line), reason, len(short)


def _place(task: PlacementProblem, rows: Shorts, unassigned: Bools, aims: BalanceTargets) -> None:
    """Fill what is vacant: by the rules; else as it was; else against the rules about racks."""
    band, sizes, needs = aims.band, None, None
    if task.sizes is not None and aims.byte_target is not None:
        sizes = task.sizes
        needs = aims.byte_target - bytes_of(rows, sizes, len(task.low))
    vacancies = Vacancies(
        rows=rows, unassigned=unassigned, factors=task.factors, sizes=sizes, needs=needs
    )
    unplaced = assign_vacancies(
        vacancies, _want(task, rows, band), task.receivers, task.rules, task.seed
    )
    unplaced = _put_back(task, rows, unplaced)
    if not len(unplaced):
        return
    apart = RackRules.of(None, task.retainers | task.receivers, int(task.factors.max(initial=0)))
    still = np.zeros(rows.size, np.bool_)
    still[unplaced] = True
    vacancies = Vacancies(rows=rows, unassigned=still.reshape(rows.shape), factors=task.factors)
    unplaced = assign_vacancies(
        vacancies, _want(task, rows, band), task.receivers, apart, task.seed
    )
    held = count_by_index(rows, len(task.low))
    width = rows.shape[1]
    for line, place in zip((unplaced // width).tolist(), (unplaced % width).tolist(), strict=True):
        free = np.setdiff1d(np.flatnonzero(task.receivers), rows[line])
        broker = int(free[np.argmin((held - band.target)[free])])
        rows[line, place] = broker
        held[broker] += 1


def _want(task: PlacementProblem, rows: Shorts, band: ReplicaTargets) -> Ints:
    have = count_by_index(rows, len(task.low))
    return np.where(task.receivers, np.maximum(band.target - have, 0), 0)


def _put_back(task: PlacementProblem, rows: Shorts, unplaced: Ints) -> Ints:
    """Return those that cannot go back to where they were."""
    width = rows.shape[1]
    lines, places = unplaced // width, unplaced % width
    origin = task.origins[lines, places]
    back = (origin >= 0) & task.retainers[origin] & ~(rows[lines] == origin[:, None]).any(axis=1)
    rows[lines[back], places[back]] = origin[back]
    return np.asarray(unplaced[~back])


def _improve(task: PlacementProblem, rows: Shorts, aims: BalanceTargets) -> None:
    """Look exactly at what is not known to be the best."""
    band = aims.band
    lines = np.flatnonzero(row_any(task.unassigned | task.pickable))
    options = int(task.receivers.sum()) + rows.shape[1]
    if _is_best(task, rows, band):
        return
    if len(lines) * options <= MAX_ARCS:
        _solve_exactly(task, rows, lines, task.receivers, aims)
        return
    for number in range(_MAX_MENDINGS):
        held = count_by_index(rows, len(task.low))
        outside = (held > band.high) | (task.receivers & (held < band.low))
        if not outside.any():
            return
        brokers = _some_brokers(task, outside, number)
        touching = lines[(outside[rows[lines]] & (rows[lines] >= 0)).any(axis=1)]
        some = np.concatenate([touching, lines[~np.isin(lines, touching)]])
        some = np.roll(some[: 4 * MAX_ARCS], -number * 50)
        some = some[: MAX_ARCS // (int(brokers.sum()) + rows.shape[1])]
        _solve_exactly(task, rows, some, brokers, aims)


def _some_brokers(task: PlacementProblem, outside: Bools, number: int) -> Bools:
    chosen = np.zeros(len(outside), np.bool_)
    first = np.flatnonzero(outside & task.receivers)
    rest = np.roll(np.flatnonzero(task.receivers & ~outside), -number * _MENDED_BROKERS)
    chosen[np.concatenate([first, rest])[:_MENDED_BROKERS]] = True
    return chosen


def _is_best(task: PlacementProblem, rows: Shorts, band: ReplicaTargets) -> bool:
    held = count_by_index(rows, len(task.low))
    if bool(((held > band.high) | (held < band.low)).any()):
        return False
    # Where bytes are levelled too, that may be worth moves.
    if task.sizes is None and moves(rows, task.origins) > moves_lower_bound(task, band):
        return False
    free = np.zeros(rows.shape, np.bool_)
    changed = np.flatnonzero(row_any((rows != task.origins) | task.unassigned))
    weights = np.zeros(len(held))
    return not task.rules.excess(rows[changed], task.factors[changed], weights, free[changed]).any()


def _solve_exactly(
    task: PlacementProblem, rows: Shorts, lines: Ints, receivers: Bools, aims: BalanceTargets
) -> None:
    some = rows[lines]
    held = count_by_index(rows, len(task.low))

    scale = np.rint(_WEIGHT_SCALE / np.maximum(task.weights, 1 / _WEIGHT_SCALE)).astype(np.int64)

    def marginal(numbers: Ints) -> Ints:
        # The squares of the counts, by weight, come to least where all are level.
        beyond = np.maximum(numbers - np.maximum(aims.most, aims.band.high), 0)
        return np.asarray((2 * (numbers - aims.origin) - 1) * scale + beyond * _BEYOND)

    settling = AssignmentProblem(
        rows=some,
        origins=task.origins[lines],
        fixed=(some >= 0) & ~(task.unassigned | task.pickable)[lines],
        factors=task.factors[lines],
        receivers=receivers,
        retainers=task.retainers,
        repairs=task.repairs,
        others=held - count_by_index(some, len(held)),
        marginal=marginal,
        rules=task.rules,
    )
    solve_assignment(settling)
    rows[lines] = some
