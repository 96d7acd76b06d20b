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
from ballast.planner.problem.balance_bounds import broker_bytes_of
from ballast.planner.problem.move_limits import new_replicas
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.problem.replica_targets import ReplicaTargets
from ballast.planner.problem.targets import BalanceTargets, balance_targets

_MAX_MENDINGS = 24
"""Number of parts of a large problem that are solved exactly."""
_MENDED_BROKERS = 48
_TURN_LEAVES_MAX = 0.5
"""Another turn for bytes is kept only if it leaves at most this part of the excess."""
_LARGEST_BY_LACK = 1.5
"""A replica of a block larger than this factor times the largest deficit of any broker in the block
is not moved.
"""
_WEIGHT_SCALE = 1000
_BEYOND = 10**9
"""Cost of a replica on a broker that is full: more than any imbalance."""


def optimize(problem: PlacementProblem, targets: BalanceTargets | None = None) -> Shorts:
    """Return the replicas of every partition; without ``targets``, as for a whole cluster.

    Raises `Infeasible` when some replicas cannot have a broker.
    """
    shortage = infeasibility(problem)
    if shortage is not None:
        raise Infeasible(*shortage)
    if targets is not None:
        return _run_steps(problem, targets)
    targets = balance_targets(problem)
    rows = _run_steps(problem, targets)
    balance_bytes(problem, rows, targets)
    # A turn moves one replica of a partition. Where several replicas of many partitions have to
    # move for the sake of bytes, single exchanges are too slow and another turn follows.
    for _ in range(rows.shape[1] - 1):
        excess_before = _excess_bytes(problem, rows, targets)
        if not excess_before:
            break
        retried = optimize_again(problem, rows, targets)
        balance_bytes(problem, retried, targets)
        if _excess_bytes(problem, retried, targets) > _TURN_LEAVES_MAX * excess_before:
            break
        rows = retried
    remove_detours(problem, rows, targets)
    return rows


def optimize_again(problem: PlacementProblem, rows: Shorts, targets: BalanceTargets) -> Shorts:
    """Return the replicas of every partition after another turn, which begins with ``rows``.

    No replica is unassigned in it; movable replicas may move again.
    """
    return _run_steps(
        replace(problem, rows=rows, unassigned=np.zeros_like(problem.unassigned)), targets
    )


def _run_steps(problem: PlacementProblem, targets: BalanceTargets) -> Shorts:
    rows = problem.rows.copy()
    rows[_select_movers(problem, rows, targets)] = -1
    _fill(problem, rows, problem.unassigned | (problem.movable & (rows < 0)), targets)
    _improve(problem, rows, targets)
    return rows


def _excess_bytes(problem: PlacementProblem, rows: Shorts, targets: BalanceTargets) -> float:
    """Return the bytes of brokers above their targets, as far as they exceed the tolerance."""
    if problem.sizes is None or targets.byte_target is None:
        return 0.0
    excess = broker_bytes_of(rows, problem.sizes, len(problem.low)) - targets.byte_target
    return float(excess[excess > TOLERANCE * targets.byte_target].sum())


def _select_movers(problem: PlacementProblem, rows: Shorts, targets: BalanceTargets) -> Bools:
    """Return the replicas that leave their brokers, besides unassigned ones."""
    replica_targets = targets.replica_targets
    replica_counts = count_by_index(rows, len(problem.low))
    surplus = np.maximum(replica_counts - replica_targets.target, 0)
    holdings = ReplicaPool(
        rows=rows, movable=problem.movable, factors=problem.factors, topics=problem.columns.topic_of
    )
    in_deficit = problem.receivers & (replica_counts < replica_targets.target)
    if problem.sizes is None or targets.byte_target is None:
        return select_surplus(holdings, surplus, in_deficit, problem.rules, problem.seed)
    broker_bytes = broker_bytes_of(problem.rows, problem.sizes, len(problem.low))
    largest = inf
    if targets.is_block:
        missing = np.where(problem.receivers, targets.byte_target - broker_bytes, 0.0)
        largest = _LARGEST_BY_LACK * float(missing.max(initial=0.0))
    loads = SizeTargets(
        sizes=problem.sizes, broker_bytes=broker_bytes, target=targets.byte_target, size_max=largest
    )
    picked = select_replicas_by_size(holdings, loads, surplus, problem.receivers, problem.rules)
    # The rest of the surplus is selected regardless of size.
    remaining = replace(
        holdings, rows=np.where(picked, -1, rows), movable=problem.movable & ~picked
    )
    surplus_left = np.maximum(
        count_by_index(remaining.rows, len(replica_counts)) - replica_targets.target, 0
    )
    return picked | select_surplus(remaining, surplus_left, in_deficit, problem.rules, problem.seed)


