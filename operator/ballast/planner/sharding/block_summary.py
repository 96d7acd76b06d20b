"""What one block tells of itself, so that its share of the whole can be found.

A survey is small (some numbers for each broker), and those of all blocks add up to that of the
cluster. It depends on nothing outside of its block.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ballast.model.ids import TopicPartition
from ballast.planner.arrays import Ints, Shorts, count_by_index, row_counts
from ballast.planner.options import MAX_REPLICATION_FACTOR, PlanOptions, Strategy
from ballast.planner.placement.kafka_default import kafka_default_targets
from ballast.planner.placement.log_dirs import LogDirLoads, log_dir_loads
from ballast.planner.placement.optimize import infeasibility
from ballast.planner.problem.balance_bounds import RackUsage, bytes_of, rack_use
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.problem.move_limits import new_replicas
from ballast.planner.problem.problem import ReplicaTotals
from ballast.planner.problem.strategies import replica_totals, unbounded_problem
from ballast.planner.snapshot.columns import ClusterColumns, pad_to_width


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockSummary:
    """One block, or several."""

    tally: ReplicaTotals
    pickable: Ints
    """By broker: replicas that may give way."""
    unassigned: int
    """Replicas that have to find a place."""
    unassigned_bytes: int
    kept_bytes: Ints
    """By broker: of replicas that have a place."""
    pickable_bytes: Ints
    use: RackUsage
    bytes_use: RackUsage
    log_dirs: LogDirLoads | None = None
    """Where directories are levelled."""
    lack: tuple[TopicPartition, str, int] | None = None
    """For which partitions there are too few brokers: the first, why, and how many."""


def block_view(block: ClusterColumns, options: PlanOptions) -> ClusterView:
    """Return the situation of a block, in which all factors are thought of that there may be."""
    return ClusterView(block, options, MAX_REPLICATION_FACTOR)


def summarize_block(block: ClusterColumns, options: PlanOptions) -> BlockSummary:
    """Return what a block tells. Raises `OptionsRejected`, and `Infeasible` for `Stock`."""
    situation = block_view(block, options)
    if options.strategy is Strategy.STOCK:
        return _copies(block, kafka_default_targets(situation))
    if options.strategy is Strategy.PREFERRED_LEADERS:
        return _copies(block, block.replicas)
    if options.strategy is Strategy.REBALANCE_LOG_DIRS:
        return replace(_copies(block, block.replicas), log_dirs=log_dir_loads(situation))
    task = unbounded_problem(situation)
    sizes = np.zeros(len(task.rows), np.int64) if task.sizes is None else task.sizes
    brokers = block.brokers.count
    pickable = np.where(task.pickable, task.rows, -1).astype(np.int32)
    lacking = row_counts(task.unassigned)
    return BlockSummary(
        tally=replica_totals(situation, task),
        pickable=count_by_index(pickable, brokers),
        unassigned=int(lacking.sum()),
        unassigned_bytes=int((lacking * sizes).sum()),
        kept_bytes=bytes_of(task.rows, sizes, brokers),
        pickable_bytes=bytes_of(pickable, sizes, brokers),
        use=rack_use(task, np.ones(len(task.rows), np.int64)),
        bytes_use=rack_use(task, sizes),
        lack=infeasibility(task),
    )


def sum_summaries(surveys: Sequence[BlockSummary]) -> BlockSummary:
    """Return the survey of all blocks."""
    lacks = [one.lack for one in surveys if one.lack]
    tallies = [one.tally for one in surveys]
    return BlockSummary(
        tally=ReplicaTotals(
            partitions=sum(one.partitions for one in tallies),
            by_factor=_sum([one.by_factor for one in tallies]),
            held=_sum([one.held for one in tallies]),
            open=_sum([one.open for one in tallies]),
            kept=_sum([one.kept for one in tallies]),
        ),
        pickable=_sum([one.pickable for one in surveys]),
        unassigned=sum(one.unassigned for one in surveys),
        unassigned_bytes=sum(one.unassigned_bytes for one in surveys),
        kept_bytes=_sum([one.kept_bytes for one in surveys]),
        pickable_bytes=_sum([one.pickable_bytes for one in surveys]),
        use=_total_use([one.use for one in surveys]),
        bytes_use=_total_use([one.bytes_use for one in surveys]),
        lack=(*lacks[0][:2], sum(lack[2] for lack in lacks)) if lacks else None,
    )


def _total_use(uses: Sequence[RackUsage]) -> RackUsage:
    return RackUsage(
        by_factor=_sum([one.by_factor for one in uses]),
        free=_sum([one.free for one in uses]),
        fixed=_sum([one.fixed for one in uses]),
        room_low=_sum([one.room_low for one in uses]),
        room_high=_sum([one.room_high for one in uses]),
        total=sum(one.total for one in uses),
    )


def _sum(columns: Sequence[Ints]) -> Ints:
    return np.asarray(np.sum(columns, axis=0), np.int64)


def _copies(columns: ClusterColumns, rows: Shorts) -> BlockSummary:
    """Return what is copied where a level of replicas is not asked for: all of it has to be."""
    copies = row_counts(new_replicas(rows, pad_to_width(columns.replicas, rows.shape[1])))
    sizes = np.zeros(len(rows), np.int64) if columns.sizes is None else columns.sizes
    none = np.zeros(columns.brokers.count, np.int64)
    nothing = RackUsage(
        by_factor=none, free=none, fixed=none, room_low=none, room_high=none, total=0
    )
    return BlockSummary(
        tally=ReplicaTotals(partitions=len(rows), by_factor=none, held=none, open=none, kept=none),
        pickable=none,
        unassigned=int(copies.sum()),
        unassigned_bytes=int((copies * sizes).sum()),
        kept_bytes=none,
        pickable_bytes=none,
        use=nothing,
        bytes_use=nothing,
    )
