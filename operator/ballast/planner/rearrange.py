"""Brings replicas to where brokers are level: the steps that all strategies share.

1. Targets: how many replicas each broker is to hold (`bands`).
2. Movers: what has no place already, and what gives way on brokers with too many (`movers`).
3. Deal: every mover gets a broker that wants one (`deal`).
4. Settle: what is not provably the best is looked at exactly, as far as it is small (`settle`).

The movers are as many as a lower bound for every plan says, so a plan whose movers all found a
place is as small as any. The lower bound: what has no place, and what brokers hold beyond their
band; or what brokers lack up to their band.
"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints, Shorts, counted
from ballast.planner.bands import Bands, Limits, bands
from ballast.planner.columns import ClusterColumns
from ballast.planner.deal import Vacancies, deal
from ballast.planner.errors import Infeasible
from ballast.planner.movers import Holdings, pick_surplus
from ballast.planner.rack_rules import RackRules
from ballast.planner.settle import MAX_ARCS, Settling, settle

_MAX_MENDINGS = 24
"""Times that a part of a large plan is looked at exactly."""
_MENDED_BROKERS = 48
_WEIGHT_SCALE = 1000
_BEYOND = 10**9
"""What a replica costs on a broker that has as many as it may have: more than any level."""
_SLICE = 65536
"""Partitions whose racks are laid out as a table at a time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """What is to be rearranged, and what is allowed."""

    columns: ClusterColumns
    origins: Shorts
    """Where replicas are, in the places that they have in ``rows``."""
    rows: Shorts
    """Replicas that have a place; -1 where there is none (yet)."""
    vacant: Bools
    """As ``rows``: places that are to be filled."""
    factors: Shorts
    """How many replicas each partition is to have."""
    pickable: Bools
    """As ``rows``: replicas that may give way."""
    takers: Bools
    """Brokers that may get replicas."""
    keepers: Bools
    """Brokers that may keep theirs."""
    low: Ints
    """Replicas that each broker holds at least."""
    high: Ints
    weights: Floats
    rules: RackRules
    repairs: bool
    """Whether replicas that are where they were may not stay against the rules."""
    seed: int


def rearrange(task: Task) -> Shorts:
    """Return the replicas of every partition. Raises `Infeasible` when some can have no place."""
    _check_room(task)
    rows = task.rows.copy()
    have = counted(rows, len(task.low))
    band = bands(_limits(task), have, int(task.factors.sum()))
    surplus = np.maximum(have - band.target, 0)
    holdings = Holdings(
        rows=rows, pickable=task.pickable, factors=task.factors, topics=task.columns.topic_of
    )
    wanting = task.takers & (have < band.target)
    picked = pick_surplus(holdings, surplus, wanting, task.rules, task.seed)
    rows[picked] = -1
    _place(task, rows, task.vacant | picked, band)
    _improve(task, rows, band)
    return rows


def fewest_moves(task: Task, band: Bands) -> int:
    """Return a number of moves that no plan to within the bands can do without."""
    before = counted(task.origins, len(task.low))
    return max(
        int(task.vacant.sum()),
        int(np.maximum(before - band.high, 0).sum()),
        int(np.maximum(band.low - before, 0).sum()),
    )


def moves(rows: Shorts, origins: Shorts) -> int:
    """Return how many replicas are on brokers that did not have one of their partition."""
    return int(((rows >= 0) & ~_is_among(rows, origins)).sum())


def _is_among(rows: Shorts, origins: Shorts) -> Bools:
    among = np.zeros(rows.shape, np.bool_)
    for column in origins.T:
        among |= rows == column[:, None]
    return among


def _limits(task: Task) -> Limits:
    rules, low, high = task.rules, task.low, task.high
    if rules.count == len(low) and int(rules.tops.max(initial=0)) <= 1:
        # Every broker is a rack by itself: no more is asked than that brokers are different.
        total = int(task.factors.sum())
        return Limits(
            weights=task.weights,
            low=low,
            high=high,
            racks=np.zeros(len(low), np.int64),
            rack_low=np.zeros(1, np.int64),
            rack_high=np.full(1, total),
        )
    rack_low, rack_high = _rack_bounds(task)
    return Limits(
        weights=task.weights,
        low=low,
        high=high,
        racks=rules.racks,
        rack_low=np.minimum(rack_low, _by_rack(rules, high)),
        rack_high=np.maximum(rack_high, _by_rack(rules, low)),
    )