def moves_lower_bound(problem: PlacementProblem, replica_targets: ReplicaTargets) -> int:
    """Return a number of moves below which no plan reaches the targets."""
    before = count_by_index(problem.origins, len(problem.low))
    return max(
        int(problem.unassigned.sum()),
        int(np.maximum(before - replica_targets.high, 0).sum()),
        int(np.maximum(replica_targets.low - before, 0).sum()),
    )


def count_moves(rows: Shorts, origins: Shorts) -> int:
    """Return how many replicas have to be copied."""
    return int(new_replicas(rows, origins).sum())


def infeasibility(problem: PlacementProblem) -> tuple[TopicPartition, str, int] | None:
    """Return the partitions with fewer brokers than replicas: the first, the reason, their number.

    None = there are none.
    """
    missing = row_counts(problem.unassigned)
    row_ids = np.flatnonzero(missing)
    if not len(row_ids):
        return None
    assigned = problem.rows[row_ids]
    assigned_receivers = row_counts((assigned >= 0) & problem.receivers[assigned])
    free_receivers = int(problem.receivers.sum()) - assigned_receivers
    infeasible = np.flatnonzero(free_receivers < missing[row_ids])
    if not len(infeasible):
        return None
    row_id = int(row_ids[infeasible[0]])
    factor = int(problem.factors[row_id])
    replicas_max = factor - int(missing[row_id]) + int(free_receivers[infeasible[0]])
    reason = (
        f"has {factor} replicas, and only {replicas_max} brokers stay that may hold one: fewer "
        "brokers may go, or the replication factor must be lowered first"
    )
    return problem.columns.partition(row_id), reason, len(infeasible)


