"""Brings replicas to where brokers are level: the steps that all strategies share.

1. Targets: how many replicas each broker is to hold (`bands`).
2. Movers: what has no place already, and what gives way on brokers with too many (`movers`).
3. Deal: every mover gets a broker that wants one (`deal`).
4. Settle: what is not provably the best is looked at exactly, as far as it is small (`settle`).
5. Where bytes count, and the cluster is planned whole: replicas are exchanged one by one until
   brokers are level (`level_bytes`), and what can stay after all stays (`shorten`).

The movers are as many as a lower bound for every plan says, so a plan whose movers all found a
place is as small as any. The lower bound: what has no place, and what brokers hold beyond their
band; or what brokers lack up to their band.
"""

from dataclasses import replace
from math import inf

import numpy as np

from ballast.model.ids import TopicPartition
from ballast.planner.arrays import Bools, Ints, Shorts, counted, row_any, row_counts
from ballast.planner.errors import Infeasible
from ballast.planner.placement.assign_vacancies import Vacancies, deal
from ballast.planner.placement.balance_bytes import level_bytes
from ballast.planner.placement.exact_assignment import MAX_ARCS, Settling, settle
from ballast.planner.placement.remove_detours import shorten
from ballast.planner.placement.select_replicas import Holdings, pick_surplus
from ballast.planner.placement.select_replicas_by_size import Loads, pick_sized
from ballast.planner.placement.size_matching import TOLERANCE
from ballast.planner.problem.limits import bytes_of
from ballast.planner.problem.move_limits import added
from ballast.planner.problem.problem import Task
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.problem.replica_targets import Bands
from ballast.planner.problem.targets import Aims, aims_of

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


def rearrange(task: Task, aims: Aims | None = None) -> Shorts:
    """Return the replicas of every partition; without ``aims``, as for a whole cluster.

    Raises `Infeasible` when some can have no place.
    """
    lack = lack_of_room(task)
    if lack is not None:
        raise Infeasible(*lack)
    if aims is not None:
        return _once(task, aims)
    aims = aims_of(task)
    rows = _once(task, aims)
    level_bytes(task, rows, aims)
    # With many replicas one by one does not go far. Of each partition one gave way for the sake of
    # bytes: then another one may follow.
    for _ in range(rows.shape[1] - 1):
        uneven = _bytes_beyond(task, rows, aims)
        if not uneven:
            break
        again = rearrange_again(task, rows, aims)
        level_bytes(task, again, aims)
        if _bytes_beyond(task, again, aims) > _TURN_LEAVES_MAX * uneven:
            break
        rows = again
    shorten(task, rows, aims)
    return rows


def rearrange_again(task: Task, rows: Shorts, aims: Aims) -> Shorts:
    """Return the replicas of every partition after another turn, from ``rows`` on.

    There all have a place, and what may be elsewhere may go there now.
    """
    return _once(replace(task, rows=rows, vacant=np.zeros_like(task.vacant)), aims)


def _once(task: Task, aims: Aims) -> Shorts:
    rows = task.rows.copy()
    rows[_movers(task, rows, aims)] = -1
    _place(task, rows, task.vacant | (task.pickable & (rows < 0)), aims)
    _improve(task, rows, aims)
    return rows


def _bytes_beyond(task: Task, rows: Shorts, aims: Aims) -> float:
    """Return the bytes that brokers hold beyond their share, where that is too many."""
    if task.sizes is None or aims.byte_target is None:
        return 0.0
    beyond = bytes_of(rows, task.sizes, len(task.low)) - aims.byte_target
    return float(beyond[beyond > TOLERANCE * aims.byte_target].sum())


def _movers(task: Task, rows: Shorts, aims: Aims) -> Bools:
    """Return the replicas that give way, beside those that have no place already."""
    band = aims.band
    have = counted(rows, len(task.low))
    surplus = np.maximum(have - band.target, 0)
    holdings = Holdings(
        rows=rows, pickable=task.pickable, factors=task.factors, topics=task.columns.topic_of
    )
    wanting = task.takers & (have < band.target)
    if task.sizes is None or aims.byte_target is None:
        return pick_surplus(holdings, surplus, wanting, task.rules, task.seed)
    held = bytes_of(task.rows, task.sizes, len(task.low))
    largest = inf
    if aims.is_part:
        lacking = np.where(task.takers, aims.byte_target - held, 0.0)
        largest = _LARGEST_BY_LACK * float(lacking.max(initial=0.0))
    loads = Loads(sizes=task.sizes, held=held, target=aims.byte_target, largest=largest)
    picked = pick_sized(holdings, loads, surplus, task.takers, task.rules)
    # What could not be picked by size is picked anyhow.
    rest = replace(holdings, rows=np.where(picked, -1, rows), pickable=task.pickable & ~picked)
    still = np.maximum(counted(rest.rows, len(have)) - band.target, 0)
    return picked | pick_surplus(rest, still, wanting, task.rules, task.seed)


def fewest_moves(task: Task, band: Bands) -> int:
    """Return a number of moves that no plan to within the bands can do without."""
    before = counted(task.origins, len(task.low))
    return max(
        int(task.vacant.sum()),
        int(np.maximum(before - band.high, 0).sum()),
        int(np.maximum(band.low - before, 0).sum()),
    )


def moves(rows: Shorts, origins: Shorts) -> int:
    """Return how many replicas have to be copied."""
    return int(added(rows, origins).sum())


