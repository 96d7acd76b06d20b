"""Leader targets: how many partitions each broker is to lead, and which partitions may change.

Targets are found as for replicas (`problem.replica_targets`). A broker leads at least the
partitions that may not change, and at most those and all in which it has a replica.

For a cluster in blocks, each block reports its `LeaderCounts`. The sum shows which brokers lead too
many or too few, and each block gets a part of the difference.

Example, brokers 1, 2, 3 and two blocks of 6 partitions: they lead 6, 0, 0 in the first block and 3,
3, 0 in the second. The targets are 4, 4, 4. Broker 1 gives 5 partitions, split over the blocks in
proportion to 6 and 3; brokers 2 and 3 receive 1 and 4. Each block still has 6 leaders.

"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Bools, Ints, Shorts, count_by_index, row_any
from ballast.planner.integer_tables import apportion_columns, distribute_slots
from ballast.planner.leaders.balance import LeaderProblem
from ballast.planner.options import Strategy
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.replica_targets import BalanceBounds, ReplicaTargets, balanced_targets
from ballast.planner.snapshot.columns import pad_to_width


@dataclass(frozen=True, kw_only=True, eq=False)
class LeaderCounts:
    """Leaders of some partitions. Counts are additive over blocks."""

    partitions: int
    leader_counts: Ints
    """By broker: partitions that it leads."""
    movable_counts: Ints
    """By broker: of these, partitions that another replica may lead."""
    candidate_counts: Ints
    """By broker: partitions that it may lead."""


def count_leaders(view: ClusterView, rows: Shorts) -> LeaderCounts:
    count = view.columns.brokers.count
    open_rows = rows[_changeable(view, rows)]
    return LeaderCounts(
        partitions=len(rows),
        leader_counts=count_by_index(rows[:, 0], count),
        movable_counts=count_by_index(open_rows[:, 0], count),
        candidate_counts=count_by_index(open_rows, count),
    )


def leader_problem(view: ClusterView, rows: Shorts) -> LeaderProblem:
    """Return the leader problem of a cluster that is planned as one block."""
    return leader_problem_within(view, rows, leader_targets(view, count_leaders(view, rows)))


def leader_problem_within(
    view: ClusterView, rows: Shorts, replica_targets: ReplicaTargets
) -> LeaderProblem:
    """Return the leader problem with these targets."""
    return LeaderProblem(
        rows=rows,
        changeable=_changeable(view, rows),
        receivers=_receivers(view),
        target=replica_targets.target,
        low=replica_targets.low,
        high=replica_targets.high,
        seed=view.options.seed,
    )


def leader_targets(view: ClusterView, totals: LeaderCounts) -> ReplicaTargets:
    """Return how many partitions each broker is to lead in the whole cluster.

    Of the view only brokers and options count.
    """
    leader_counts = totals.leader_counts
    count = len(leader_counts)
    fixed_counts = leader_counts - totals.movable_counts
    bounds = BalanceBounds(
        weights=view.weights,
        low=fixed_counts,
        high=np.where(_receivers(view), fixed_counts + totals.candidate_counts, leader_counts),
        racks=np.zeros(count, np.int64),
        rack_low=np.zeros(1, np.int64),
        rack_high=np.full(1, totals.partitions),
    )
    return balanced_targets(bounds, leader_counts, totals.partitions)


def block_leader_targets(view: ClusterView, blocks: Sequence[LeaderCounts]) -> list[ReplicaTargets]:
    """Return how many partitions each broker is to lead in each block.

    Of the view only brokers and options count.
    """
    leader_counts = np.stack([block.leader_counts for block in blocks])
    movable = np.stack([block.movable_counts for block in blocks])
    totals = LeaderCounts(
        partitions=sum(block.partitions for block in blocks),
        leader_counts=leader_counts.sum(axis=0),
        movable_counts=movable.sum(axis=0),
        candidate_counts=np.sum([block.candidate_counts for block in blocks], axis=0),
    )
    target = leader_targets(view, totals).target
    surplus = np.minimum(np.maximum(totals.leader_counts - target, 0), totals.movable_counts)
    outgoing = apportion_columns(movable, surplus)
    deficits = np.where(_receivers(view), np.maximum(target - totals.leader_counts, 0), 0)
    one_group = np.zeros(len(deficits), np.int64)
    targets = (
        leader_counts
        - outgoing
        + distribute_slots(deficits, one_group, outgoing.sum(axis=1)[:, None])
    )
    return [ReplicaTargets(target=block, low=block, high=block) for block in targets]


def _receivers(view: ClusterView) -> Bools:
    taking = view.in_service.copy()
    levels_all = view.options.strategy in (Strategy.REBALANCE, Strategy.PREFERRED_LEADERS)
    if levels_all and view.options.broker_ids:
        taking &= view.named
    return taking


def _changeable(view: ClusterView, rows: Shorts) -> Bools:
    """Return in which partitions another replica may come first."""
    strategy = view.options.strategy
    origins = pad_to_width(view.columns.replicas, rows.shape[1])
    if strategy is Strategy.ADD_BROKERS:
        # Partitions that change anyway may get another first replica, so that leaders are balanced.
        return row_any(rows != origins)
    if strategy in (Strategy.REBALANCE, Strategy.PREFERRED_LEADERS):
        return view.in_scope
    # A leader that has its replica in place stays the leader. If its replica moved, the replica on
    # the broker that leads least comes first.
    return np.asarray(rows[:, 0] != origins[:, 0])