def _fill(
    problem: PlacementProblem, rows: Shorts, unassigned: Bools, targets: BalanceTargets
) -> None:
    """Fill unassigned positions: by the rules; else with their origin; else against rack rules."""
    replica_targets, sizes, byte_deficits = targets.replica_targets, None, None
    if problem.sizes is not None and targets.byte_target is not None:
        sizes = problem.sizes
        byte_deficits = targets.byte_target - broker_bytes_of(rows, sizes, len(problem.low))
    vacancies = Vacancies(
        rows=rows,
        unassigned=unassigned,
        factors=problem.factors,
        sizes=sizes,
        byte_deficits=byte_deficits,
    )
    unplaced = assign_vacancies(
        vacancies,
        _deficits(problem, rows, replica_targets),
        problem.receivers,
        problem.rules,
        problem.seed,
    )
    unplaced = _put_back(problem, rows, unplaced)
    if not len(unplaced):
        return
    apart = RackRules.of(
        None, problem.retainers | problem.receivers, int(problem.factors.max(initial=0))
    )
    is_unplaced = np.zeros(rows.size, np.bool_)
    is_unplaced[unplaced] = True
    vacancies = Vacancies(
        rows=rows, unassigned=is_unplaced.reshape(rows.shape), factors=problem.factors
    )
    unplaced = assign_vacancies(
        vacancies, _deficits(problem, rows, replica_targets), problem.receivers, apart, problem.seed
    )
    replica_counts = count_by_index(rows, len(problem.low))
    width = rows.shape[1]
    for row_id, place in zip(
        (unplaced // width).tolist(), (unplaced % width).tolist(), strict=True
    ):
        free_receivers = np.setdiff1d(np.flatnonzero(problem.receivers), rows[row_id])
        broker = int(
            free_receivers[np.argmin((replica_counts - replica_targets.target)[free_receivers])]
        )
        rows[row_id, place] = broker
        replica_counts[broker] += 1


def _deficits(problem: PlacementProblem, rows: Shorts, replica_targets: ReplicaTargets) -> Ints:
    replica_counts = count_by_index(rows, len(problem.low))
    return np.where(problem.receivers, np.maximum(replica_targets.target - replica_counts, 0), 0)


def _put_back(problem: PlacementProblem, rows: Shorts, unplaced: Ints) -> Ints:
    """Return the positions that cannot have their origin back."""
    width = rows.shape[1]
    row_ids, places = unplaced // width, unplaced % width
    count_origin = problem.origins[row_ids, places]
    returns = (
        (count_origin >= 0)
        & problem.retainers[count_origin]
        & ~(rows[row_ids] == count_origin[:, None]).any(axis=1)
    )
    rows[row_ids[returns], places[returns]] = count_origin[returns]
    return np.asarray(unplaced[~returns])


def _improve(problem: PlacementProblem, rows: Shorts, targets: BalanceTargets) -> None:
    """Solve exactly what is not known to be optimal."""
    replica_targets = targets.replica_targets
    row_ids = np.flatnonzero(row_any(problem.unassigned | problem.movable))
    options = int(problem.receivers.sum()) + rows.shape[1]
    if _is_minimal(problem, rows, replica_targets):
        return
    if len(row_ids) * options <= MAX_ARCS:
        _solve_exactly(problem, rows, row_ids, problem.receivers, targets)
        return
    for number in range(_MAX_MENDINGS):
        replica_counts = count_by_index(rows, len(problem.low))
        outside = (replica_counts > replica_targets.high) | (
            problem.receivers & (replica_counts < replica_targets.low)
        )
        if not outside.any():
            return
        brokers = _some_brokers(problem, outside, number)
        touching = row_ids[(outside[rows[row_ids]] & (rows[row_ids] >= 0)).any(axis=1)]
        part = np.concatenate([touching, row_ids[~np.isin(row_ids, touching)]])
        part = np.roll(part[: 4 * MAX_ARCS], -number * 50)
        part = part[: MAX_ARCS // (int(brokers.sum()) + rows.shape[1])]
        _solve_exactly(problem, rows, part, brokers, targets)


def _some_brokers(problem: PlacementProblem, outside: Bools, number: int) -> Bools:
    chosen = np.zeros(len(outside), np.bool_)
    first = np.flatnonzero(outside & problem.receivers)
    remaining = np.roll(np.flatnonzero(problem.receivers & ~outside), -number * _MENDED_BROKERS)
    chosen[np.concatenate([first, remaining])[:_MENDED_BROKERS]] = True
    return chosen


def _is_minimal(problem: PlacementProblem, rows: Shorts, replica_targets: ReplicaTargets) -> bool:
    replica_counts = count_by_index(rows, len(problem.low))
    if bool(
        ((replica_counts > replica_targets.high) | (replica_counts < replica_targets.low)).any()
    ):
        return False
    # Where bytes are balanced too, that may be worth moves.
    if problem.sizes is None and count_moves(rows, problem.origins) > moves_lower_bound(
        problem, replica_targets
    ):
        return False
    is_fixed = np.zeros(rows.shape, np.bool_)
    changed = np.flatnonzero(row_any((rows != problem.origins) | problem.unassigned))
    weights = np.zeros(len(replica_counts))
    return not problem.rules.excess(
        rows[changed], problem.factors[changed], weights, is_fixed[changed]
    ).any()


def _solve_exactly(
    problem: PlacementProblem,
    rows: Shorts,
    row_ids: Ints,
    receivers: Bools,
    targets: BalanceTargets,
) -> None:
    part = rows[row_ids]
    replica_counts = count_by_index(rows, len(problem.low))

    scale = np.rint(_WEIGHT_SCALE / np.maximum(problem.weights, 1 / _WEIGHT_SCALE)).astype(np.int64)

    def marginal_cost(numbers: Ints) -> Ints:
        # The weighted sum of squares of the counts is least where all brokers are balanced.
        excess = np.maximum(
            numbers - np.maximum(targets.count_max, targets.replica_targets.high), 0
        )
        return np.asarray((2 * (numbers - targets.count_origin) - 1) * scale + excess * _BEYOND)

    assignment = AssignmentProblem(
        rows=part,
        origins=problem.origins[row_ids],
        fixed=(part >= 0) & ~(problem.unassigned | problem.movable)[row_ids],
        factors=problem.factors[row_ids],
        receivers=receivers,
        retainers=problem.retainers,
        repairs_racks=problem.repairs_racks,
        other_counts=replica_counts - count_by_index(part, len(replica_counts)),
        marginal_cost=marginal_cost,
        rules=problem.rules,
    )
    solve_assignment(assignment)
    rows[row_ids] = part
