"""What brokers are to end with: numbers of replicas, and bytes.

A replica that is larger than any broker's share stays where it is, and the others share the rest:
nothing is leveller, and if it went somewhere else that would be as full.

For a cluster that is planned whole they follow from its task; for a part of a cluster somebody
else has found out what part of the whole it is to bring about (`planner.sharding.block_quotas`).
"""

from dataclasses import dataclass, replace

import numpy as np

from ballast.planner.arrays import Floats, Ints, count_by_index
from ballast.planner.problem.balance_bounds import byte_bounds, count_bounds
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.replica_targets import ReplicaTargets, balanced_targets, level

_MAX_TURNS = 8
"""What is left to share gets less with every large replica, so that others are large beside it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BalanceTargets:
    """What each broker is to end with."""

    band: ReplicaTargets
    most: Ints
    """Replicas that a broker may have; what is beyond is worse than any unevenness."""
    origin: Ints
    """From where a broker's replicas are counted when levels are compared: 0 for a whole cluster;
    for a part of one what is the broker's share of it.
    """
    byte_target: Floats | None
    """Where sizes count."""
    is_part: bool = False
    """Of a cluster: a replica that is too large for what brokers lack in it stays where it is."""


def balance_targets(task: PlacementProblem) -> BalanceTargets:
    """Return what a cluster that is planned whole is to end with."""
    byte_target = None if task.sizes is None else _byte_target(task, task.sizes)
    return BalanceTargets(
        band=balanced_targets(
            count_bounds(task), count_by_index(task.rows, len(task.low)), int(task.factors.sum())
        ),
        most=task.high,
        origin=np.zeros(len(task.low), np.int64),
        byte_target=byte_target,
    )


def _byte_target(task: PlacementProblem, sizes: Ints) -> Floats:
    """Return the bytes that each broker is to end with."""
    total = int((sizes * task.factors).sum())
    largest = _largest(task, sizes)
    limits = byte_bounds(task, sizes)
    target = level(limits, total)
    shares = task.receivers
    for _ in range(_MAX_TURNS):
        stays = largest > target[shares].max(initial=0)
        if not (stays & shares).any():
            break
        shares = shares & ~stays
        limits = replace(limits, low=np.maximum(limits.low, np.where(stays, largest, 0)))
        target = level(limits, total)
    return target


def _largest(task: PlacementProblem, sizes: Ints) -> Ints:
    """Return the bytes of the largest replica that each broker has a place for."""
    largest = np.zeros(len(task.low), np.int64)
    for column in task.rows.T:
        there = column >= 0
        np.maximum.at(largest, column[there], sizes[there])
    return largest