def lack_of_room(task: Task) -> tuple[TopicPartition, str, int] | None:
    """Return for which partitions there are fewer brokers than replicas; None = for none.

    The first of them, the reason, and their number.
    """
    lacking = row_counts(task.vacant)
    lines = np.flatnonzero(lacking)
    if not len(lines):
        return None
    staying = task.rows[lines]
    taken = row_counts((staying >= 0) & task.takers[staying])
    free = int(task.takers.sum()) - taken
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


def _place(task: Task, rows: Shorts, vacant: Bools, aims: Aims) -> None:
    """Fill what is vacant: by the rules; else as it was; else against the rules about racks."""
    band, sizes, needs = aims.band, None, None
    if task.sizes is not None and aims.byte_target is not None:
        sizes = task.sizes
        needs = aims.byte_target - bytes_of(rows, sizes, len(task.low))
    vacancies = Vacancies(rows=rows, vacant=vacant, factors=task.factors, sizes=sizes, needs=needs)
    unplaced = deal(vacancies, _want(task, rows, band), task.takers, task.rules, task.seed)
    unplaced = _put_back(task, rows, unplaced)
    if not len(unplaced):
        return
    apart = RackRules.of(None, task.keepers | task.takers, int(task.factors.max(initial=0)))
    still = np.zeros(rows.size, np.bool_)
    still[unplaced] = True
    vacancies = Vacancies(rows=rows, vacant=still.reshape(rows.shape), factors=task.factors)
    unplaced = deal(vacancies, _want(task, rows, band), task.takers, apart, task.seed)
    held = counted(rows, len(task.low))
    width = rows.shape[1]
    for line, place in zip((unplaced // width).tolist(), (unplaced % width).tolist(), strict=True):
        free = np.setdiff1d(np.flatnonzero(task.takers), rows[line])
        broker = int(free[np.argmin((held - band.target)[free])])
        rows[line, place] = broker
        held[broker] += 1


def _want(task: Task, rows: Shorts, band: Bands) -> Ints:
    have = counted(rows, len(task.low))
    return np.where(task.takers, np.maximum(band.target - have, 0), 0)


def _put_back(task: Task, rows: Shorts, unplaced: Ints) -> Ints:
    """Return those that cannot go back to where they were."""
    width = rows.shape[1]
    lines, places = unplaced // width, unplaced % width
    origin = task.origins[lines, places]
    back = (origin >= 0) & task.keepers[origin] & ~(rows[lines] == origin[:, None]).any(axis=1)
    rows[lines[back], places[back]] = origin[back]
    return np.asarray(unplaced[~back])


def _improve(task: Task, rows: Shorts, aims: Aims) -> None:
    """Look exactly at what is not known to be the best."""
    band = aims.band
    lines = np.flatnonzero(row_any(task.vacant | task.pickable))
    options = int(task.takers.sum()) + rows.shape[1]
    if _is_best(task, rows, band):
        return
    if len(lines) * options <= MAX_ARCS:
        _settle(task, rows, lines, task.takers, aims)
        return
    for number in range(_MAX_MENDINGS):
        held = counted(rows, len(task.low))
        outside = (held > band.high) | (task.takers & (held < band.low))
        if not outside.any():
            return
        brokers = _some_brokers(task, outside, number)
        touching = lines[(outside[rows[lines]] & (rows[lines] >= 0)).any(axis=1)]
        some = np.concatenate([touching, lines[~np.isin(lines, touching)]])
        some = np.roll(some[: 4 * MAX_ARCS], -number * 50)
        some = some[: MAX_ARCS // (int(brokers.sum()) + rows.shape[1])]
        _settle(task, rows, some, brokers, aims)


def _some_brokers(task: Task, outside: Bools, number: int) -> Bools:
    chosen = np.zeros(len(outside), np.bool_)
    first = np.flatnonzero(outside & task.takers)
    rest = np.roll(np.flatnonzero(task.takers & ~outside), -number * _MENDED_BROKERS)
    chosen[np.concatenate([first, rest])[:_MENDED_BROKERS]] = True
    return chosen


def _is_best(task: Task, rows: Shorts, band: Bands) -> bool:
    held = counted(rows, len(task.low))
    if bool(((held > band.high) | (held < band.low)).any()):
        return False
    # Where bytes are levelled too, that may be worth moves.
    if task.sizes is None and moves(rows, task.origins) > fewest_moves(task, band):
        return False
    free = np.zeros(rows.shape, np.bool_)
    changed = np.flatnonzero(row_any((rows != task.origins) | task.vacant))
    weights = np.zeros(len(held))
    return not task.rules.excess(rows[changed], task.factors[changed], weights, free[changed]).any()


def _settle(task: Task, rows: Shorts, lines: Ints, takers: Bools, aims: Aims) -> None:
    some = rows[lines]
    held = counted(rows, len(task.low))

    scale = np.rint(_WEIGHT_SCALE / np.maximum(task.weights, 1 / _WEIGHT_SCALE)).astype(np.int64)

    def marginal(numbers: Ints) -> Ints:
        # The squares of the counts, by weight, come to least where all are level.
        beyond = np.maximum(numbers - np.maximum(aims.most, aims.band.high), 0)
        return np.asarray((2 * (numbers - aims.origin) - 1) * scale + beyond * _BEYOND)

    settling = Settling(
        rows=some,
        origins=task.origins[lines],
        fixed=(some >= 0) & ~(task.vacant | task.pickable)[lines],
        factors=task.factors[lines],
        takers=takers,
        keepers=task.keepers,
        repairs=task.repairs,
        others=held - counted(some, len(held)),
        marginal=marginal,
        rules=task.rules,
    )
    settle(settling)
    rows[lines] = some