def _rack_bounds(task: Task) -> tuple[Ints, Ints]:
    """Return how many replicas each rack holds at least and at most when the rules are kept."""
    rules, rows = task.rules, task.rows
    free = task.pickable.any(axis=1)
    by_factor = counted(task.factors[free], len(rules.floors))
    low, high = by_factor @ rules.floors, by_factor @ rules.tops
    if not task.repairs:
        # What is against the rules may stay so.
        used = _by_rack(rules, counted(rows[free], len(task.low)))
        low, high = np.minimum(low, used), np.maximum(high, used)
    used = _by_rack(rules, counted(rows[~free], len(task.low)))
    low, high = low + used, high + used
    lines = np.flatnonzero(task.vacant.any(axis=1) & ~free)
    if not rules.is_tabled:
        return low, high + len(lines)
    for first in range(0, len(lines), _SLICE):
        some = lines[first : first + _SLICE]
        room = rules.room(rules.usage(rows[some]), task.factors[some])
        lacking = task.vacant[some].sum(axis=1)[:, None]
        room = np.minimum(room, lacking)
        others = room.sum(axis=1)[:, None] - room
        low += np.maximum(lacking - others, 0).sum(axis=0)
        high += room.sum(axis=0)
    return low, high


def _by_rack(rules: RackRules, amounts: Ints) -> Ints:
    return np.bincount(rules.racks, amounts, minlength=rules.count).astype(np.int64)


def _check_room(task: Task) -> None:
    """Raise `Infeasible` when there are fewer brokers for a partition than replicas of it."""
    lacking = task.vacant.sum(axis=1)
    lines = np.flatnonzero(lacking)
    if not len(lines):
        return
    staying = task.rows[lines]
    taken = ((staying >= 0) & task.takers[staying]).sum(axis=1)
    free = int(task.takers.sum()) - taken
    short = np.flatnonzero(free < lacking[lines])
    if len(short):
        line = int(lines[short[0]])
        factor = int(task.factors[line])
        most = factor - int(lacking[line]) + int(free[short[0]])
        reason = (
            f"has {factor} replicas, and only {most} brokers stay that may hold one: fewer brokers "
            "may go, or the replication factor must be lowered first"
        )
        raise Infeasible(task.columns.partition(line), reason, len(short))


def _place(task: Task, rows: Shorts, vacant: Bools, band: Bands) -> None:
    """Fill what is vacant: by the rules; else as it was; else against the rules about racks."""
    vacancies = Vacancies(rows=rows, vacant=vacant, factors=task.factors)
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


def _improve(task: Task, rows: Shorts, band: Bands) -> None:
    """Look exactly at what is not known to be the best."""
    lines = np.flatnonzero(task.vacant.any(axis=1) | task.pickable.any(axis=1))
    options = int(task.takers.sum()) + rows.shape[1]
    if _is_best(task, rows, band):
        return
    if len(lines) * options <= MAX_ARCS:
        _settle(task, rows, lines, task.takers, band)
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
        _settle(task, rows, some, brokers, band)


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
    if moves(rows, task.origins) > fewest_moves(task, band):
        return False
    free = np.zeros(rows.shape, np.bool_)
    changed = np.flatnonzero((rows != task.origins).any(axis=1) | task.vacant.any(axis=1))
    weights = np.zeros(len(held))
    return not task.rules.excess(rows[changed], task.factors[changed], weights, free[changed]).any()


def _settle(task: Task, rows: Shorts, lines: Ints, takers: Bools, band: Bands) -> None:
    some = rows[lines]
    held = counted(rows, len(task.low))

    scale = np.rint(_WEIGHT_SCALE / np.maximum(task.weights, 1 / _WEIGHT_SCALE)).astype(np.int64)

    def marginal(numbers: Ints) -> Ints:
        # The squares of the counts, by weight, come to least where all are level.
        beyond = np.maximum(numbers - np.maximum(task.high, band.high), 0)
        return np.asarray((2 * numbers - 1) * scale + beyond * _BEYOND)

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
