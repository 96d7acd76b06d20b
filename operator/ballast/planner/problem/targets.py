"""Balance targets: the replicas and bytes that each broker is to end with.

Replica targets come from `replica_targets`, within the bounds of `balance_bounds`. Byte targets are
found the same way, with two differences: they are not rounded, and a replica larger than the fair
share cannot be balanced by moving it. So it stays, and its broker is excluded from the computation.

Example: broker 1 holds one partition of 900 bytes; brokers 2 and 3 hold three of 100 bytes each.
The fair share of 1,500 bytes is 500, less than 900. So broker 1 keeps its partition, and brokers 2
and 3 share the remaining 600 bytes: the byte targets are 900, 300, 300.

These are the targets of a cluster that is planned as one block. The targets of one block among
several are its quota (`planner.sharding.block_quotas`).

"""

from dataclasses import dataclass, replace

import numpy as np

from ballast.planner.arrays import Floats, Ints, count_by_index
from ballast.planner.problem.balance_bounds import byte_bounds, count_bounds
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.replica_targets import ReplicaTargets, balanced_targets, fair_shares

_MAX_TURNS = 8
"""Each excluded broker lowers the share of the others, so that further replicas exceed it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BalanceTargets:
    """What each broker is to end with."""

    replica_targets: ReplicaTargets
    count_max: Ints
    """Replicas that a broker may have; more is worse than any imbalance."""
    count_origin: Ints
    """The count from which imbalance is measured: 0 for a whole cluster, for a block the broker's
    target in it.
    """
    byte_target: Floats | None
    """None where sizes do not count."""
    is_block: bool = False
    """Whether the targets are those of one block: then replicas that are large beside the block's
    deficits do not move.
    """


def balance_targets(problem: PlacementProblem) -> BalanceTargets:
    """Return the targets of a cluster that is planned as one block."""
    byte_target = None if problem.sizes is None else _byte_target(problem, problem.sizes)
    return BalanceTargets(
        replica_targets=balanced_targets(
            count_bounds(problem),
            count_by_index(problem.rows, len(problem.low)),
            int(problem.factors.sum()),
        ),
        count_max=problem.high,
        count_origin=np.zeros(len(problem.low), np.int64),
        byte_target=byte_target,
    )


def _byte_target(problem: PlacementProblem, sizes: Ints) -> Floats:
    """Return the bytes that each broker is to end with."""
    total = int((sizes * problem.factors).sum())
    largest_bytes = _largest_replicas(problem, sizes)
    bounds = byte_bounds(problem, sizes)
    target = fair_shares(bounds, total)
    sharing = problem.receivers
    for _ in range(_MAX_TURNS):
        is_oversized = largest_bytes > target[sharing].max(initial=0)
        if not (is_oversized & sharing).any():
            break
        sharing = sharing & ~is_oversized
        bounds = replace(
            bounds, low=np.maximum(bounds.low, np.where(is_oversized, largest_bytes, 0))
        )
        target = fair_shares(bounds, total)
    return target


def _largest_replicas(problem: PlacementProblem, sizes: Ints) -> Ints:
    """Return the bytes of the largest replica on each broker."""
    largest_bytes = np.zeros(len(problem.low), np.int64)
    for column in problem.rows.T:
        there = column >= 0
        np.maximum.at(largest_bytes, column[there], sizes[there])
    return largest_bytes
